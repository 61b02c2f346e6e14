package plan

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

const seed = 20260901

func TestEqualArgumentsGiveEqualPlans(t *testing.T) {
	models, arms := []string{"llama3", "qwen1"}, []string{"fastrpc", "dspqueue", "cpu"}
	first, err := New(seed, 7, models, arms)
	if err != nil {
		t.Fatal(err)
	}
	second, _ := New(seed, 7, models, arms)
	if !reflect.DeepEqual(first, second) {
		t.Error("the same seed gave two plans")
	}
	other, _ := New(seed+1, 7, models, arms)
	if reflect.DeepEqual(first, other) {
		t.Error("another seed gave the same plan")
	}
}

func TestAnotherModelLeavesTheOrdersAlone(t *testing.T) {
	arms := []string{"a", "b", "c"}
	orders := func(models ...string) string {
		launches, err := New(seed, 6, models, arms)
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for _, l := range launches {
			if l.Model == "llama3" {
				fmt.Fprintf(&got, "%d%s ", l.Block, l.Arm)
			}
		}
		return got.String()
	}
	if alone, among := orders("llama3"), orders("qwen1", "llama3", "gemma4-e2b"); alone != among {
		t.Errorf("alone  %s\namong  %s", alone, among)
	}
}

func TestBlocksHoldEachArmOnceAndAdjacent(t *testing.T) {
	for arms := 1; arms <= 8; arms++ {
		labels := make([]string, arms)
		for i := range labels {
			labels[i] = fmt.Sprint("arm", i)
		}
		launches, err := New(seed, 5, []string{"m", "n"}, labels)
		if err != nil {
			t.Fatal(err)
		}
		if len(launches) != 5*2*arms {
			t.Fatalf("%d arms: %d launches", arms, len(launches))
		}
		for start := 0; start < len(launches); start += arms {
			seen := map[string]bool{}
			for position, l := range launches[start : start+arms] {
				if l.Seq != start+position || l.Position != position || l.Block != launches[start].Block || l.Model != launches[start].Model {
					t.Fatalf("%d arms: launch %+v is out of place", arms, l)
				}
				seen[l.Arm] = true
			}
			if len(seen) != arms {
				t.Fatalf("%d arms: a block holds %v", arms, seen)
			}
		}
	}
}

func TestEachArmStandsAtEachPositionEquallyOften(t *testing.T) {
	for n := 1; n <= 8; n++ {
		for s := range uint64(20) {
			orders := Orders(Source(s, "test"), 4*n, n)
			for start := 0; start < len(orders); start += n {
				for position := range n {
					seen := map[int]bool{}
					for _, order := range orders[start : start+n] {
						seen[order[position]] = true
					}
					if len(seen) != n {
						t.Fatalf("n=%d seed=%d: position %d of blocks %d.. saw %v", n, s, position, start, seen)
					}
				}
			}
		}
	}
}

func TestAllOrdersComeBeforeAnyRepeats(t *testing.T) {
	for n, factorial := 1, 1; n <= 5; n++ {
		factorial *= n
		orders := Orders(Source(seed, "test"), 2*factorial, n)
		for _, half := range [][][]int{orders[:factorial], orders[factorial:]} {
			seen := map[string]bool{}
			for _, order := range half {
				seen[fmt.Sprint(order)] = true
			}
			if len(seen) != factorial {
				t.Errorf("n=%d: %d of %d orders", n, len(seen), factorial)
			}
		}
	}
}

// The first order must be uniform over all orders: with 24 cells and 4800
// draws chi-squared has 23 degrees of freedom, and 49.7 is its 0.999 quantile.
func TestFirstOrderIsUniform(t *testing.T) {
	const n, draws = 4, 4800
	counts := map[string]int{}
	for s := range uint64(draws) {
		counts[fmt.Sprint(Orders(Source(s, "uniform"), 1, n)[0])]++
	}
	expected, chi := float64(draws)/24, 0.0
	for _, c := range counts {
		chi += (float64(c) - expected) * (float64(c) - expected) / expected
	}
	if len(counts) != 24 || chi > 49.7 {
		t.Errorf("%d orders, chi-squared %.1f", len(counts), chi)
	}
}

func TestBadPlansAreRefused(t *testing.T) {
	for _, test := range []struct {
		rounds       int
		models, arms string
		want         string
	}{
		{0, "m", "a", "rounds: 0"},
		{MaxRounds + 1, "m", "a", "rounds: 10001"},
		{1, "", "a", "no model"},
		{1, "m", "", "no arm"},
		{1, "m", "a a", `"a" stands twice`},
		{1, "m m", "a", `"m" stands twice`},
		{MaxRounds, strings.Repeat("m", 1) + " n o p q r s t", "a b c d e f g h i j k l m", "more than 1000000 launches"},
	} {
		_, err := New(seed, test.rounds, strings.Fields(test.models), strings.Fields(test.arms))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v", test, err)
		}
	}
}
