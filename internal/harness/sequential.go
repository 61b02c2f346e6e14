package harness

import (
	"hexab/internal/bench"
	"hexab/internal/stat"
	"hexab/internal/store"
)

// looks are the points at which a run may stop, from its head alone: they were
// declared before its first launch.
func looks(run bench.Run) ([]stat.Look, error) {
	o := stat.DefaultOptions()
	return stat.Looks(run.MaxRounds, max(1, len(run.Arms)), o.Alpha, o.Resamples)
}

// ended gives a run as far as it went, with the records of that part. A run
// without Until is as long as planned. One with it ends at the first look where
// every interval is narrow enough; until then at the next look, or at the one
// that is not complete yet. It follows from head and journal alone.
func ended(run bench.Run, records []bench.Record) (bench.Run, []bench.Record, error) {
	if run.Until == 0 {
		return run, records, nil
	}
	list, err := looks(run)
	if err != nil {
		return run, records, err
	}
	for i, look := range list {
		part, done := upTo(run, look.Blocks), within(records, run, look.Blocks)
		if i == len(list)-1 || !complete(part, done) {
			return part, done, nil
		}
		c, err := judge(part, done)
		if err != nil {
			return run, records, err
		}
		var decisions []stat.Decision
		for _, cell := range c.Cells {
			if cell.Decision != nil { // a cell that was given up keeps none waiting
				decisions = append(decisions, *cell.Decision)
			}
		}
		if stat.Narrow(decisions, run.Until) {
			return part, done, nil
		}
	}
	return run, records, nil
}

// sofar gives an archived run as far as it went.
func sofar(a *store.Archive) (bench.Run, []bench.Record, error) {
	records, err := a.Records()
	if err != nil {
		return a.Run(), nil, err
	}
	return ended(a.Run(), records)
}

// upTo is a run of so many blocks, the first of the plan.
func upTo(run bench.Run, blocks int) bench.Run {
	part := run
	part.Rounds, part.Plan = blocks, nil
	for _, l := range run.Plan {
		if l.Block < blocks {
			part.Plan = append(part.Plan, l)
		}
	}
	return part
}

// within are the records of the first blocks.
func within(records []bench.Record, run bench.Run, blocks int) []bench.Record {
	var part []bench.Record
	for _, r := range records {
		if r.Seq >= 0 && r.Seq < len(run.Plan) && r.Block < blocks {
			part = append(part, r)
		}
	}
	return part
}

// complete tells whether every launch has a record that is final.
func complete(run bench.Run, records []bench.Record) bool {
	last := map[int]bench.Record{}
	for _, r := range records {
		last[r.Seq] = r
	}
	for _, l := range run.Plan {
		if r, ok := last[l.Seq]; !ok || repeatable(r) {
			return false
		}
	}
	return true
}

// enough tells whether the run has ended at a look just before the launch.
func (s *session) enough(l bench.Launch) (bool, error) {
	if s.run.Until == 0 || l.Block == 0 || l.Seq > 0 && s.run.Plan[l.Seq-1].Block == l.Block {
		return false, nil
	}
	part, _, err := sofar(s.archive)
	if err != nil || part.Rounds > l.Block {
		return false, err
	}
	s.w.Note("after %d rounds every interval is within %.3g %% to either side: the run ends here", part.Rounds, 100*s.run.Until)
	return true, nil
}
