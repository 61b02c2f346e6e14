package llamabench

import (
	"reflect"
	"testing"
)

// What llama-bench v0.5.0 logs with GGML_SCHED_DEBUG=2 and -v.
const schedulerLog = `
## SPLIT #0: CPU # 0 inputs
node #  0 (  GET_ROWS):               embd-0 (   4K) [  CPU         ] use=3,c=1:    token_embd.weight ( 860K) [  CPU         ]         inp_tokens (   0K) [  CPU         ]

## SPLIT #1: HTP0 # 2 inputs: [embd-0 (   4K)] [leaf_9 (   0K)]
node #  1 (  RMS_NORM):               norm-0 (   4K) [ HTP0         ] use=1,c=1:        HTP0#embd-0#0 (   4K) [ NULL         ]
node #  3 (   MUL_MAT):               Qcur-0 (   4K) [ HTP0         ] use=1,c=1:  blk.0.attn_q.weight ( 288K) [ HTP0         ]          attn_norm-0 (   4K) [ HTP0         ]
node #  4 (   MUL_MAT):               Kcur-0 (   1K) [ HTP0         ] use=1,c=1:
node # 12 ( SET_ROWS):
llama_perf: (x): y (1K) [ CPU ]
`

func TestReadPlacement(t *testing.T) {
	p := ReadPlacement(schedulerLog)
	want := Placement{"CPU": {"GET_ROWS": 1}, "HTP0": {"RMS_NORM": 1, "MUL_MAT": 2}}
	if !reflect.DeepEqual(p, want) {
		t.Errorf("%v", p)
	}
	if share := p.Share("HTP"); share != 0.75 {
		t.Error(share)
	}
	if got := p.Elsewhere("HTP"); !reflect.DeepEqual(got, []string{"GET_ROWS x 1"}) {
		t.Error(got)
	}
	if got := p.Elsewhere("CPU"); !reflect.DeepEqual(got, []string{"MUL_MAT x 2", "RMS_NORM x 1"}) {
		t.Error(got)
	}
	if share := (Placement{}).Share("HTP"); share != 0 {
		t.Error(share)
	}
}

func FuzzReadPlacement(f *testing.F) {
	f.Add(schedulerLog)
	f.Fuzz(func(t *testing.T, log string) {
		if share := ReadPlacement(log).Share("HTP"); share < 0 || share > 1 {
			t.Error(share)
		}
	})
}
