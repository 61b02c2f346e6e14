package inspect

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// Table writes one line for each function with spills, promotions, divisions
// or calls in loops, or for all; the worst in hardware loops come first.
func (l *Library) Table(w io.Writer, all bool) error {
	list := slices.Clone(l.Functions)
	slices.SortStableFunc(list, func(a, b *Function) int {
		return cmp.Or(
			cmp.Compare(b.InHardware.VectorSpills(), a.InHardware.VectorSpills()),
			cmp.Compare(b.InLoops.VectorSpills(), a.InLoops.VectorSpills()),
			cmp.Compare(b.Counts.VectorSpills(), a.Counts.VectorSpills()),
			cmp.Compare(b.InHardware.ScalarSpills(), a.InHardware.ScalarSpills()),
			cmp.Compare(b.InLoops.ScalarSpills(), a.InLoops.ScalarSpills()),
			cmp.Compare(a.Addr, b.Addr))
	})
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "packets\tinstr\tvector\tv-spills hw\tloops\tall\ts-spills hw\tloops\tall\tcalls loops\tdiv loops\tdouble loops\tall\t  function")
	shown := 0
	for _, f := range list {
		c := f.Counts
		if !all && c.VectorSpills()+f.InLoops.ScalarSpills()+f.InLoops.Calls+f.InLoops.Divisions+c.Promotions == 0 {
			continue
		}
		shown++
		fmt.Fprintf(t, "%d\t%d\t%d\t%s\t%d\t%d\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t  %s%s\n", c.Packets, c.Instructions, c.Vector,
			storesAndLoads(f.InHardware.VectorStores, f.InHardware.VectorLoads), f.InLoops.VectorSpills(), c.VectorSpills(),
			storesAndLoads(f.InHardware.ScalarStores, f.InHardware.ScalarLoads), f.InLoops.ScalarSpills(), c.ScalarSpills(),
			f.InLoops.Calls, f.InLoops.Divisions, f.InLoops.Promotions, c.Promotions, f.Name, f.note())
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return l.summary(w, shown)
}

// note says what strikes in a function.
func (f *Function) note() string {
	switch {
	case f.DMA && f.Counts.Vector > 0:
		return fmt.Sprintf("  [DMA and %d vector instructions]", f.Counts.Vector)
	case f.InHardware.VectorStores > 0 && f.InHardware.VectorLoads > 0:
		return "  [vectors go to the stack and back]"
	}
	return ""
}

func storesAndLoads(stores, loads int) string {
	if stores+loads == 0 {
		return "0"
	}
	return fmt.Sprintf("%d (%d st, %d ld)", stores+loads, stores, loads)
}

func (l *Library) summary(w io.Writer, shown int) error {
	all, hardware, loops := l.Totals()
	spilling, double := 0, 0
	for _, f := range l.Functions {
		if f.InHardware.VectorSpills() > 0 {
			spilling++
		}
		if f.Counts.Promotions > 0 {
			double++
		}
	}
	_, err := fmt.Fprintf(w, "\n%d functions, %d shown. Vector spills: %d in hardware loops of %d functions, %d in all loops, %d in all. "+
		"Scalar spills: %d, %d, %d. In loops: %d calls, %d divisions. Double precision: %d places in %d functions, %d in loops.\n",
		len(l.Functions), shown, hardware.VectorSpills(), spilling, loops.VectorSpills(), all.VectorSpills(),
		hardware.ScalarSpills(), loops.ScalarSpills(), all.ScalarSpills(), loops.Calls, loops.Divisions, all.Promotions, double, loops.Promotions)
	if n := l.Unknown(); n > 0 && err == nil {
		_, err = fmt.Fprintf(w, "%d words are unknown to this disassembler: counted as instructions, vector ones by their class, and nothing more known of them.\n", n)
	}
	return err
}

// LoopTable writes the loops of a function.
func (f *Function) LoopTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "loop\tfrom\tto\ttrips\tpackets\tinstr/packet\tvector/packet\tv-spills\ts-spills\tcalls\tdivisions\tdouble")
	for _, loop := range f.Loops {
		trips := strings.Join(loop.Trips, " or ")
		if trips == "" {
			trips = "-"
		}
		fmt.Fprintf(t, "%s%s\t0x%x\t0x%x\t%s\t%d\t%.2f\t%.2f\t%s\t%s\t%d\t%d\t%d\n", strings.Repeat("  ", loop.Depth-1), loop.Kind, loop.Start, loop.End, trips,
			loop.Packets, float64(loop.Instructions)/float64(max(1, loop.Packets)), loop.Density(),
			storesAndLoads(loop.VectorStores, loop.VectorLoads), storesAndLoads(loop.ScalarStores, loop.ScalarLoads), loop.Calls, loop.Divisions, loop.Promotions)
	}
	return t.Flush()
}

// Disassemble writes a function's packets with what was found in each.
func (l *Library) Disassemble(w io.Writer, f *Function) error {
	fmt.Fprintf(w, "%s  0x%x to 0x%x, %d bytes: %d packets, %d instructions, %d of them vector\n",
		f.Name, f.Addr, f.Addr+f.Size, f.Size, f.Counts.Packets, f.Counts.Instructions, f.Counts.Vector)
	if len(f.Loops) > 0 {
		if err := f.LoopTable(w); err != nil {
			return err
		}
	}
	source := ""
	for i := range f.graph.packets {
		p := &f.graph.packets[i]
		if l.names != nil {
			if file, line, ok := l.names.line(p.addr); ok {
				if at := fmt.Sprintf("%s:%d", file, line); at != source {
					source = at
					fmt.Fprintf(w, "; %s\n", at)
				}
			}
		}
		for n, word := range f.words[p.first : p.first+p.words] {
			open, shut := "  ", ""
			if n == 0 {
				open = "{ "
			}
			notes := ""
			if n == p.words-1 {
				shut, notes = " }", l.notes(f, p)
			}
			text := fmt.Sprintf("%8x: %08x  %s%s%s", word.addr, word.code, open, word.text, shut)
			if notes != "" {
				text = fmt.Sprintf("%-80s ; %s", text, notes)
			}
			if _, err := fmt.Fprintln(w, text); err != nil {
				return err
			}
		}
	}
	return nil
}

// notes are the remarks on a packet.
func (l *Library) notes(f *Function, p *packet) string {
	var notes []string
	for _, loop := range f.Loops {
		if loop.Start == p.addr {
			notes = append(notes, fmt.Sprintf("%s starts", loop.Kind))
		}
		if loop.End == p.end {
			notes = append(notes, fmt.Sprintf("%s ends", loop.Kind))
		}
	}
	where := ""
	if p.loop >= 0 {
		where = " in " + string(f.Loops[p.loop].Kind)
	}
	for _, op := range p.ops {
		if op.spill(p.frame) {
			kind, direction := "scalar", "load"
			if op.wide {
				kind = "vector"
			}
			if op.store {
				direction = "store"
			}
			through := ""
			if op.base != stackPointer && op.base != framePointer {
				through = fmt.Sprintf(" through r%d", op.base)
			}
			notes = append(notes, fmt.Sprintf("%s %s%s%s", kind, direction, through, where))
		}
		if op.call {
			name := l.nameAt(op.target)
			notes = append(notes, "call "+name+where)
		}
		if op.divides {
			notes = append(notes, "division"+where)
		}
		if op.promotes {
			notes = append(notes, "double precision"+where)
		}
	}
	return strings.Join(notes, ", ")
}

// nameAt names the function that begins at an address, or gives the address.
func (l *Library) nameAt(addr uint32) string {
	for _, f := range l.Functions {
		if f.Addr == addr {
			return f.Name
		}
	}
	if name := l.names.linked(addr); name != "" {
		return name
	}
	if addr == 0 {
		return "through a register"
	}
	return fmt.Sprintf("0x%x", addr)
}

// Change is how a function differs between two builds. Before or After is nil
// where the function is in one build only.
type Change struct {
	Name          string
	Before, After *Function
}

// Compare matches the functions of two builds by name, without the suffixes of
// a compiler where that is unique, and gives those that differ in length,
// spills, calls or double precision; the greatest growth comes first.
func Compare(before, after *Library) []Change {
	var changes []Change
	old := byName(before)
	used := map[*Function]bool{}
	for _, f := range after.Functions {
		match := old[f.Name]
		if match == nil {
			match = old[baseName(f.Name)]
		}
		if match != nil && used[match] {
			match = nil
		}
		if match != nil {
			used[match] = true
		}
		if match == nil || match.Counts != f.Counts || match.InHardware != f.InHardware || match.InLoops != f.InLoops {
			changes = append(changes, Change{f.Name, match, f})
		}
	}
	for _, f := range before.Functions {
		if !used[f] {
			changes = append(changes, Change{f.Name, f, nil})
		}
	}
	slices.SortStableFunc(changes, func(a, b Change) int { return cmp.Compare(b.growth(), a.growth()) })
	return changes
}

func byName(l *Library) map[string]*Function {
	names := map[string]*Function{}
	for _, f := range l.Functions {
		if names[f.Name] == nil {
			names[f.Name] = f
		}
	}
	for _, f := range l.Functions {
		if base := baseName(f.Name); names[base] == nil {
			names[base] = f
		}
	}
	return names
}

func (c Change) counts() (before, after, hardwareBefore, hardwareAfter Counts) {
	if c.Before != nil {
		before, hardwareBefore = c.Before.Counts, c.Before.InHardware
	}
	if c.After != nil {
		after, hardwareAfter = c.After.Counts, c.After.InHardware
	}
	return before, after, hardwareBefore, hardwareAfter
}

func (c Change) growth() int {
	before, after, _, _ := c.counts()
	return after.Packets - before.Packets
}

// WriteChanges writes a table of changes, and below each function the loops
// whose spills or length changed.
func WriteChanges(w io.Writer, changes []Change) error {
	for _, c := range changes {
		before, after, hb, ha := c.counts()
		what := ""
		switch {
		case c.Before == nil:
			what = " (new)"
		case c.After == nil:
			what = " (gone)"
		}
		fmt.Fprintf(w, "%s%s: packets %d -> %d (%+d), vector spills in hardware loops %d -> %d, scalar %d -> %d, double precision %d -> %d\n",
			c.Name, what, before.Packets, after.Packets, after.Packets-before.Packets, hb.VectorSpills(), ha.VectorSpills(), hb.ScalarSpills(), ha.ScalarSpills(), before.Promotions, after.Promotions)
		if c.Before == nil || c.After == nil {
			continue
		}
		writeLoopChanges(w, c.Before.Loops, c.After.Loops)
	}
	_, err := fmt.Fprintf(w, "%d functions differ\n", len(changes))
	return err
}

// writeLoopChanges pairs loops by their order where both builds have as many.
func writeLoopChanges(w io.Writer, before, after []Loop) {
	if len(before) != len(after) {
		fmt.Fprintf(w, "  loops: %d -> %d\n", len(before), len(after))
		return
	}
	for i, b := range before {
		a := after[i]
		if b.Counts == a.Counts {
			continue
		}
		fmt.Fprintf(w, "  %s at 0x%x -> %s at 0x%x: packets %d -> %d, vector spills %d -> %d, scalar %d -> %d, vector/packet %.2f -> %.2f\n",
			b.Kind, b.Start, a.Kind, a.Start, b.Packets, a.Packets, b.VectorSpills(), a.VectorSpills(), b.ScalarSpills(), a.ScalarSpills(), b.Density(), a.Density())
	}
}
