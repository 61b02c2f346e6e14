package opprofile

import (
	"cmp"
	"slices"
	"strings"
)

// Span is a stretch of work of one thread, in cycles since the batch began.
type Span struct {
	Kind   string
	Thread int
	Info   uint32
	// From and To are cycles; To is not before From.
	From, To uint64
}

// dmaKind is the kind of event that the DMA queue traces: from the push of a
// transfer to the pop that waited for it.
const dmaKind = "DMA"

// clock unwraps the lower halves of cycle counters that were read one after
// the other: each is taken to be less than 2^32 cycles (about 2 s) after the
// one before it.
type clock struct {
	low uint32
	now uint64
}

func (c *clock) at(low uint32) uint64 {
	c.now += uint64(low - c.low)
	c.low = low
	return c.now
}

// Spans pairs a batch's starts and stops. Events that have no partner, because
// the trace was full or began late, are counted in lost. Transfers carry a
// number, by which starts and stops of DMA find each other; other kinds nest.
func (b *Batch) Spans() (spans []Span, lost int) {
	type key struct {
		thread int
		kind   string
	}
	type begun struct {
		info uint32
		at   uint64
	}
	open, clocks := map[key][]begun{}, map[int]*clock{}
	for _, e := range b.Events {
		c := clocks[e.Thread]
		if c == nil {
			c = &clock{low: uint32(b.Start)}
			clocks[e.Thread] = c
		}
		k, now := key{e.Thread, e.Kind}, c.at(e.Cycles)
		if !e.Stop {
			open[k] = append(open[k], begun{e.Info, now})
			continue
		}
		waiting := open[k]
		at := len(waiting) - 1
		if e.Kind == dmaKind {
			at = slices.IndexFunc(waiting, func(x begun) bool { return x.info == e.Info })
		}
		if at < 0 {
			lost++
			continue
		}
		spans = append(spans, Span{Kind: e.Kind, Thread: e.Thread, Info: waiting[at].info, From: waiting[at].at, To: now})
		open[k] = slices.Delete(waiting, at, at+1)
	}
	for _, waiting := range open {
		lost += len(waiting)
	}
	slices.SortStableFunc(spans, func(x, y Span) int {
		return cmp.Or(cmp.Compare(x.From, y.From), cmp.Compare(y.To, x.To), cmp.Compare(x.Thread, y.Thread))
	})
	return spans, lost
}

// computes tells whether a kind of event is work of the vector or matrix units.
func computes(kind string) bool {
	return strings.HasPrefix(kind, "HVX_") || strings.HasPrefix(kind, "HMX_")
}

// Overlap is how DMA and computation share the time, in cycles over all
// batches.
type Overlap struct {
	// DMA and Compute are the cycles in which any thread has a transfer under
	// way, or computes; Both those in which both is so.
	DMA, Compute, Both uint64
	// Lost counts trace events without a partner.
	Lost int
}

// Fraction is the part of the DMA's time in which something computes, 0 to 1;
// 0 without DMA.
func (o Overlap) Fraction() float64 {
	if o.DMA == 0 {
		return 0
	}
	return float64(o.Both) / float64(o.DMA)
}

// Overlap measures a log's traces.
func (l *Log) Overlap() Overlap {
	var total Overlap
	for i := range l.Batches {
		spans, lost := l.Batches[i].Spans()
		total.Lost += lost
		var dma, compute [][2]uint64
		for _, s := range spans {
			switch {
			case s.Kind == dmaKind:
				dma = append(dma, [2]uint64{s.From, s.To})
			case computes(s.Kind):
				compute = append(compute, [2]uint64{s.From, s.To})
			}
		}
		dma, compute = union(dma), union(compute)
		total.DMA += length(dma)
		total.Compute += length(compute)
		total.Both += shared(dma, compute)
	}
	return total
}

// union merges stretches that touch.
func union(stretches [][2]uint64) [][2]uint64 {
	slices.SortFunc(stretches, func(a, b [2]uint64) int { return cmp.Compare(a[0], b[0]) })
	var merged [][2]uint64
	for _, s := range stretches {
		if n := len(merged); n > 0 && s[0] <= merged[n-1][1] {
			merged[n-1][1] = max(merged[n-1][1], s[1])
			continue
		}
		merged = append(merged, s)
	}
	return merged
}

func length(stretches [][2]uint64) uint64 {
	var n uint64
	for _, s := range stretches {
		n += s[1] - s[0]
	}
	return n
}

// shared is the length of what two unions have in common.
func shared(a, b [][2]uint64) uint64 {
	var n uint64
	for i, j := 0, 0; i < len(a) && j < len(b); {
		if from, to := max(a[i][0], b[j][0]), min(a[i][1], b[j][1]); to > from {
			n += to - from
		}
		if a[i][1] < b[j][1] {
			i++
		} else {
			j++
		}
	}
	return n
}
