// Package gate decides whether a comparison lets a change pass. A condition
// such as tg:-2% fails only on a confident regression beyond it: when every
// value that the measurement leaves open is a loss of more than 2 %, and the
// tests agree. What the measurement can not tell is neutral, never a failure
// and never a success.
package gate

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"hexab/internal/bench"
	"hexab/internal/compare"
)

// Bounds on a gate's text.
const (
	MaxLength     = 1024
	MaxConditions = 32
	// MaxPercent is the largest loss that a condition may allow.
	MaxPercent = 90
)

// Condition allows the selected tests a loss of at most so much.
type Condition struct {
	// Model is an alias; empty is every model.
	Model string
	// Test is "all", a kind ("pp", "tg", "pg") or a test's name (tg128@d4096).
	Test string
	// Loss is the loss allowed, as a fraction of the baseline: 0.02 is 2 %.
	Loss float64
}

// Gate is a list of conditions, all of which must hold.
type Gate []Condition

var conditionPattern = regexp.MustCompile(`^(?:([A-Za-z0-9][A-Za-z0-9._-]{0,63})/)?([a-z0-9+@]{1,64}):(-?)([0-9]{1,2}(?:\.[0-9]{1,3})?)%$`)

// Parse reads conditions such as
//
//	tg:-2%
//	pp:-5%,tg:-2%
//	llama3/tg128@d4096:-1.5%
//	all:-3%
//
// separated by commas. Empty text is no gate.
func Parse(text string) (Gate, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	if len(text) > MaxLength {
		return nil, fmt.Errorf("gate: %d characters are more than %d", len(text), MaxLength)
	}
	var g Gate
	for _, item := range strings.Split(text, ",") {
		c, err := parseCondition(strings.TrimSpace(item))
		if err != nil {
			return nil, fmt.Errorf("gate: %w", err)
		}
		for _, before := range g {
			if before.Model == c.Model && before.Test == c.Test {
				return nil, fmt.Errorf("gate: %q selects the same as %q", c, before)
			}
		}
		g = append(g, c)
	}
	if len(g) > MaxConditions {
		return nil, fmt.Errorf("gate: %d conditions are more than %d", len(g), MaxConditions)
	}
	return g, nil
}

func parseCondition(item string) (Condition, error) {
	m := conditionPattern.FindStringSubmatch(item)
	if m == nil {
		return Condition{}, fmt.Errorf("%q is not of the form [MODEL/]TEST:-PERCENT%%, such as tg:-2%% or llama3/pp512:-1.5%%", item)
	}
	percent, err := strconv.ParseFloat(m[4], 64)
	if err != nil || percent > MaxPercent {
		return Condition{}, fmt.Errorf("%q: a loss of %s %% is more than %d %%", item, m[4], MaxPercent)
	}
	if m[3] == "" && percent != 0 {
		return Condition{}, fmt.Errorf("%q: a gate bounds a loss; write %s:-%s%%", item, m[2], m[4])
	}
	c := Condition{Model: m[1], Test: m[2], Loss: percent / 100}
	switch c.Test {
	case "all", "pp", "tg", "pg":
		return c, nil
	}
	test, err := bench.ParseTest(c.Test)
	if err != nil {
		return c, err
	}
	c.Test = test.String()
	return c, nil
}

// String is the condition as Parse reads it.
func (c Condition) String() string {
	text := c.Test + ":-" + strconv.FormatFloat(math.Round(c.Loss*1e5)/1e3, 'f', -1, 64) + "%"
	if c.Model != "" {
		text = c.Model + "/" + text
	}
	return text
}

// String is the gate as Parse reads it.
func (g Gate) String() string {
	list := make([]string, len(g))
	for i, c := range g {
		list[i] = c.String()
	}
	return strings.Join(list, ",")
}

// selects tells whether the condition is about a model's test.
func (c Condition) selects(model string, test bench.Test) bool {
	if c.Model != "" && c.Model != model {
		return false
	}
	name := test.String()
	switch c.Test {
	case "all":
		return true
	case "pp", "tg", "pg":
		return strings.HasPrefix(name, c.Test)
	}
	return c.Test == name
}

// Check tells which condition is about nothing that is measured: a gate that
// looks at nothing must not let everything pass.
func (g Gate) Check(models []bench.Model, tests []bench.Test) error {
	var errs []error
	for _, c := range g {
		found := false
		for _, m := range models {
			for _, t := range tests {
				found = found || c.selects(m.Alias, t)
			}
		}
		if !found {
			errs = append(errs, fmt.Errorf("gate: %s is about nothing that is measured", c))
		}
	}
	return errors.Join(errs...)
}

// State is a gate's answer.
type State string

// The answers, from good to bad.
const (
	Pass    State = "pass"
	Neutral State = "neutral"
	Fail    State = "fail"
)

// worse gives the worse of two states.
func worse(a, b State) State {
	rank := map[State]int{Pass: 0, Neutral: 1, Fail: 2}
	if rank[b] > rank[a] {
		return b
	}
	return a
}

// Finding is a condition's answer for one comparison.
type Finding struct {
	Condition Condition
	// Part is the place of the comparison's part in the list, Cell that of the
	// cell in the part.
	Part, Cell int
	State      State
	// Reason is one line for people.
	Reason string
}

// Result is what a gate says of comparisons.
type Result struct {
	State    State
	Findings []Finding
}

// Evaluate applies the gate. The p values are adjusted over the comparisons
// that the gate is about. An empty gate passes. Errors: a condition that is
// about none of the comparisons.
func (g Gate) Evaluate(parts []compare.Part) (Result, error) {
	result := Result{State: Pass}
	decisions, err := g.adjusted(parts)
	if err != nil {
		return Result{}, err
	}
	for _, c := range g {
		found := false
		for p, part := range parts {
			for i, cell := range part.Comparisons.Cells {
				if !c.selects(cell.Model, cell.Test) {
					continue
				}
				found = true
				state, reason := c.judge(part.Comparisons, cell, decisions[place{p, i}])
				result.Findings = append(result.Findings, Finding{c, p, i, state, reason})
				result.State = worse(result.State, state)
			}
		}
		if !found {
			return Result{}, fmt.Errorf("gate: %s is about nothing that was measured", c)
		}
	}
	return result, nil
}
