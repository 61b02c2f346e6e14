package harness

import (
	"os/exec"
	"testing"

	"hexab/internal/inspect"
)

// TestPublishedSkels holds what is found in the published DSP libraries, as
// LLVM 19 disassembles them. The details of v73 and v79 were verified by hand
// in the disassembly.
func TestPublishedSkels(t *testing.T) {
	w := pinned(t)
	if _, err := exec.LookPath("llvm-objdump-19"); err != nil {
		t.Skip("llvm-objdump-19 is not installed")
	}
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("npm is not installed")
	}
	type found struct{ functions, vectorHardware, vectorLoops, scalarHardware, divisions, promotions, unknown int }
	want := map[string]found{
		"v73": {343, 2675, 3677, 1177, 125, 24, 162},
		"v75": {319, 1818, 2318, 1654, 125, 24, 155},
		"v79": {319, 1817, 2322, 1474, 126, 23, 358},
		"v81": {319, 1720, 2183, 1466, 126, 23, 691},
	}
	libraries := map[string]*inspect.Library{}
	for name := range want {
		l, err := w.library(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		libraries[name] = l
		all, hardware, loops := l.Totals()
		got := found{len(l.Functions), hardware.VectorSpills(), loops.VectorSpills(), hardware.ScalarSpills(), loops.Divisions, all.Promotions, l.Unknown()}
		if got != want[name] {
			t.Errorf("%s: %+v, want %+v", name, got, want[name])
		}
	}
	// By hand, v79: loop1 set up at 0x9ec58 runs from 0x9ec5c and stores v7 and
	// v31 to r29+0x280 and r29+0x200 at 0x9eca0 and 0x9eca4; loop0 inside it. At
	// 0x9ed30 r1 becomes r13, which points into the frame, plus r7 vectors: loads
	// at 0x9ed4c and 0x9ed64, a store at 0x9ed7c; likewise r6 at 0x9ed68.
	sort := byFunction(t, libraries["v79"], "htp_argsort_f32_64_asc")
	if l := sort.Loops[0]; l.Kind != inspect.Loop1 || l.Start != 0x9ec5c || l.End != 0x9f1b0 || l.VectorStores != 16 || l.VectorLoads != 32 {
		t.Errorf("htp_argsort_f32_64_asc: %+v", l)
	}
	// By hand, v75: loop0 set up at 0x8a5a0 runs from 0x8a5ac to 0x8a9c8; in it
	// are a load at 0x8a5ec (r29+#0x3) and stores at 0x8a5f8 and 0x8a608
	// (r29+#0x6, r29+#0x7). The loop from 0x89718 stores through r0, which is a
	// row of the data there: the copy at 0x89678 and the jump behind it have
	// opposite conditions.
	for _, l := range byFunction(t, libraries["v75"], "glu_swiglu_oai_f32_per_thread").Loops {
		switch l.Start {
		case 0x8a5ac:
			if l.Kind != inspect.Loop0 || l.End != 0x8a9cc || l.VectorStores != 4 || l.VectorLoads != 11 {
				t.Errorf("glu_swiglu_oai_f32_per_thread: %+v", l)
			}
		case 0x89718:
			if l.VectorSpills() != 0 {
				t.Errorf("glu_swiglu_oai_f32_per_thread: %+v", l)
			}
		}
	}
	// By hand, v73: loop1 set up at 0x8acd8 and loop0 in it at 0x8acec (6 times)
	// store v7 and v31 to r29+#0x5 and r29+#0x4 at 0x8ad20 and 0x8ad24.
	if l := byFunction(t, libraries["v73"], "htp_argsort_f32_64_asc").Loops[0]; l.Kind != inspect.Loop1 || l.Start != 0x8acdc || l.End != 0x8b230 || l.VectorStores != 16 {
		t.Errorf("htp_argsort_f32_64_asc: %+v", l)
	}
	// By hand, v73: the loop from 0x925e0 to the jump at 0x92614 calls
	// __truncsfhf2 (0x925fc, 0x92608) and __extendhfsf2 (0x92604); the loop
	// around it calls __hexagon_udivsi3 (0x92308, 0x92318) and
	// __hexagon_umodsi3 (0x92320).
	patch := byFunction(t, libraries["v73"], "im2col_patchembed_thread")
	for _, l := range patch.Loops {
		switch l.Start {
		case 0x925e0:
			if l.Kind != inspect.BranchLoop || l.End != 0x9261c || l.Promotions != 3 || l.Calls != 3 || l.Divisions != 0 {
				t.Errorf("im2col_patchembed_thread: %+v", l)
			}
		case 0x922e0:
			if l.Divisions != 3 || l.Calls != 6 || l.Depth != 1 {
				t.Errorf("im2col_patchembed_thread: %+v", l)
			}
		}
	}
	// By hand, v73: convert_sf2df at 0x73138, __hexagon_divdf3 called at
	// 0x73144, convert_df2sf at 0x73170, all in the loop over rows.
	if c := byFunction(t, libraries["v73"], "softmax_job_f32").InLoops; c.Promotions < 3 || c.Divisions < 1 {
		t.Errorf("softmax_job_f32: %+v", c)
	}
}

func byFunction(t *testing.T, l *inspect.Library, name string) *inspect.Function {
	t.Helper()
	for _, f := range l.Functions {
		if f.Name == name {
			return f
		}
	}
	t.Fatalf("no function %s", name)
	return nil
}
