// Package inspect examines Hexagon ELF libraries: register spills, double
// precision, divisions and calls, above all inside loops; how dense the loops
// are in vector instructions; vector work in DMA workers. It reads the listing
// that llvm-objdump makes and the library's own symbols and line tables.
package inspect

import (
	"cmp"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Counts are what is counted over a stretch of code.
type Counts struct {
	Packets, Instructions, Vector, Matrix int
	// Spills are loads from and stores to the stack frame.
	VectorStores, VectorLoads, ScalarStores, ScalarLoads int
	// Calls are all calls; Divisions those of division routines, and inline
	// divisions; Promotions those of routines in double precision or of
	// conversion between formats, and such instructions.
	Calls, Divisions, Promotions int
}

// VectorSpills is the number of vector loads and stores of the frame.
func (c Counts) VectorSpills() int { return c.VectorStores + c.VectorLoads }

// ScalarSpills is the number of scalar loads and stores of the frame.
func (c Counts) ScalarSpills() int { return c.ScalarStores + c.ScalarLoads }

// Density is the number of vector instructions in a packet, on average.
func (c Counts) Density() float64 {
	if c.Packets == 0 {
		return 0
	}
	return float64(c.Vector) / float64(c.Packets)
}

func (c *Counts) add(o Counts) {
	c.Packets += o.Packets
	c.Instructions += o.Instructions
	c.Vector += o.Vector
	c.Matrix += o.Matrix
	c.VectorStores += o.VectorStores
	c.VectorLoads += o.VectorLoads
	c.ScalarStores += o.ScalarStores
	c.ScalarLoads += o.ScalarLoads
	c.Calls += o.Calls
	c.Divisions += o.Divisions
	c.Promotions += o.Promotions
}

// LoopKind tells how a loop goes back.
type LoopKind string

// The kinds of loops: the two hardware loops, and branches.
const (
	Loop0      LoopKind = "loop0"
	Loop1      LoopKind = "loop1"
	BranchLoop LoopKind = "branch"
)

// Loop is one loop of a function.
type Loop struct {
	Kind LoopKind
	// Start and End are addresses, End behind the last packet.
	Start, End uint32
	// Depth is 1 for an outermost loop.
	Depth int
	// Trips are the counts as the code states them, numbers or registers.
	Trips []string
	Counts
	packets []int
}

// Function is what was found in one function.
type Function struct {
	Name       string
	Addr, Size uint32
	// Counts are the whole function's; InHardware those in hardware loops,
	// InLoops those in any loop.
	Counts
	InHardware, InLoops Counts
	Loops               []Loop
	// DMA is set when the function itself starts, links or polls DMA.
	DMA bool
	// Unknown counts words that the disassembler does not know.
	Unknown int

	graph *graph
	words []word
}

// Library is an examined library.
type Library struct {
	Functions []*Function
	names     *Symbols
}

// Analyse examines a listing of llvm-objdump -d. Symbols, which may be nil, give
// calls into other libraries their names, and words to refused packets and to a
// listing without them; what the disassembler says of refused ones one by one is
// asked from again, which may be nil too.
func Analyse(listing string, names *Symbols, again Disassembler) (*Library, error) {
	var codeAt func(uint32) (uint32, bool)
	if names != nil {
		codeAt = names.word
	}
	functions, err := parseListing(listing, codeAt)
	if err != nil {
		return nil, err
	}
	if len(functions) == 0 {
		return nil, fmt.Errorf("the listing holds no functions: is it one of llvm-objdump -d?")
	}
	if names != nil {
		for i := range functions {
			names.fill(&functions[i])
		}
	}
	if again != nil {
		if err := alone(functions, again); err != nil {
			return nil, err
		}
	}
	l := &Library{names: names}
	local := map[uint32]string{}
	for _, f := range functions {
		local[f.addr] = f.name
	}
	called := func(addr uint32) string {
		if name := local[addr]; name != "" && name != ".plt" {
			return name
		}
		return names.linked(addr)
	}
	functions = slices.DeleteFunc(functions, func(f listed) bool { return f.name == ".plt" || len(f.words) == 0 })
	l.Functions = make([]*Function, len(functions))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(functions); i = int(next.Add(1)) - 1 {
				l.Functions[i] = examine(functions[i], called)
			}
		})
	}
	workers.Wait()
	return l, nil
}

// Select keeps the functions whose name matches.
func (l *Library) Select(name *regexp.Regexp) *Library {
	kept := &Library{names: l.names}
	for _, f := range l.Functions {
		if name == nil || name.MatchString(f.Name) {
			kept.Functions = append(kept.Functions, f)
		}
	}
	return kept
}

// Unknown is the number of words that the disassembler does not know.
func (l *Library) Unknown() int {
	n := 0
	for _, f := range l.Functions {
		n += f.Unknown
	}
	return n
}

func examine(f listed, called func(uint32) string) *Function {
	g := build(f.words)
	g.frames()
	out := &Function{Name: f.name, Addr: f.addr, graph: g, words: f.words}
	out.Size = f.words[len(f.words)-1].addr + 4 - f.addr
	counts := make([]Counts, len(g.packets))
	for i := range g.packets {
		p := &g.packets[i]
		counts[i] = count(p, called)
		out.Counts.add(counts[i])
		out.Unknown += p.unknown
		out.DMA = out.DMA || slices.ContainsFunc(p.ops, func(op operation) bool { return op.dma })
	}
	out.loops(counts)
	return out
}

// count adds up one packet.
func count(p *packet, called func(uint32) string) Counts {
	c := Counts{Packets: 1, Instructions: len(p.ops)}
	for _, op := range p.ops {
		if op.vector {
			c.Vector++
		}
		if op.matrix {
			c.Matrix++
		}
		if op.spill(p.frame) {
			switch {
			case op.wide && op.store:
				c.VectorStores++
			case op.wide:
				c.VectorLoads++
			case op.store:
				c.ScalarStores++
			default:
				c.ScalarLoads++
			}
		}
		if op.promotes {
			c.Promotions++
		}
		if op.divides {
			c.Divisions++
		}
		if op.call {
			c.Calls++
			name := called(op.target)
			if promotion.MatchString(name) {
				c.Promotions++
			}
			if division.MatchString(name) {
				c.Divisions++
			}
		}
	}
	return c
}

// spill tells whether the instruction loads from or stores to the frame.
func (op *operation) spill(frame uint32) bool {
	return op.memory && op.base >= 0 && frame>>op.base&1 == 1
}

var (
	// promotion matches the compiler's routines that convert between floating
	// point formats or compute in double precision.
	promotion = regexp.MustCompile(`^__(hexagon_)?(trunc|extend)|^__(hexagon_|qdsp_)?(fast_|fast2_)?(add|sub|mul|div|sqrt|fma|neg|cmp)df[0-9]?`)
	// division matches its routines of division and remainder.
	division = regexp.MustCompile(`^__(hexagon_|qdsp_)?(fast_|fast2_)?u?(div|mod|divmod)[sdt][fi][0-9]?`)
)

// loops finds the function's loops by the edges that go back, and adds up what
// is in them.
func (f *Function) loops(counts []Counts) {
	g := f.graph
	byHead, sets := map[int]*Loop{}, map[int][]bool{}
	var heads []int
	for tail := range g.packets {
		p := &g.packets[tail]
		for _, head := range p.next {
			hw := p.ends0 && g.starts0(0, g.packets[head].addr) || p.ends1 && g.starts0(1, g.packets[head].addr)
			if head > tail || !hw && !g.dominates(head, tail) {
				continue
			}
			l := byHead[head]
			if l == nil {
				l = &Loop{Kind: BranchLoop, Start: g.packets[head].addr}
				byHead[head], sets[head] = l, make([]bool, len(g.packets))
				heads = append(heads, head)
			}
			if kind, trips := g.hardwareKind(p, g.packets[head].addr); kind != "" {
				l.Kind, l.Trips = kind, trips
			}
			g.fill(sets[head], head, tail)
		}
	}
	slices.Sort(heads)
	inAny, inHardware := make([]bool, len(counts)), make([]bool, len(counts))
	for _, head := range heads {
		l := byHead[head]
		for i, in := range sets[head] {
			if !in {
				continue
			}
			l.packets = append(l.packets, i)
			l.Counts.add(counts[i])
			inAny[i] = true
			inHardware[i] = inHardware[i] || l.Kind != BranchLoop
			l.End = max(l.End, g.packets[i].end)
		}
		f.Loops = append(f.Loops, *l)
	}
	f.nest()
	for i, c := range counts {
		if inAny[i] {
			f.InLoops.add(c)
		}
		if inHardware[i] {
			f.InHardware.add(c)
		}
	}
}

// nest computes each loop's depth and each packet's innermost loop.
func (f *Function) nest() {
	bySize := make([]int, len(f.Loops))
	for i := range bySize {
		bySize[i] = i
	}
	slices.SortStableFunc(bySize, func(a, b int) int { return cmp.Compare(len(f.Loops[b].packets), len(f.Loops[a].packets)) })
	for _, i := range bySize {
		l := &f.Loops[i]
		l.Depth = 1
		if outer := f.graph.packets[l.packets[0]].loop; outer >= 0 {
			l.Depth = f.Loops[outer].Depth + 1
		}
		for _, p := range l.packets {
			f.graph.packets[p].loop = i
		}
	}
}

// starts0 tells whether a hardware loop of a kind starts at an address.
func (g *graph) starts0(kind int, addr uint32) bool {
	return slices.ContainsFunc(g.starts[kind], func(h hardware) bool { return h.addr == addr })
}

// hardwareKind tells whether the way from a packet back to an address is a
// hardware loop's, and its counts.
func (g *graph) hardwareKind(p *packet, start uint32) (LoopKind, []string) {
	for kind, ends := range []bool{p.ends0, p.ends1} {
		for _, h := range g.starts[kind] {
			if ends && h.addr == start {
				return []LoopKind{Loop0, Loop1}[kind], h.trips
			}
		}
	}
	return "", nil
}

// Violation is what strict checks do not let pass.
type Violation struct {
	Function string
	Text     string
}

// Limits bound what strict checks let pass.
type Limits struct {
	// VectorSpills is the number of vector spills in the hardware loops of one
	// function, Promotions that of promotions in one function, DMAVector that
	// of vector instructions in a DMA worker; a negative limit checks nothing.
	VectorSpills, Promotions, DMAVector int
	// StoresOnly leaves out loads of vectors that a loop never stores.
	StoresOnly bool
	// Workers matches the names of DMA workers.
	Workers *regexp.Regexp
}

// Check lists what goes beyond the limits.
func (l *Library) Check(limits Limits) []Violation {
	var found []Violation
	for _, f := range l.Functions {
		report := func(limit, n int, what string) {
			if limit >= 0 && n > limit {
				found = append(found, Violation{f.Name, fmt.Sprintf("%d %s, %d allowed", n, what, limit)})
			}
		}
		spills, what := f.InHardware.VectorSpills(), "vector spills in hardware loops"
		if limits.StoresOnly {
			spills, what = f.InHardware.VectorStores, "vector stores to the stack in hardware loops"
		}
		report(limits.VectorSpills, spills, what)
		report(limits.Promotions, f.Counts.Promotions, "promotions to double precision")
		if limits.Workers != nil && limits.Workers.MatchString(f.Name) {
			report(limits.DMAVector, f.Counts.Vector, "vector instructions in a DMA worker")
		}
	}
	return found
}

// Totals sums over the functions.
func (l *Library) Totals() (all, inHardware, inLoops Counts) {
	for _, f := range l.Functions {
		all.add(f.Counts)
		inHardware.add(f.InHardware)
		inLoops.add(f.InLoops)
	}
	return all, inHardware, inLoops
}

// baseName takes a compiler's suffix such as .134 or .llvm.5 from a function's
// name.
func baseName(name string) string {
	base, _, _ := strings.Cut(name, ".")
	if base == "" {
		return name
	}
	return base
}
