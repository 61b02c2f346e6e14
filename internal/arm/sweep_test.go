package arm

import (
	"slices"
	"strings"
	"testing"
)

func TestSweep(t *testing.T) {
	for _, test := range []struct {
		arms, sweep string
		want        []string
	}{
		{"dspqueue", "nhvx=1,2", []string{"dspqueue:env.GGML_HEXAGON_NHVX=1", "dspqueue:env.GGML_HEXAGON_NHVX=2"}},
		{"cpu:ubatch=64,dspqueue", "threads=1,2", []string{
			"cpu:threads=1,ubatch=64", "cpu:threads=2,ubatch=64", "dspqueue:threads=1", "dspqueue:threads=2"}},
		{"cpu", "threads=1,2; ubatch=64,128", []string{
			"cpu:threads=1,ubatch=64", "cpu:threads=1,ubatch=128", "cpu:threads=2,ubatch=64", "cpu:threads=2,ubatch=128"}},
		{"dspqueue", `devices=1,HTP0:0\,HTP1:0`, []string{"dspqueue:env.GGML_HEXAGON_DEVICES=1", `dspqueue:env.GGML_HEXAGON_DEVICES=HTP0:0\,HTP1:0`}},
	} {
		specs, err := Parse(test.arms, known)
		if err != nil {
			t.Fatal(err)
		}
		swept, err := Sweep(specs, test.sweep)
		if err != nil {
			t.Errorf("%s: %v", test.sweep, err)
			continue
		}
		var got []string
		for _, s := range swept {
			got = append(got, s.String())
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s over %s: %q, want %q", test.sweep, test.arms, got, test.want)
		}
	}
}

func TestSweepErrors(t *testing.T) {
	for _, test := range []struct{ arms, sweep, want string }{
		{"cpu", "threads", "not of the form KEY=VALUE,VALUE"},
		{"cpu", "threads=", "not of the form"},
		{"cpu", "=1", "not of the form"},
		{"cpu", "threads=1,1", "threads=1 stands twice"},
		{"cpu:threads=1", "threads=2,3", "threads is stated twice"},
		{"cpu", "nhvx=1,2", `cpu has no setting "nhvx"`},
		{"dspqueue", "nhvx=1,many", "GGML_HEXAGON_NHVX=many"},
		{"cpu", "threads=" + strings.TrimSuffix(strings.Repeat("1,2,3,4,5,6,7,8,", 5), ","), "stands twice"},
		{"cpu", "threads=1,2,3,4,5,6,7;ubatch=1,2,3,4,5", "more than 32 arms"},
	} {
		specs, err := Parse(test.arms, known)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Sweep(specs, test.sweep); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.sweep, err, test.want)
		}
	}
}

func FuzzSweep(f *testing.F) {
	f.Add("nhvx=1,2;threads=1,2")
	f.Fuzz(func(t *testing.T, sweep string) {
		specs, err := Parse("dspqueue", known)
		if err != nil {
			t.Fatal(err)
		}
		swept, err := Sweep(specs, sweep)
		if err != nil {
			return
		}
		seen := map[string]bool{}
		for _, s := range swept {
			if seen[s.String()] {
				t.Errorf("%q makes %s twice", sweep, s)
			}
			seen[s.String()] = true
		}
		if len(specs[0].Declared) != 0 {
			t.Error("the given arm was changed")
		}
	})
}
