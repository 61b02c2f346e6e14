package artifact

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hexab/internal/arm"
	"hexab/internal/bench"
	"hexab/internal/plan"
)

var update = flag.Bool("update", false, "write the golden files anew")

// sample is a run of base against head on two models, one of which generates
// text a tenth slower.
func sample(t testing.TB) (bench.Run, []bench.Record) {
	t.Helper()
	specs, err := arm.Parse("base:cpu,head:cpu", []bench.Variant{bench.CPU})
	if err != nil {
		t.Fatal(err)
	}
	run := bench.Run{
		Schema: bench.SchemaVersion, ID: "20261130T010203Z-1a2b3c4d", Created: time.Date(2026, 11, 30, 1, 2, 3, 0, time.UTC), Version: "devel",
		Command: "go tool mage ciRun -rounds=6 -seed=7", Seed: 7, Rounds: 6, Repetitions: 3, Threshold: 0.01,
		Tests: []bench.Test{{Prompt: 64}, {Gen: 16}}, Arms: arm.Resolve(specs, arm.Context{BigCores: 2, Embedded: true}), Baseline: "base:cpu",
		Device: bench.Device{Serial: "sim", Kind: "embedded", Platform: bench.Sim, Simulated: true, Properties: map[string]string{"model": "Embedded Phone", "soc": "SIM"}},
		Host:   map[string]string{"cpu": "a processor"},
		Trees:  []bench.Tree{{Name: "base", Commit: strings.Repeat("b", 40), Of: "hexab"}, {Name: "head", Commit: strings.Repeat("a", 40), Of: "hexab"}},
	}
	for i := range run.Arms {
		id := bench.BundleID(strings.Repeat(fmt.Sprint(i+1), 64))
		run.Arms[i].Bundle = id
		run.Bundles = append(run.Bundles, bench.BundleInfo{ID: id, Variant: bench.CPU, Platform: bench.Sim, Source: strings.Repeat("c", 40), Compiler: "cc 1.0", Flags: []string{"A=1"}})
	}
	for _, alias := range []string{"llama3", "qwen2"} {
		run.Models = append(run.Models, bench.Model{Alias: alias, File: alias + ".gguf", SHA256: strings.Repeat("0", 64), Size: 47_500_000, Family: "llama", StandIn: true})
	}
	if run.Plan, err = plan.New(7, 6, []string{"llama3", "qwen2"}, []string{"base:cpu", "head:cpu"}); err != nil {
		t.Fatal(err)
	}
	rng := plan.Source(7, "artifact")
	var records []bench.Record
	for _, l := range run.Plan {
		r := bench.Record{Launch: l, Attempt: 1, Started: run.Created, Wall: 1e9, Outcome: bench.OutcomeOK, Log: "logs/1.log"}
		for _, test := range run.Tests {
			speed := 100.0
			if test.Gen > 0 && l.Arm == "head:cpu" && l.Model == "qwen2" {
				speed = 90
			}
			result := bench.Result{Test: test}
			for range run.Repetitions {
				result.SamplesNs = append(result.SamplesNs, bench.Nanoseconds(float64(test.Tokens())*1e9/(speed*math.Exp(0.004*rng.NormFloat64()))))
			}
			r.Results = append(r.Results, result)
		}
		celsius, status := bench.Celsius(31.5), 0
		r.Before = &bench.Sensors{Temperatures: map[string]bench.Celsius{"cpu": celsius}, ThermalStatus: &status}
		records = append(records, r)
	}
	return run, records
}

func encoded(t testing.TB) []byte {
	t.Helper()
	run, records := sample(t)
	data, err := Encode(run, records)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestGolden(t *testing.T) {
	path, got := filepath.Join("testdata", "pull.json"), encoded(t)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s differs (%v); run with -update and read the change", path, err)
	}
}

func TestReadsBack(t *testing.T) {
	run, records := sample(t)
	a, err := Decode(encoded(t))
	if err != nil {
		t.Fatal(err)
	}
	for i := range records {
		records[i].Log = "" // no path travels
	}
	got, _ := json.Marshal(a)
	want, _ := json.Marshal(Artifact{Schema, run, records})
	if !bytes.Equal(got, want) {
		t.Errorf("reads back as\n%.500s\nnot\n%.500s", got, want)
	}
}

func TestEncodeCutsEvidence(t *testing.T) {
	run, records := sample(t)
	records[0].Outcome, records[0].Fault, records[0].Results = bench.OutcomeCrashed, bench.FaultVariant, nil
	records[0].Reason = strings.Repeat("é", 5000)
	for range 100 {
		records[0].Evidence = append(records[0].Evidence, "\xff"+strings.Repeat("x", 10_000))
	}
	data, err := Encode(run, records)
	if err != nil {
		t.Fatal(err)
	}
	a, err := Decode(data)
	if err != nil || len(a.Records[0].Evidence) != maxEvidence || len(a.Records[0].Evidence[0]) > maxEvidenceLine+3 {
		t.Errorf("%d lines, %v", len(a.Records[0].Evidence), err)
	}
}

// edit changes the sample's JSON at a path such as run.arms.0.label.
func edit(t testing.TB, path string, value any) []byte {
	t.Helper()
	var tree any
	decoder := json.NewDecoder(bytes.NewReader(encoded(t)))
	decoder.UseNumber()
	if err := decoder.Decode(&tree); err != nil {
		t.Fatal(err)
	}
	at, keys := tree, strings.Split(path, ".")
	for _, key := range keys[:len(keys)-1] {
		switch node := at.(type) {
		case map[string]any:
			at = node[key]
		case []any:
			var i int
			fmt.Sscan(key, &i)
			at = node[i]
		}
	}
	last := keys[len(keys)-1]
	switch node := at.(type) {
	case map[string]any:
		node[last] = value
		if value == nil {
			delete(node, last)
		}
	case []any:
		var i int
		fmt.Sscan(last, &i)
		node[i] = value
	default:
		t.Fatalf("no place %s", path)
	}
	data, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestHostileValues(t *testing.T) {
	for _, test := range []struct {
		path  string
		value any
		want  string
	}{
		{"schema", 2, "reads schema 1"}, {"run.schema", 0, "reads schema 1"}, {"extra", 1, "unknown field"}, {"run.extra", "x", "unknown field"},
		{"run.id", "../../etc", "not a run's id"}, {"run.id", "20261130T010203Z-1a2b3c4d\n", "not a run's id"}, {"run.version", "<b>", "not a version"},
		{"run.rounds", 0, "rounds"}, {"run.rounds", 1000, "rounds"}, {"run.rounds", 7, "launches, not"}, {"run.rounds", 6.5, "cannot unmarshal"},
		{"run.repetitions", 1, "samples"}, {"run.threshold", -0.1, "threshold"}, {"run.threshold", 0.6, "threshold"}, {"run.seed", -1, "cannot unmarshal"},
		{"run.created", "0001-01-01T00:00:00Z", "no time"}, {"run.created", "1999-01-01T00:00:00Z", "out of bounds"}, {"run.created", nil, "no time"},
		{"run.tests", []string{}, "tests"}, {"run.tests", []string{"pp64", "pp64"}, "there twice"}, {"run.tests", []string{"pp0"}, "test"}, {"run.tests.0", "pp99999999", "tokens"},
		{"run.models.0.alias", "qwen2", "there twice"}, {"run.models.0.alias", "a|b", "no alias"}, {"run.models.0.alias", "../x", "no alias"},
		{"run.models.0.sha256", "x", "SHA-256"}, {"run.models.0.size", -1, "model size"}, {"run.models.0.family", "a b", "family"}, {"run.models", []any{}, "models"},
		{"run.arms.1.label", "head:cpu [faster]", "the label"}, {"run.arms.1.variant", "`x`", "not a variant"}, {"run.arms.1.tree", "tail", "not a tree"},
		{"run.arms.1.tree", "base", "the label"}, {"run.arms.1.fingerprint", "", "fingerprint"}, {"run.arms.1.bundle", "x", "bundle"},
		{"run.arms.1.declared", map[string]string{"threads": "1"}, "the label"}, {"run.baseline", "cpu", "none of the arms"},
		{"run.device.kind", "adb", "simulated true"}, {"run.device.simulated", false, "simulated false"}, {"run.device.platform", "x", "platform"}, {"run.device.serial", "", "serial"},
		{"run.device.serial", strings.Repeat("x", 5000), "bytes of text"},
		{"run.trees.0.name", "head", "there twice"}, {"run.trees.0.commit", "HEAD", "tree base"}, {"run.trees.0.of", "x", "tree base"},
		{"run.bundles.0.id", "x", "bundle"}, {"run.plan.3.block", -1, "none of this run"}, {"run.plan.3.block", 99, "none of this run"}, {"run.plan.3.seq", 2, "numbered"},
		{"run.plan.3.arm", "cpu", "none of this run"}, {"run.plan", []any{}, "launches, not"},
		{"records.0.seq", 999, "not the plan's"}, {"records.0.seq", -1, "not the plan's"}, {"records.0.arm", "x", "not the plan's"}, {"records.0.attempt", 0, "comes after"},
		{"records.0.attempt", 99, "comes after"}, {"records.0.outcome", "great", "not an outcome"}, {"records.0.fault", "yours", "not a fault"}, {"records.0.fault", "device", "with a fault"},
		{"records.0.wall_ns", -5, "wall"}, {"records.0.exit_status", 1000, "exit status"}, {"records.0.other_cpu_share", 1.5, "CPU share"}, {"records.0.other_cpu_share", 1e300, "out of bounds"},
		{"records.0.marks", []string{"<b>"}, "not a mark"}, {"records.0.results.0.test", "pp65", "not this run's"}, {"records.0.results.0.test", "tg16", "there twice"},
		{"records.0.results.0.samples_ns.0", 0, "a sample"}, {"records.0.results.0.samples_ns.0", -1, "a sample"}, {"records.0.results.0.samples_ns.0", json.Number("1000000000000000000"), "out of bounds"},
		{"records.0.results.0.samples_ns.0", json.Number("9223372036854775808"), "cannot unmarshal"},
		{"records.0.before.temperatures", map[string]float64{"cpu": 5000}, "temperature"}, {"records.0.before.thermal_status", 9, "thermal"}, {"records.0.before.battery_percent", 101, "battery"},
		{"records", nil, ""}, {"run.host", nil, ""},
	} {
		_, err := Decode(edit(t, test.path, test.value))
		if test.want == "" {
			if err != nil {
				t.Errorf("%s = %v: %v", test.path, test.value, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s = %.60v: %v, want %q", test.path, test.value, err, test.want)
		}
		if err != nil && len(err.Error()) > 600 {
			t.Errorf("%s: the error repeats %d bytes of the input", test.path, len(err.Error()))
		}
	}
}

func TestHostileText(t *testing.T) {
	good := string(encoded(t))
	for _, test := range []struct{ name, text, want string }{
		{"empty", "", "EOF"}, {"no object", "[]", "cannot unmarshal"}, {"cut short", good[:len(good)/2], "unexpected EOF"}, {"trailing", good + "{}", "after the end"},
		{"not UTF-8", strings.Replace(good, "devel", "de\xffel", 1), "UTF-8"}, {"twice", strings.Replace(good, `{"schema":1,`, `{"schema":2,"schema":1,`, 1), "stands twice"},
		{"deep", strings.Repeat("[", 100_000), "nested deeper"}, {"deep objects", strings.Repeat(`{"a":`, 1000), "nested deeper"},
		{"large", good + strings.Repeat(" ", MaxBytes), "bytes are more"}, {"a key in another case", strings.Replace(good, `{"schema":1,`, `{"schema":1,"SCHEMA":2,`, 1), "reads schema"},
		{"a page", "<!DOCTYPE html>", "invalid character"}, {"NaN", strings.Replace(good, `"threshold":0.01`, `"threshold":NaN`, 1), "invalid character"},
	} {
		if _, err := Decode([]byte(test.text)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(encoded(f))
	f.Add([]byte(`{"schema":1,"run":{},"records":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := Decode(data)
		if err != nil {
			return
		}
		again, err := Encode(a.Run, a.Records)
		if err != nil {
			t.Fatalf("accepted, and refused when written again: %v", err)
		}
		if _, err := Decode(again); err != nil {
			t.Fatal(err)
		}
	})
}
