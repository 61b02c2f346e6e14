package simtest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hexab/internal/backendops"
	"hexab/internal/counters"
	"hexab/internal/findings"
)

// report is one line of HEXSIM_REPORT.
type report struct {
	Check, Kind, Op, Source, Text, Buffer, Thread string
	Address, Bytes                                uint64
}

// String is the report as it stands on the error output where no file is named.
func (r report) String() string {
	return fmt.Sprintf("%s: %s: %s: %#x, %d bytes: %s; in %s, thread %s, at %s", r.Check, r.Kind, r.Text, r.Address, r.Bytes, r.Buffer, r.Op, r.Thread, r.Source)
}

// benign are reports that are true and harmless, by check, kind and source line.
// A fence's reader invalidates the line and loads the sequence number, then the
// status; a peer may write in between. The line that was fetched holds a number
// and the status that belongs to it (the peer cleans both at once), so an older
// status comes with an older number, and the reader asks again.
var benign = map[string]string{
	"coherency stale-read htp/htp-fence.h:29": "a fence is read while the peer writes it",
}

// slices are representative cases of each operation: all of those that are
// quick, and of the others what takes every path.
var checkedSlices = []struct{ op, params string }{
	{"ADD", `ne=\[(10|16|32),`}, {"MUL", `ne=\[(10|16),`}, {"SUB", `ne=\[10,`}, {"DIV", `ne=\[10,`},
	{"RMS_NORM", ""}, {"NORM", ""}, {"L2_NORM", ""}, {"SOFT_MAX", ""}, {"ROPE", `n_dims=(20|32|128).*v=0,inplace=0`},
	{"SCALE", ""}, {"CPY", ""}, {"CONT", `type=f32`}, {"GET_ROWS", ""}, {"SET_ROWS", ""}, {"SUM_ROWS", ""}, {"ADD_ID", ""},
	{"SWIGLU", ""}, {"SWIGLU_OAI", ""}, {"GEGLU", ""}, {"ARGSORT", ""}, {"TOP_K", `ne=\[(12|16|60|1023|1024),`}, {"IM2COL", ""},
	{"CONCAT", ""}, {"PAD", ""}, {"REPEAT", ""}, {"ROLL", ""}, {"CUMSUM", ""}, {"FILL", ""}, {"DIAG", ""}, {"SOLVE_TRI", ""},
	{"TRI", ""}, {"SSM_CONV", ""}, {"GATED_DELTA_NET", ""}, {"SQR", ""}, {"SQRT", ""}, {"SILU", ""}, {"GELU", ""}, {"SIGMOID", ""},
	{"TANH", ""}, {"EXP", ""}, {"NEG", ""}, {"SOFTPLUS", ""},
	{"MUL_MAT", `type_a=(f32|f16|q4_0|q4_1|q8_0|q4_K|q6_K|iq4_nl|mxfp4),type_b=f32,m=16,n=(1|8|16),k=256,bs=\[1,1\]`},
	{"MUL_MAT_ID", `type_a=(q4_0|q8_0|mxfp4).*n_mats=4,n_used=(1|2),b=.,m=512,n=(1|32),k=256`},
	{"FLASH_ATTN_EXT", `hsk=64,hsv=64,nh=4,nr23=\[(1|4),1\],kv=(113|512),nb=(1|3|32|75),mask=1,sinks=.,max_bias=0`},
	{"FLASH_ATTN_EXT", `hsk=(192|320|576).*kv=(113|512),nb=(1|75)`},
	{"MUL_MAT_VEC_FUSION", `type=q4_K,glu_op=2,m=2,`},
}

// TestChecked runs the operations with all checks on, with DMA at its latest
// and, where there is time, at its earliest moment: no report, but those that
// are explained.
func TestChecked(t *testing.T) {
	n := buildNPU(t)
	moments := []string{"poll"}
	if os.Getenv("HEXAB_LONG") != "" {
		moments = append(moments, "link")
	}
	for _, moment := range moments {
		for _, s := range checkedSlices {
			t.Run(moment+"/"+s.op+s.params, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "report")
				args := []string{"test", "-b", "HTP0", "-o", s.op}
				if s.params != "" {
					args = append(args, "-p", s.params)
				}
				command := n.command(t.Context(), 79, "test-backend-ops", args...)
				command.Env = append(command.Env, "HEXSIM_CHECK=all", "HEXSIM_REPORT="+path, "HEXSIM_DMA="+moment)
				out, err := command.Output()
				// Which cases may fail is TestFindings' matter.
				r, parse := backendops.Parse(string(out), backendops.Want{Mode: backendops.Test, Backend: "HTP0"})
				if parse != nil || r.Total().Passed == 0 {
					t.Errorf("%v: %d cases passed, %v\n%s", parse, r.Total().Passed, err, out[max(0, len(out)-3000):])
				}
				unexplained(t, path, findings.Outcomes(r))
			})
		}
	}
}

// TestDMAOrder holds the finding dma-order: the kernel is right on an engine that
// keeps the order of transfers, and wrong on one that is free to change it.
func TestDMAOrder(t *testing.T) {
	n := buildNPU(t)
	for moment, right := range map[string]bool{"poll": true, "unordered": false} {
		command := n.command(t.Context(), 79, "test-backend-ops", "test", "-b", "HTP0", "-o", "GATED_DELTA_NET")
		command.Env = append(command.Env, "HEXSIM_DMA="+moment, "GGML_HEXAGON_GDN_SELECT=1")
		out, err := command.CombinedOutput()
		if passed := strings.Contains(string(out), "36/36 tests passed"); passed != right || (err == nil) != right {
			t.Errorf("%s: all passed is %v, %v; want %v\n%s", moment, passed, err, right, out[max(0, len(out)-3000):])
		}
	}
}

// unexplained fails for each report of a run of such cases that no finding
// explains, and shows the others.
func unexplained(t *testing.T, path string, ran []findings.Outcome) {
	t.Helper()
	list := readFindings(t)
	for _, r := range reports(t, path) {
		why := benign[fmt.Sprintf("%s %s %s", r.Check, r.Kind, r.Source)]
		if f, ok := list.ExplainReport(79, ran, r.String()); ok {
			why = "sim/findings/" + f.Name
		}
		if why != "" {
			t.Logf("%s: %s", why, r)
		} else {
			t.Error(r)
		}
	}
}

func reports(t *testing.T, path string) (list []report) {
	t.Helper()
	file, err := os.Open(path)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var r report
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		if r.Kind != "repeated" {
			list = append(list, r)
		}
	}
	return list
}

// completion is a model's greedy answer on some devices.
func (n npu) completion(t *testing.T, model, devices, names string, settings ...string) string {
	t.Helper()
	command := n.command(t.Context(), 79, "llama-completion", "-m", model, "--device", names, "-ngl", "99", "-t", "2", "-c", "256",
		"-n", "3", "-no-cnv", "--temp", "0", "--seed", "1", "-p", "the quick brown fox jumps over the lazy dog")
	command.Env = append(append(command.Env, "GGML_HEXAGON_DEVICES="+devices), settings...)
	var text strings.Builder
	command.Stdout = &text
	if err := command.Run(); err != nil {
		log := ""
		if exit, ok := err.(*exec.ExitError); ok {
			log = string(exit.Stderr)
		}
		t.Fatalf("%s: %v\n%s", devices, err, log)
	}
	return text.String()
}

// TestGroups runs a model on one session, on two of one DSP, on two DSPs, and
// on a group of two that splits each operation and reduces: the answer is the
// same, without checks and with all of them, and nothing is reported.
func TestGroups(t *testing.T) {
	model := filepath.SplitList(need(t, "HEXAB_STAND_INS"))[0]
	n := buildNPU(t)
	want := n.completion(t, model, "HTP0", "HTP0")
	if want == "" {
		t.Fatal("no answer")
	}
	for _, c := range []struct{ devices, names string }{
		{"HTP0:0,HTP0:1", "HTP0:0,HTP0:1"},
		{"HTP0,HTP1", "HTP0,HTP1"},
		{"HTP0[0-1]", "HTP0"},
	} {
		t.Run(c.devices, func(t *testing.T) {
			if got := n.completion(t, model, c.devices, c.names); got != want {
				t.Errorf("%q, want %q", got, want)
			}
			for range 2 {
				path := filepath.Join(t.TempDir(), "report")
				os.Remove(path)
				if got := n.completion(t, model, c.devices, c.names, "HEXSIM_CHECK=all", "HEXSIM_REPORT="+path); got != want {
					t.Errorf("with checks %q, want %q", got, want)
				}
				unexplained(t, path, []findings.Outcome{{Op: "GATED_DELTA_NET"}}) // the model's own
			}
		})
	}
}

// TestEqualCounters runs the same work twice: on one device all counters are
// equal, each token's too.
func TestEqualCounters(t *testing.T) {
	model := filepath.SplitList(need(t, "HEXAB_STAND_INS"))[0]
	n := buildNPU(t)
	count := func() counters.Set {
		path := filepath.Join(t.TempDir(), "counters")
		n.completion(t, model, "HTP0", "HTP0", "HEXSIM_COUNTERS="+path)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		set, err := counters.Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	a, b := count(), count()
	for _, name := range counters.Differ(a, b) {
		t.Errorf("%s: %d, then %d", name, a[name], b[name])
	}
	for _, name := range []string{"packets", "dma_bytes_to_vtcm", "cache_clean_invalidate_all", "cache_clean_invalidate_lines",
		"hvx_instructions", "hmx_multiplied_tiles"} {
		if a[name] == 0 {
			t.Errorf("%s is 0", name)
		}
	}
}
