package arm

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"

	"hexab/internal/bench"
	"hexab/internal/knobs"
)

// Spec is an arm as its user wrote it: a variant and the settings stated.
type Spec struct {
	// Tree names the source tree that the variant is built from, one of Trees;
	// empty is the checkout itself.
	Tree     string
	Variant  bench.Variant
	Declared map[string]string
}

// envPrefix marks a setting that is an environment variable.
const envPrefix = "env."

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)

// reserved are the variables that the harness sets itself; an arm that changed
// them would no longer run the bundle that it is recorded with.
var reserved = []string{"LD_LIBRARY_PATH", "ADSP_LIBRARY_PATH", "DSP_LIBRARY_PATH", "PATH", "LD_PRELOAD"}

// Trees are the names of source trees that an arm may begin with: a pull
// request compares base:cpu with head:cpu.
var Trees = []string{"base", "head"}

// MaxLength bounds the text of an arm list.
const MaxLength = 4096

// Parse reads a list of arms such as
//
//	cpu,cpu:threads=1
//	dspqueue,fastrpc:ubatch=512,env.GGML_HEXAGON_NHVX=4
//	base:cpu,head:cpu:threads=2
//
// Arms are separated by commas; so are an arm's settings. An item of the form
// key=value belongs to the arm before it. A comma inside a value is written
// "\,". The backend's variables also go by their short names, nhvx=4. Variants other than the known ones are refused.
func Parse(list string, known []bench.Variant) ([]Spec, error) {
	if len(list) > MaxLength {
		return nil, fmt.Errorf("arms: %d characters are more than %d", len(list), MaxLength)
	}
	var specs []Spec
	for _, item := range split(list) {
		variant, setting := "", item
		if colon, equals := strings.IndexByte(item, ':'), strings.IndexByte(item, '='); equals < 0 || (colon >= 0 && colon < equals) {
			tree := ""
			if name, rest, named := strings.Cut(item, ":"); named && slices.Contains(Trees, name) {
				tree, item = name, rest
			}
			variant, setting, _ = strings.Cut(item, ":")
			if !slices.Contains(known, bench.Variant(variant)) {
				return nil, fmt.Errorf("arms: %q is not a variant; there are %s", variant, join(known))
			}
			specs = append(specs, Spec{Tree: tree, Variant: bench.Variant(variant), Declared: map[string]string{}})
			if setting == "" && !strings.HasSuffix(item, ":") {
				continue
			}
		}
		if len(specs) == 0 {
			return nil, fmt.Errorf("arms: %q comes before any variant; an arm is VARIANT or VARIANT:KEY=VALUE", item)
		}
		if err := specs[len(specs)-1].declare(setting); err != nil {
			return nil, fmt.Errorf("arms: %w", err)
		}
	}
	if len(specs) == 0 {
		return nil, fmt.Errorf("arms: the list is empty; there are %s", join(known))
	}
	return specs, nil
}

func (s Spec) declare(setting string) error {
	key, value, ok := strings.Cut(setting, "=")
	if !ok || key == "" {
		return fmt.Errorf("%q in %s is not of the form KEY=VALUE", setting, s.Variant)
	}
	if v, found := knobs.Find(key); found && v.Short == key && s.Variant != bench.CPU {
		key = envPrefix + v.Name // nhvx=4 is env.GGML_HEXAGON_NHVX=4
	}
	if _, twice := s.Declared[key]; twice {
		return fmt.Errorf("%s is stated twice for %s", key, s.Variant)
	}
	if name, isEnv := strings.CutPrefix(key, envPrefix); isEnv {
		if !envName.MatchString(name) {
			return fmt.Errorf("%q is not a name of an environment variable", name)
		}
		if slices.Contains(reserved, name) {
			return fmt.Errorf("%s is set by the harness and can not be a setting", name)
		}
		if strings.ContainsAny(value, "\x00\n\r") {
			return fmt.Errorf("%s holds a control character", key)
		}
		if v, found := knobs.Find(name); found && v.Name == name {
			if err := v.Check(value); err != nil {
				return err
			}
		}
	} else if knob, found := Find(key, s.Variant); !found {
		return fmt.Errorf("%s has no setting %q; there are %s and env.NAME", s.Variant, key, names(s.Variant))
	} else if err := knob.Check(value); err != nil {
		return err
	}
	s.Declared[key] = value
	return nil
}

// String is the specification in canonical form: settings sorted by key. Parse
// reads it back.
func (s Spec) String() string {
	name := string(s.Variant)
	if s.Tree != "" {
		name = s.Tree + ":" + name
	}
	if len(s.Declared) == 0 {
		return name
	}
	settings := make([]string, 0, len(s.Declared))
	for key, value := range s.Declared {
		settings = append(settings, key+"="+strings.NewReplacer(`\`, `\\`, ",", `\,`).Replace(value))
	}
	sort.Strings(settings)
	return name + ":" + strings.Join(settings, ",")
}

// Resolve fills in the defaults and makes the labels unique: a repeated arm is
// an A/A test and reads cpu, cpu#2.
func Resolve(specs []Spec, c Context) []bench.Arm {
	count := map[string]int{}
	arms := make([]bench.Arm, 0, len(specs))
	for _, s := range specs {
		label := s.String()
		count[label]++
		if n := count[label]; n > 1 {
			label = fmt.Sprintf("%s#%d", label, n)
		}
		settings := s.settings(c)
		arms = append(arms, bench.Arm{
			Label: label, Tree: s.Tree, Variant: s.Variant, Declared: s.Declared, Settings: settings, Fingerprint: fingerprint(settings),
		})
	}
	return arms
}

func (s Spec) settings(c Context) map[string]string {
	settings := map[string]string{}
	for name, value := range Environment {
		if c.Embedded && name == envOpPoll {
			value = "0" // see poll
		}
		settings[envPrefix+name] = value
	}
	for _, knob := range Knobs {
		if value := knob.Default(s.Variant, c); knob.knownTo(s.Variant) && value != "" {
			settings[knob.Name] = value
		}
	}
	for key, value := range s.Declared {
		settings[key] = value
	}
	return settings
}

// fingerprint is the SHA-256 of the settings, sorted by key, each as
// length-prefixed key and value.
func fingerprint(settings map[string]string) string {
	h := sha256.New()
	for _, key := range sortedKeys(settings) {
		fmt.Fprintf(h, "%d:%s%d:%s", len(key), key, len(settings[key]), settings[key])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Arguments are llama-bench's arguments for an arm's settings, in the table's
// order.
func Arguments(a bench.Arm) []string {
	var args []string
	for _, knob := range Knobs {
		if value := a.Settings[knob.Name]; value != "" && knob.Flag != "" {
			args = append(args, knob.Flag, value)
		}
	}
	return args
}

// Env is the environment of an arm's settings, sorted, each as NAME=VALUE.
func Env(a bench.Arm) []string {
	var env []string
	for key, value := range a.Settings {
		if name, isEnv := strings.CutPrefix(key, envPrefix); isEnv {
			env = append(env, name+"="+value)
		} else if knob, found := Find(key, a.Variant); found && knob.Env != "" {
			env = append(env, knob.Env+"="+value)
		}
	}
	sort.Strings(env)
	return env
}

// Echoes gives the fields of a result line that must repeat a setting.
func Echoes(a bench.Arm) map[string]string {
	fields := map[string]string{}
	for _, knob := range Knobs {
		if value := a.Settings[knob.Name]; knob.Field != "" && value != "" {
			fields[knob.Field] = value
		}
	}
	return fields
}

// Comparable tells why two arms may not be compared: a setting differs that
// neither of them declares and that does not make the variant itself.
func Comparable(a, b bench.Arm) error {
	keys := map[string]string{}
	for key := range a.Settings {
		keys[key] = ""
	}
	for key := range b.Settings {
		keys[key] = ""
	}
	var differ []string
	for _, key := range sortedKeys(keys) {
		_, inA := a.Declared[key]
		_, inB := b.Declared[key]
		if knob, found := Find(key, a.Variant); inA || inB || (found && knob.Inherent) {
			continue
		}
		if a.Settings[key] != b.Settings[key] {
			differ = append(differ, fmt.Sprintf("%s (%q and %q)", key, a.Settings[key], b.Settings[key]))
		}
	}
	if differ != nil {
		return fmt.Errorf("%s and %s differ in settings that neither declares: %s", a.Label, b.Label, strings.Join(differ, ", "))
	}
	return nil
}

// split cuts a list at its commas and joins what a backslash kept together.
func split(list string) []string {
	var items []string
	var item strings.Builder
	flush := func() {
		if text := strings.TrimSpace(item.String()); text != "" {
			items = append(items, text)
		}
		item.Reset()
	}
	for i := 0; i < len(list); i++ {
		switch {
		case list[i] == '\\' && i+1 < len(list):
			i++
			item.WriteByte(list[i])
		case list[i] == ',':
			flush()
		default:
			item.WriteByte(list[i])
		}
	}
	flush()
	return items
}

func names(v bench.Variant) string {
	var list []string
	for _, knob := range Knobs {
		if knob.knownTo(v) {
			list = append(list, knob.Name)
		}
	}
	if v != bench.CPU {
		for _, variable := range knobs.Table {
			list = append(list, variable.Short)
		}
	}
	return strings.Join(list, ", ")
}

func join(variants []bench.Variant) string {
	list := make([]string, len(variants))
	for i, v := range variants {
		list[i] = string(v)
	}
	return strings.Join(list, ", ")
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}
