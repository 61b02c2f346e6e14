package report

import (
	"bytes"
	"fmt"
	"sort"
	"strings"

	"hexab/internal/bench"
	"hexab/internal/compare"
	"hexab/internal/gate"
	"hexab/internal/stat"
)

// Review is what a pull request is told: the comparisons of one or several
// devices, and what the gate says of them.
type Review struct {
	Parts  []compare.Part
	Gate   gate.Gate
	Result gate.Result
	// Head is the commit that was asked about; Base may be empty.
	Head, Base string
	// Notes are what is missing or was refused, for people.
	Notes []string
}

// reviewRow is one comparison in the merged table.
type reviewRow struct {
	device, arm string
	model       string
	test        bench.Test
	base, head  string
	difference  string
	q, verdict  string
	cell        compare.Cell
	estimate    float64 // percent
	lo, hi      float64
}

// The classes of rows, in the order in which they are kept when a text grows
// too long: what is slower goes last.
const (
	classSlower = iota
	classNone
	classFaster
	classInconclusive
	classEquivalent
	classes
)

var classNames = [classes]string{"slower", "without a verdict", "faster", "inconclusive", "equivalent"}

func (r reviewRow) class() int {
	switch d := r.cell.Decision; {
	case d == nil:
		return classNone
	case d.Verdict == stat.Slower:
		return classSlower
	case d.Verdict == stat.Faster:
		return classFaster
	case d.Verdict == stat.Equivalent:
		return classEquivalent
	}
	return classInconclusive
}

func (r Review) rows() []reviewRow {
	var rows []reviewRow
	names := r.deviceNames()
	for i, part := range r.Parts {
		v := newView(part.Comparisons, part.Run)
		for _, cell := range part.Comparisons.Cells {
			p := place{cell.Model, cell.Test, cell.Arm}
			m := bench.Model{Alias: cell.Model, StandIn: cell.StandIn}
			value, bounds := v.difference(p)
			row := reviewRow{
				device: names[i], arm: armName(part.Run, cell.Arm), model: modelName(m), test: cell.Test,
				base: v.speed(place{cell.Model, cell.Test, cell.Baseline}), head: v.speed(p),
				difference: strings.TrimSpace(value + " " + bounds), q: v.q(p), verdict: v.verdict(p), cell: cell,
			}
			if d := cell.Decision; d != nil {
				row.estimate, row.lo, row.hi = d.Estimate.Percent(), d.Interval.Lo.Percent(), d.Interval.Hi.Percent()
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// armName is an arm's label without its tree, shortened for a table.
func armName(run bench.Run, label string) string {
	for _, a := range run.Arms {
		if a.Label == label && a.Tree != "" {
			label = strings.TrimPrefix(label, a.Tree+":")
		}
	}
	return shorten(clean(label), maxArmName)
}

// deviceNames names the device of each part; devices of one name are numbered.
func (r Review) deviceNames() []string {
	names, serials := make([]string, len(r.Parts)), map[string][]string{}
	for i, part := range r.Parts {
		d := part.Run.Device
		name := d.Properties["model"]
		if name == "" {
			name = d.Serial
		}
		name = shorten(clean(name), maxModelName)
		key := d.Serial + "\x00" + part.Run.ID
		at := -1
		for n, known := range serials[name] {
			if known == key {
				at = n
			}
		}
		if at < 0 {
			at = len(serials[name])
			serials[name] = append(serials[name], key)
		}
		if names[i] = name; at > 0 {
			names[i] = fmt.Sprintf("%s (%d)", name, at+1)
		}
	}
	return names
}

// simulated tells whether any figure is simulated.
func (r Review) simulated() bool {
	for _, part := range r.Parts {
		if part.Comparisons.Simulated {
			return true
		}
	}
	return false
}

// Headline is the verdicts in a few words, such as "1 slower, 7 equivalent".
func (r Review) Headline() string {
	rows := r.rows()
	if len(rows) == 0 {
		return "no result"
	}
	var count [classes]int
	same := true
	for _, row := range rows {
		count[row.class()]++
		same = same && row.cell.AA
	}
	if same {
		return "base and head build the same files"
	}
	var list []string
	for class, n := range count {
		if n > 0 {
			list = append(list, fmt.Sprintf("%d %s", n, classNames[class]))
		}
	}
	return strings.Join(list, ", ")
}

// Short is the first characters of a commit's hash.
func Short(commit string) string { return commit[:min(len(commit), 12)] }

// Markdown renders the review for a comment, a check run or a step summary
// within so many bytes: verdicts first, then the table, then a folded part.
// Where it would be longer, the chart goes first, then the folded part, then
// rows: those that are equivalent, inconclusive, faster, without a verdict and
// slower, in this order.
func (r Review) Markdown(limit int) []byte {
	rows := r.rows()
	head := r.lead(rows)
	chart := mermaid(rows)
	details := r.details()
	for _, form := range []struct{ chart, details []byte }{{chart, details}, {nil, details}, {nil, r.shortDetails()}} {
		if text := join(head, r.table(rows, 0), form.chart, form.details); len(text) <= limit {
			return text
		}
	}
	order := shedding(rows)
	for lost := 1; lost <= len(rows); lost++ {
		kept := without(rows, order[:lost])
		if text := join(head, r.table(kept, lost), nil, r.shortDetails()); len(text) <= limit {
			return text
		}
	}
	return clip(head, limit)
}

// clip cuts at the end of a line.
func clip(text []byte, limit int) []byte {
	if len(text) <= limit {
		return text
	}
	end := bytes.LastIndexByte(text[:max(limit, 0)], '\n')
	return text[:end+1]
}

func join(parts ...[]byte) []byte {
	var list [][]byte
	for _, part := range parts {
		if len(part) > 0 {
			list = append(list, part)
		}
	}
	return bytes.Join(list, []byte("\n"))
}

// shedding lists the rows' places in the order in which they are left out.
func shedding(rows []reviewRow) []int {
	order := make([]int, len(rows))
	for i := range order {
		order[i] = len(rows) - 1 - i
	}
	sort.SliceStable(order, func(a, b int) bool { return rows[order[a]].class() > rows[order[b]].class() })
	return order
}

func without(rows []reviewRow, lost []int) []reviewRow {
	gone := map[int]bool{}
	for _, i := range lost {
		gone[i] = true
	}
	var kept []reviewRow
	for i, row := range rows {
		if !gone[i] {
			kept = append(kept, row)
		}
	}
	return kept
}

// maxVerdicts bounds the verdicts that are spelt out above the table.
const maxVerdicts = 8

// lead is the verdicts: headline, gate, what is slower and faster, and where
// that was measured.
func (r Review) lead(rows []reviewRow) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "### hexab: %s\n\n", markdown(r.Headline()))
	r.leadGate(&b)
	for _, class := range []int{classSlower, classNone, classFaster} {
		var lines []string
		for _, row := range rows {
			if row.class() == class {
				lines = append(lines, r.sentence(row))
			}
		}
		for _, line := range bounded(lines, maxVerdicts) {
			b.WriteString("- " + markdown(line) + "\n")
		}
	}
	if b.Bytes()[b.Len()-2] != '\n' {
		b.WriteByte('\n')
	}
	for _, note := range bounded(r.Notes, maxVerdicts) {
		b.WriteString("**" + markdown(shorten(clean(note), 300)) + "**\n\n")
	}
	b.WriteString(markdown(r.setting()) + "\n")
	for i, part := range r.Parts {
		v := newView(part.Comparisons, part.Run)
		if state := v.state(); state != "" {
			fmt.Fprintf(&b, "\n**%s**\n", markdown(r.deviceNames()[i]+": "+state))
		}
	}
	return b.Bytes()
}

func (r Review) leadGate(b *bytes.Buffer) {
	if len(r.Gate) == 0 || len(r.Parts) == 0 {
		return
	}
	word := map[gate.State]string{gate.Pass: "passed", gate.Neutral: "can not tell", gate.Fail: "failed"}[r.Result.State]
	fmt.Fprintf(b, "**Gate %s: %s**\n\n", markdown(r.Gate.String()), word)
	var lines []string
	for _, state := range []gate.State{gate.Fail, gate.Neutral} {
		for _, f := range r.Result.Findings {
			if f.State == state {
				lines = append(lines, r.finding(f))
			}
		}
	}
	for _, line := range bounded(lines, maxVerdicts) {
		b.WriteString("- " + markdown(shorten(clean(line), 300)) + "\n")
	}
	if len(lines) > 0 {
		b.WriteByte('\n')
	}
}

// finding is one answer of the gate in words.
func (r Review) finding(f gate.Finding) string {
	part := r.Parts[f.Part]
	cell := part.Comparisons.Cells[f.Cell]
	text := map[gate.State]string{gate.Fail: "fails", gate.Neutral: "open", gate.Pass: "holds"}[f.State]
	text += fmt.Sprintf(" %s: %s %s", f.Condition, cell.Model, cell.Test)
	if r.severalArms() {
		text += " " + armName(part.Run, cell.Arm)
	}
	if r.severalDevices() {
		text += " on " + r.deviceNames()[f.Part]
	}
	return text + ": " + f.Reason
}

// sentence is one verdict in words.
func (r Review) sentence(row reviewRow) string {
	where := row.model + " " + row.test.String()
	if r.severalArms() {
		where += " " + row.arm
	}
	if r.severalDevices() {
		where += " on " + row.device
	}
	if row.cell.Decision == nil {
		return where + ": no verdict: " + shorten(clean(row.cell.NoVerdict), 200)
	}
	return fmt.Sprintf("%s: %s, %s", where, row.verdict, row.difference)
}

func (r Review) severalDevices() bool {
	names := r.deviceNames()
	for _, name := range names {
		if name != names[0] {
			return true
		}
	}
	return false
}

func (r Review) severalArms() bool {
	name := ""
	for _, part := range r.Parts {
		for _, cell := range part.Comparisons.Cells {
			if other := armName(part.Run, cell.Arm); name == "" {
				name = other
			} else if other != name {
				return true
			}
		}
	}
	return false
}

// setting says what was compared, where and how.
func (r Review) setting() string {
	text := "Head " + Short(r.Head)
	if r.Base != "" {
		text += " against base " + Short(r.Base)
	}
	names := r.deviceNames()
	var devices []string
	for i, part := range r.Parts {
		run := part.Run
		device := fmt.Sprintf("%s (%s): %d rounds of interleaved launches in seeded order, seed %d", names[i], run.Device.Platform, run.Rounds, run.Seed)
		if part.Comparisons.Simulated {
			device += "; " + compare.SimulatedNotice
		}
		if len(devices) == 0 || devices[len(devices)-1] != device {
			devices = append(devices, device)
		}
	}
	if devices == nil {
		return text + "."
	}
	return text + ". " + strings.Join(bounded(devices, maxVerdicts), ". ") + "."
}
