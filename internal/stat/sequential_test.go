package stat

import (
	"math"
	"testing"
)

func TestLooks(t *testing.T) {
	for _, test := range []struct {
		blocks, step int
		want         []int
	}{
		{1, 2, []int{1}}, {3, 2, []int{3}}, {6, 2, []int{6}}, {7, 2, []int{7}}, {30, 2, []int{8, 12, 18, 30}}, {30, 3, []int{9, 15, 24, 30}},
		{100, 2, []int{10, 16, 24, 36, 54, 82, 100}},
	} {
		looks, err := Looks(test.blocks, test.step, 0.05, 99_999)
		if err != nil {
			t.Fatal(err)
		}
		var at []int
		var spent float64
		for i, l := range looks {
			at = append(at, l.Blocks)
			spent += l.Alpha
			if len(looks) > 1 && SmallestP(l.Blocks, 99_999) > l.Alpha {
				t.Errorf("%d blocks: look %d can not reach its level %v", test.blocks, i, l.Alpha)
			}
		}
		if math.Abs(spent-0.05) > 1e-12 {
			t.Errorf("%d blocks: %v is spent", test.blocks, spent)
		}
		if len(at) != len(test.want) {
			t.Errorf("%d blocks, step %d: looks at %v, want %v", test.blocks, test.step, at, test.want)
			continue
		}
		for i := range at {
			if at[i] != test.want[i] {
				t.Errorf("%d blocks, step %d: looks at %v, want %v", test.blocks, test.step, at, test.want)
				break
			}
		}
	}
	for blocks := 1; blocks <= 300; blocks++ {
		for step := 1; step <= 5; step++ {
			looks, err := Looks(blocks, step, 0.05, 99_999)
			if err != nil {
				t.Fatal(err)
			}
			spent, last := 0.0, 0
			for i, l := range looks {
				spent += l.Alpha
				if l.Blocks <= last || l.Blocks%step != 0 && i < len(looks)-1 {
					t.Fatalf("%d blocks, step %d: %v", blocks, step, looks)
				}
				last = l.Blocks
			}
			if last != blocks || math.Abs(spent-0.05) > 1e-12 {
				t.Fatalf("%d blocks, step %d: %v", blocks, step, looks)
			}
		}
	}
	for _, bad := range [][2]int{{0, 1}, {MaxBlocks + 1, 1}, {6, 0}} {
		if _, err := Looks(bad[0], bad[1], 0.05, 99); err == nil {
			t.Errorf("%v was taken", bad)
		}
	}
	if _, err := Looks(6, 1, 1, 99); err == nil {
		t.Error("alpha 1 was taken")
	}
}

func TestNarrow(t *testing.T) {
	at := func(lo, hi float64) Decision { return Decision{Interval: Interval{Lo: LogRatio(lo), Hi: LogRatio(hi)}} }
	if !Narrow([]Decision{at(-0.005, 0.005), at(0.1, 0.119)}, 0.01) {
		t.Error("narrow intervals are not")
	}
	for _, wide := range []Decision{at(-0.02, 0.02), at(math.Inf(-1), math.Inf(1)), at(math.NaN(), 0)} {
		if Narrow([]Decision{at(0, 0), wide}, 0.01) {
			t.Errorf("%+v is narrow", wide.Interval)
		}
	}
}
