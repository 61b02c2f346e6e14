package bench

import "time"

// SchemaVersion is the version of the archive's files. It grows when a reader
// of the old form would misread the new one.
const SchemaVersion = 1

// Arm is one side of a comparison: a variant with settings.
type Arm struct {
	// Label is unique in a run: the specification as the user wrote it in
	// canonical form, with "#2", "#3" for repeats of the same arm.
	Label string `json:"label"`
	// Tree is the name of the source tree that the bundle was built from, one
	// of the run's Trees; empty is the checkout that ran it.
	Tree string `json:"tree,omitempty"`
	// Variant is what is run.
	Variant Variant `json:"variant"`
	// Declared are the settings that the arm's specification states: the
	// declared factors of the comparison.
	Declared map[string]string `json:"declared,omitempty"`
	// Settings are all settings in force, defaults included.
	Settings map[string]string `json:"settings"`
	// Fingerprint is the SHA-256 of the settings that are not declared; two
	// arms may be compared when theirs are equal.
	Fingerprint string `json:"fingerprint"`
	// Bundle is the build that runs.
	Bundle BundleID `json:"bundle,omitempty"`
}

// Tree is a source tree that arms were built from, such as the base and the
// head of a pull request.
type Tree struct {
	// Name is what arms call it: base, head.
	Name string `json:"name"`
	// Commit is the git commit's hash; empty for a working folder as it was.
	Commit string `json:"commit,omitempty"`
	// Of says what the commit is one of: "hexab" or "llama.cpp".
	Of string `json:"of"`
}

// Model is a workload's model file.
type Model struct {
	// Alias is the model's short name.
	Alias string `json:"alias"`
	// File is the file's name.
	File string `json:"file"`
	// SHA256 is the file's content hash.
	SHA256 string `json:"sha256"`
	// Size is the file's length in bytes.
	Size Bytes `json:"size"`
	// Family is the architecture family: llama, qwen2, qwen35, gemma4, nanbeige.
	Family string `json:"family"`
	// StandIn is set for a small random-weight model of the same family that
	// stands for the real one on the embedded phone.
	StandIn bool `json:"stand_in,omitempty"`
}

// Device is what is known of where a run took place.
type Device struct {
	Serial   string   `json:"serial"`
	Kind     string   `json:"kind"` // "embedded", "adb"
	Platform Platform `json:"platform"`
	// Simulated is set when the figures say nothing of a real phone's speed.
	Simulated bool `json:"simulated"`
	// Properties are what the device says of itself: product, soc, android,
	// kernel, cores and so on. What is not known is absent.
	Properties map[string]string `json:"properties,omitempty"`
}

// Run is the head of an archive, written once before the first launch: all
// that is needed to read the launches and to do the same again.
type Run struct {
	Schema  int       `json:"schema"`
	ID      string    `json:"id"`
	Created time.Time `json:"created"`
	// Version is hexab's own commit, or "devel".
	Version string `json:"version"`
	// Command is how to run the same again.
	Command string `json:"command"`
	// Seed is the seed of the plan, the resamplings and nothing else.
	Seed uint64 `json:"seed"`
	// Rounds is the number of blocks for each model.
	Rounds int `json:"rounds"`
	// Repetitions is the number of samples of each test in a launch.
	Repetitions int `json:"repetitions"`
	// Threshold is the practical threshold as a fraction: 0.01 is 1 %.
	Threshold float64 `json:"threshold"`
	Tests     []Test  `json:"tests"`
	// Cool is the policy of the gate before each launch: wait (for the
	// temperature window), mark (launch at once and mark) or off.
	Cool string `json:"cool,omitempty"`
	// Until is the half width of intervals, as a fraction, at which the run
	// stops at one of the looks that follow from MaxRounds and the number of
	// arms; zero: it does not. Rounds is then MaxRounds in the archive's head.
	Until     float64 `json:"until,omitempty"`
	MaxRounds int     `json:"max_rounds,omitempty"`
	// Arms in the order given; Baseline is the label of the one that the
	// others are compared to.
	Arms     []Arm   `json:"arms"`
	Baseline string  `json:"baseline"`
	Models   []Model `json:"models"`
	Device   Device  `json:"device"`
	// Host describes the machine that drove the run.
	Host map[string]string `json:"host,omitempty"`
	// Trees are the source trees that arms name.
	Trees []Tree `json:"trees,omitempty"`
	// Bundles are the manifests without their files.
	Bundles []BundleInfo `json:"bundles,omitempty"`
	// Placements are where the operations are computed, for the arms that
	// compute on an NPU.
	Placements []Placement `json:"placements,omitempty"`
	// Plan is every launch in order.
	Plan []Launch `json:"plan"`
}

// Placement is where the operations of a model's graphs are computed in one
// arm: nodes by backend and operation, over all graphs that untimed launches
// built. It proves what an NPU did and lists what fell back.
type Placement struct {
	Model string                    `json:"model"`
	Arm   string                    `json:"arm"`
	Nodes map[string]map[string]int `json:"nodes"`
	// PerPrompt and PerToken are the operations that the NPU executed for a
	// prompt of 16 tokens and for generating one token, by name; fused ones,
	// such as RMS_NORM+MUL, count as one.
	PerPrompt map[string]uint64 `json:"per_prompt,omitempty"`
	PerToken  map[string]uint64 `json:"per_token,omitempty"`
}

// BundleInfo says what a bundle was made from.
type BundleInfo struct {
	ID       BundleID `json:"id"`
	Variant  Variant  `json:"variant"`
	Platform Platform `json:"platform"`
	Source   string   `json:"source"`
	Compiler string   `json:"compiler"`
	Flags    []string `json:"flags"`
	SDK      string   `json:"sdk,omitempty"`
}

// Simulated tells whether the run's figures must be labelled as simulated.
func (r Run) Simulated() bool { return r.Device.Simulated }

// AA tells whether two arms of the run are the same variant with the same
// settings, which makes their comparison a test of the method itself.
func (r Run) AA(a, b string) bool {
	var first, second *Arm
	for i := range r.Arms {
		switch r.Arms[i].Label {
		case a:
			first = &r.Arms[i]
		case b:
			second = &r.Arms[i]
		}
	}
	if first == nil || second == nil || first.Variant != second.Variant || first.Bundle != second.Bundle || len(first.Settings) != len(second.Settings) {
		return false
	}
	for key, value := range first.Settings {
		if second.Settings[key] != value {
			return false
		}
	}
	return true
}
