package inspect

import (
	"slices"
	"sort"
	"strings"
)

// packet is a group of instructions that run together.
type packet struct {
	addr, end uint32 // end is behind the last word
	first     int    // index of its first word in the function, and
	words     int    // how many it has
	ops       []operation
	next      []int // packets that may follow
	// ends0 and ends1 mark the end of a hardware loop.
	ends0, ends1 bool
	// unknown counts words that the disassembler does not know.
	unknown int
	// frame is the set of registers that point into the stack frame before it.
	frame uint32
	loop  int // innermost loop, -1 for none
}

// packets cuts a function's words at the parse bits of the instruction set
// (bits 15:14 of each word: 11 or 00 end a packet, 10 in the first word ends
// loop0, in the second loop1), so that words the disassembler does not know
// still count as what they are.
func packets(words []word) []packet {
	list := make([]packet, 0, len(words)/2+1)
	ops := make([]operation, 0, len(words)+len(words)/8) // of all packets
	for i := 0; i < len(words); {
		p := packet{addr: words[i].addr, first: i, loop: -1}
		first := len(ops)
		for {
			w := words[i]
			parse := w.code >> 14 & 3
			if parse == 2 {
				switch p.words {
				case 0:
					p.ends0 = true
				case 1:
					p.ends1 = true
				}
			}
			p.words++
			p.end = w.addr + 4
			ops = p.decode(ops, w)
			i++
			if w.last() || i >= len(words) || words[i].addr != w.addr+4 || p.words >= maxPacket {
				break
			}
		}
		p.ops = ops[first:len(ops):len(ops)]
		list = append(list, p)
	}
	return list
}

// decode appends a word's operations.
func (p *packet) decode(ops []operation, w word) []operation {
	if w.text == unknown {
		p.unknown++
		// Of vector instructions the class is known from the upper bits.
		top := w.code >> 24
		vector := top >= 0x18 && top <= 0x1f || top >= 0x28 && top <= 0x2f
		return append(ops, operation{text: w.text, vector: vector, base: -1})
	}
	for rest, more := w.text, true; more; {
		var text string
		text, rest, more = strings.Cut(rest, ";")
		text = trimBlanks(text)
		if text != "" && !strings.HasPrefix(text, "immext(") {
			ops = append(ops, operation{})
			ops[len(ops)-1].decode(text)
		}
	}
	return ops
}

func trimBlanks(text string) string {
	for text != "" && (text[0] == ' ' || text[0] == '\t') {
		text = text[1:]
	}
	for text != "" && (text[len(text)-1] == ' ' || text[len(text)-1] == '\t') {
		text = text[:len(text)-1]
	}
	return text
}

// graph is the flow of control between a function's packets.
type graph struct {
	packets []packet
	starts  [2][]hardware // hardware loops by start, loop0 and loop1
	before  [][]int       // packets that may come before
	order   []int         // reverse postorder
	rank    []int         // place in order, -1 for what is never reached
	parent  []int         // immediate dominator, -1 for an entry
}

// hardware is the start of a hardware loop and its counts as written.
type hardware struct {
	addr  uint32
	trips []string
}

func (g *graph) index(addr uint32) int {
	i := sort.Search(len(g.packets), func(i int) bool { return g.packets[i].addr >= addr })
	if i < len(g.packets) && g.packets[i].addr == addr {
		return i
	}
	return -1
}

func build(words []word) *graph {
	g := &graph{packets: packets(words)}
	g.hardwareLoops()
	for i := range g.packets {
		p := &g.packets[i]
		through := true
		for _, op := range p.ops {
			if !op.branch {
				continue
			}
			if !op.conditional {
				through = false
			}
			if to := g.index(op.target); op.target != 0 && to >= 0 {
				p.next = append(p.next, to)
			}
		}
		if p.ends0 {
			g.edge(p, 0)
		}
		if p.ends1 {
			g.edge(p, 1)
		}
		if through && i+1 < len(g.packets) {
			p.next = append(p.next, i+1)
		}
	}
	g.before = make([][]int, len(g.packets))
	for i := range g.packets {
		for _, to := range g.packets[i].next {
			g.before[to] = append(g.before[to], i)
		}
	}
	g.dominators()
	return g
}

func (g *graph) hardwareLoops() {
	for i := range g.packets {
		for _, op := range g.packets[i].ops {
			if op.loop == 0 || op.target == 0 {
				continue
			}
			starts := &g.starts[op.loop-1]
			at := slices.IndexFunc(*starts, func(h hardware) bool { return h.addr == op.target })
			if at < 0 {
				at = len(*starts)
				*starts = append(*starts, hardware{addr: op.target})
			}
			h := &(*starts)[at]
			if !slices.Contains(h.trips, op.trips) {
				h.trips = append(h.trips, op.trips)
			}
		}
	}
}

// edge adds the way back to the start of the hardware loop that a packet ends:
// the nearest start of its kind before it.
func (g *graph) edge(p *packet, kind int) {
	best := -1
	for _, h := range g.starts[kind] {
		if i := g.index(h.addr); i >= 0 && h.addr <= p.addr && i > best {
			best = i
		}
	}
	if best >= 0 {
		p.next = append(p.next, best)
	}
}

// dominators computes immediate dominators (Cooper, Harvey, Kennedy, "A Simple,
// Fast Dominance Algorithm", 2001). What only an indirect jump reaches counts
// as an entry of its own.
func (g *graph) dominators() {
	n := len(g.packets)
	g.rank, g.parent = make([]int, n), make([]int, n)
	seen := make([]bool, n)
	entry := make([]bool, n)
	var post []int
	for root := range n {
		if !seen[root] {
			entry[root] = true
			post = g.depthFirst(root, seen, post)
		}
	}
	slices.Reverse(post)
	g.order = post
	for place, i := range post {
		g.rank[i] = place
	}
	const unset = -2
	for i := range g.parent {
		g.parent[i] = unset
	}
	for changed := true; changed; {
		changed = false
		for _, i := range g.order {
			dominator := unset
			if entry[i] {
				dominator = -1
			}
			for _, b := range g.before[i] {
				switch {
				case entry[i] || g.parent[b] == unset:
				case dominator == unset:
					dominator = b
				default:
					dominator = g.meet(dominator, b)
				}
			}
			if g.parent[i] != dominator {
				g.parent[i], changed = dominator, true
			}
		}
	}
}

func (g *graph) depthFirst(root int, seen []bool, post []int) []int {
	type frame struct{ node, child int }
	stack := []frame{{root, 0}}
	seen[root] = true
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		next := g.packets[top.node].next
		if top.child < len(next) {
			to := next[top.child]
			top.child++
			if !seen[to] {
				seen[to] = true
				stack = append(stack, frame{to, 0})
			}
			continue
		}
		post = append(post, top.node)
		stack = stack[:len(stack)-1]
	}
	return post
}

// meet is the nearest common dominator; -1 stands above all entries.
func (g *graph) meet(a, b int) int {
	for a != b {
		if a < 0 || b < 0 {
			return -1
		}
		if g.rank[a] > g.rank[b] {
			a = g.parent[a]
		} else {
			b = g.parent[b]
		}
	}
	return a
}

func (g *graph) dominates(a, b int) bool {
	for b >= 0 && g.rank[b] >= g.rank[a] {
		if a == b {
			return true
		}
		b = g.parent[b]
	}
	return false
}

// fill adds to a loop's set the packets of the way back from tail to head: the
// natural loop, or the packets between the two where the head does not
// dominate the tail.
func (g *graph) fill(in []bool, head, tail int) {
	if !g.dominates(head, tail) {
		for i := head; i <= tail; i++ {
			in[i] = true
		}
		return
	}
	in[head] = true
	for stack := []int{tail}; len(stack) > 0; {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if !in[i] {
			in[i] = true
			stack = append(stack, g.before[i]...)
		}
	}
}

// jumps tells whether one of the packet's jumps leads to an address, or it ends a
// hardware loop: then there are two ways behind it.
func (p *packet) jumps(addr uint32) bool {
	return p.ends0 || p.ends1 || slices.ContainsFunc(p.ops, func(op operation) bool { return op.branch && op.target == addr })
}

// overwritten is the set of registers whose value is another one behind the
// packet in any case. A conditional write is none, but where a packet has two
// of the same register their conditions exclude each other: one takes place.
func (p *packet) overwritten() uint32 {
	var surely, perhaps uint32
	for i := range p.ops {
		op := &p.ops[i]
		if op.conditional {
			surely |= perhaps & op.defined
			perhaps |= op.defined
		} else {
			surely |= op.defined
		}
	}
	return surely
}

// staying is the set of registers that a packet's conditional writes surely
// overwrite where its conditional jump is not taken: those under the opposite
// condition, as in { if (p0) r0 = r4; if (!p0) jump 0x100 }.
func (p *packet) staying() uint32 {
	var surely uint32
	for i := range p.ops {
		if jump := &p.ops[i]; jump.branch && jump.conditional {
			left := opposite(jump.condition())
			for j := range p.ops {
				if op := &p.ops[j]; op.conditional && op.defined != 0 && op.condition() == left {
					surely |= op.defined
				}
			}
		}
	}
	return surely
}

// frames computes before each packet which registers point into the stack
// frame on some way to it. What a packet reads it reads before it writes.
func (g *graph) frames() {
	const always = 1<<stackPointer | 1<<framePointer
	// What a call may overwrite: r0 to r15, r28 and r31.
	const clobbered = 0xffff | 1<<28 | 1<<31
	// after is what holds behind a packet, through that where the next one
	// follows without a jump.
	after, through := make([]uint32, len(g.packets)), make([]uint32, len(g.packets))
	for changed := true; changed; {
		changed = false
		for _, i := range g.order {
			p := &g.packets[i]
			in := uint32(always)
			for _, b := range g.before[i] {
				if b == i-1 && !g.packets[b].jumps(p.addr) {
					in |= through[b]
				} else {
					in |= after[b]
				}
			}
			p.frame = in
			written, called := uint32(0), false
			for i := range p.ops {
				op := &p.ops[i]
				written |= op.frame(in)
				called = called || op.call && !op.conditional
			}
			out := in&^p.overwritten() | written
			if called { // after what else the packet writes
				out &^= clobbered
			}
			on := out&^p.staying() | written&out
			if out, on = out|always, on|always; out != after[i] || on != through[i] {
				after[i], through[i], changed = out, on, true
			}
		}
	}
}
