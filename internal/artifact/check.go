package artifact

import (
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"time"

	"hexab/internal/arm"
	"hexab/internal/bench"
)

// Bounds that hold for every value, also of fields that have none of their own.
const (
	maxText    = 4096
	maxList    = 100_000
	maxMap     = 256
	maxInteger = int64(1) << 53 // what JSON readers agree on
	maxFloat   = 1e12
)

// Bounds of a run. They leave room above any real one, and keep the work that a
// hostile file can cause to a few seconds.
const (
	maxRounds      = 100
	maxRepetitions = 100
	maxTests       = 16
	maxModels      = 32
	maxArms        = 8
	maxCells       = 256
	maxPlan        = 10_000
	maxAttempts    = 10
	maxWall        = bench.Nanoseconds(7 * 24 * time.Hour)
	minSample      = bench.Nanoseconds(1000) // 1 us
	maxSample      = bench.Nanoseconds(24 * time.Hour)
	maxModelBytes  = 1 << 42
)

var (
	idPattern       = regexp.MustCompile(`^[0-9]{8}T[0-9]{6}Z-[0-9a-f]{8}$`)
	namePattern     = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	versionPattern  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.+_-]{0,79}$`)
	commitPattern   = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})?$`)
	platforms       = []bench.Platform{bench.Sim, bench.LinuxArm64, bench.AndroidArm64}
	faults          = []bench.Fault{bench.FaultNone, bench.FaultVariant, bench.FaultDevice, bench.FaultInfrastructure}
	earliest        = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	latest          = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
	treesOf         = []string{"hexab", "llama.cpp"}
	errOutOfBounds  = "%s: %v is out of bounds (%v to %v)"
	minCelsius      = bench.Celsius(-100)
	maxCelsius      = bench.Celsius(300)
	kindsOfDevice   = []string{"embedded", "adb", "ssh"}
	simulatedByKind = map[string]bool{"embedded": true, "adb": false, "ssh": false}
)

func (a Artifact) check() error {
	if a.Schema != Schema {
		return fmt.Errorf("schema %d; this hexab reads schema %d", a.Schema, Schema)
	}
	if a.Run.Schema != bench.SchemaVersion {
		return fmt.Errorf("run: schema %d; this hexab reads schema %d", a.Run.Schema, bench.SchemaVersion)
	}
	if err := bounded("artifact", reflect.ValueOf(a)); err != nil {
		return err
	}
	if err := checkRun(a.Run); err != nil {
		return fmt.Errorf("run: %w", err)
	}
	if len(a.Records) > maxAttempts*len(a.Run.Plan) {
		return fmt.Errorf("%d records of %d launches", len(a.Records), len(a.Run.Plan))
	}
	attempts := map[int]int{}
	for i, r := range a.Records {
		if err := checkRecord(r, a.Run, attempts); err != nil {
			return fmt.Errorf("record %d: %w", i, err)
		}
		attempts[r.Seq] = r.Attempt
	}
	return nil
}

// bounded walks all that was decoded, so that a field added later has bounds
// before anybody thinks of its own.
func bounded(at string, v reflect.Value) error {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return bounded(at, v.Elem())
		}
	case reflect.String:
		if v.Len() > maxText {
			return fmt.Errorf("%s: %d bytes of text are more than %d", at, v.Len(), maxText)
		}
	case reflect.Int, reflect.Int64:
		if n := v.Int(); n > maxInteger || n < -maxInteger {
			return fmt.Errorf("%s: %d is out of bounds", at, n)
		}
	case reflect.Float64:
		if x := v.Float(); math.IsNaN(x) || math.Abs(x) > maxFloat {
			return fmt.Errorf("%s: %v is out of bounds", at, x)
		}
	case reflect.Slice:
		if v.Len() > maxList {
			return fmt.Errorf("%s: %d entries are more than %d", at, v.Len(), maxList)
		}
		for i := range v.Len() {
			if err := bounded(at, v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Map:
		if v.Len() > maxMap {
			return fmt.Errorf("%s: %d entries are more than %d", at, v.Len(), maxMap)
		}
		for entries := v.MapRange(); entries.Next(); {
			if err := bounded(at, entries.Key()); err != nil {
				return err
			}
			if err := bounded(at, entries.Value()); err != nil {
				return err
			}
		}
	case reflect.Struct:
		if when, ok := v.Interface().(time.Time); ok {
			if !when.IsZero() && (when.Before(earliest) || when.After(latest)) {
				return fmt.Errorf("%s: the time %v is out of bounds", at, when)
			}
			return nil
		}
		for i := range v.NumField() {
			if err := bounded(v.Type().Field(i).Name, v.Field(i)); err != nil {
				return err
			}
		}
	}
	return nil
}

func within[T int | float64 | bench.Nanoseconds | bench.Bytes | bench.Celsius](name string, value, low, high T) error {
	if !(value >= low && value <= high) {
		return fmt.Errorf(errOutOfBounds, name, value, low, high)
	}
	return nil
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func checkRun(run bench.Run) error {
	if err := first(
		within("rounds", run.Rounds, 1, maxRounds), within("repetitions", run.Repetitions, 1, maxRepetitions),
		within("threshold", run.Threshold, 0, 0.5), within("tests", len(run.Tests), 1, maxTests), within("models", len(run.Models), 1, maxModels),
		within("arms", len(run.Arms), 2, maxArms), within("comparisons", len(run.Tests)*len(run.Models)*(len(run.Arms)-1), 1, maxCells),
		within("bundles", len(run.Bundles), 0, maxArms), within("trees", len(run.Trees), 0, len(arm.Trees)),
	); err != nil {
		return err
	}
	switch {
	case !idPattern.MatchString(run.ID):
		return fmt.Errorf("%.40q is not a run's id", run.ID)
	case !versionPattern.MatchString(run.Version):
		return fmt.Errorf("%.40q is not a version", run.Version)
	case run.Created.IsZero():
		return fmt.Errorf("created: no time")
	case !slices.Contains(platforms, run.Device.Platform):
		return fmt.Errorf("%.40q is not a platform", run.Device.Platform)
	case !slices.Contains(kindsOfDevice, run.Device.Kind) || run.Device.Simulated != simulatedByKind[run.Device.Kind]:
		return fmt.Errorf("device: kind %.40q, simulated %v", run.Device.Kind, run.Device.Simulated)
	case run.Device.Serial == "":
		return fmt.Errorf("device: no serial")
	}
	if err := checkNames(run); err != nil {
		return err
	}
	if err := checkArms(run); err != nil {
		return err
	}
	return checkPlan(run)
}

func checkNames(run bench.Run) error {
	seen := map[string]bool{}
	for _, m := range run.Models {
		switch {
		case !namePattern.MatchString(m.Alias) || seen[m.Alias]:
			return fmt.Errorf("model %.40q: no alias, or there twice", m.Alias)
		case !namePattern.MatchString(m.Family):
			return fmt.Errorf("model %s: %.40q is not a family", m.Alias, m.Family)
		case !bench.IsSHA256(m.SHA256):
			return fmt.Errorf("model %s: no SHA-256", m.Alias)
		}
		if err := within("model size", m.Size, 0, maxModelBytes); err != nil {
			return err
		}
		seen[m.Alias] = true
	}
	tests := map[bench.Test]bool{}
	for _, t := range run.Tests {
		if tests[t] || t.Tokens() < 1 {
			return fmt.Errorf("test %s: empty, or there twice", t)
		}
		tests[t] = true
	}
	for i, tree := range run.Trees {
		if !slices.Contains(arm.Trees, tree.Name) || i > 0 && run.Trees[0].Name == tree.Name {
			return fmt.Errorf("tree %.40q: unknown, or there twice", tree.Name)
		}
		if !commitPattern.MatchString(tree.Commit) || !slices.Contains(treesOf, tree.Of) {
			return fmt.Errorf("tree %s: %.80q of %.40q", tree.Name, tree.Commit, tree.Of)
		}
	}
	for _, b := range run.Bundles {
		if !bench.IsSHA256(string(b.ID)) || !namePattern.MatchString(string(b.Variant)) || !slices.Contains(platforms, b.Platform) {
			return fmt.Errorf("bundle %.80q of %.40q for %.40q", b.ID, b.Variant, b.Platform)
		}
	}
	return nil
}

// checkArms refuses labels that say something else than the arm is.
func checkArms(run bench.Run) error {
	count := map[string]int{}
	baseline := false
	for _, a := range run.Arms {
		switch {
		case !namePattern.MatchString(string(a.Variant)):
			return fmt.Errorf("arm: %.40q is not a variant", a.Variant)
		case a.Tree != "" && !slices.Contains(arm.Trees, a.Tree):
			return fmt.Errorf("arm: %.40q is not a tree", a.Tree)
		case !bench.IsSHA256(a.Fingerprint) || !bench.IsSHA256(string(a.Bundle)):
			return fmt.Errorf("arm %.80q: no fingerprint or no bundle", a.Label)
		}
		want := arm.Spec{Tree: a.Tree, Variant: a.Variant, Declared: a.Declared}.String()
		count[want]++
		if n := count[want]; n > 1 {
			want = fmt.Sprintf("%s#%d", want, n)
		}
		if a.Label != want || len(want) > maxText/4 {
			return fmt.Errorf("arm: the label %.80q is not %.80q", a.Label, want)
		}
		for key, value := range a.Declared {
			if a.Settings[key] != value {
				return fmt.Errorf("arm %.80q: %.40q is declared and not in force", a.Label, key)
			}
		}
		baseline = baseline || a.Label == run.Baseline
	}
	if !baseline {
		return fmt.Errorf("the baseline %.80q is none of the arms", run.Baseline)
	}
	return nil
}

// checkPlan wants every block whole: each arm once for each model.
func checkPlan(run bench.Run) error {
	if want := run.Rounds * len(run.Models) * len(run.Arms); len(run.Plan) != want || want > maxPlan {
		return fmt.Errorf("plan: %d launches, not %d", len(run.Plan), want)
	}
	models, arms := map[string]bool{}, map[string]bool{}
	for _, m := range run.Models {
		models[m.Alias] = true
	}
	for _, a := range run.Arms {
		arms[a.Label] = true
	}
	type entry struct {
		model, arm string
		block      int
	}
	seen := map[entry]bool{}
	for i, l := range run.Plan {
		e := entry{l.Model, l.Arm, l.Block}
		switch {
		case l.Seq != i:
			return fmt.Errorf("plan: launch %d is numbered %d", i, l.Seq)
		case !models[l.Model] || !arms[l.Arm] || l.Block < 0 || l.Block >= run.Rounds || l.Position < 0 || l.Position >= len(run.Arms):
			return fmt.Errorf("plan: launch %d is none of this run", i)
		case seen[e]:
			return fmt.Errorf("plan: launch %d is there twice", i)
		}
		seen[e] = true
	}
	return nil
}
