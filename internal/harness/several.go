package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"hexab/internal/report"
	"hexab/internal/store"
)

// faultOption is an option of a fault in an embedded phone's profile, which
// commas part as well: sim:cool+drop:after=launch,nth=2.
var faultOption = regexp.MustCompile(`^[a-z]+=`)

// splitDevices takes a list of devices apart.
func splitDevices(list string) ([]string, error) {
	var devices []string
	for _, item := range strings.Split(list, ",") {
		item = strings.TrimSpace(item)
		if n := len(devices); n > 0 && faultOption.MatchString(item) && strings.HasPrefix(devices[n-1], "sim:") {
			devices[n-1] += "," + item
			continue
		}
		devices = append(devices, item)
	}
	if len(devices) == 1 {
		return devices, nil
	}
	seen := map[string]bool{}
	for _, d := range devices {
		switch {
		case d == "" || d == "auto":
			return nil, usage("device: %q in a list of devices names none", d)
		case seen[d] && d != "sim" && !strings.HasPrefix(d, "sim:"):
			return nil, usage("device: %s stands twice", d)
		}
		seen[d] = true
	}
	return devices, nil
}

// part is what a run on one of several devices has to itself.
type part struct {
	// name is the device as it was asked for, made unique.
	name string
	out  bytes.Buffer
	err  io.Writer
	// place numbers the embedded phones, each of which has a folder of its own.
	place int
	// turn is held while a part builds: the others wait for what it makes.
	turn     *sync.Mutex
	released sync.Once

	dir     string
	failure error
}

// apply makes a workspace the part's.
func (p *part) apply(w *Workspace) {
	if p == nil {
		return
	}
	w.Out, w.Err, w.part = &p.out, p.err, p
	w.meter = newMeter(p.err)
}

func (p *part) begin() {
	if p != nil {
		p.turn.Lock()
	}
}

// built lets the next part build.
func (p *part) built() {
	if p != nil {
		p.released.Do(p.turn.Unlock)
	}
}

// folder is a folder's name for the part's embedded phone.
func (p *part) folder(name string) string {
	if p == nil || p.place == 0 {
		return name
	}
	return fmt.Sprintf("%s-%d", name, p.place+1)
}

// several runs one comparison on several devices side by side: each has its own
// lock, plan, archive and table, one launch at a time, and what befalls one
// does not touch the others. At the end their tables are shown, and one of all.
func several(ctx context.Context, o Options, devices []string) error {
	w, err := Open()
	if err != nil {
		return err
	}
	if o.Seed == "" {
		o.Seed = strconv.FormatInt(time.Now().UnixNano()%1_000_000_007, 10)
	}
	var turn, line sync.Mutex
	parts := make([]*part, len(devices))
	names := map[string]int{}
	places := 0
	var running sync.WaitGroup
	for i, device := range devices {
		p := &part{name: device, turn: &turn}
		if names[device]++; names[device] > 1 {
			p.name = fmt.Sprintf("%s#%d", device, names[device])
		}
		p.err = &prefixed{out: w.Err, prefix: "[" + p.name + "] ", mu: &line}
		if device == "sim" || strings.HasPrefix(device, "sim:") {
			p.place = places
			places++
		}
		parts[i] = p
		own := o
		own.Device, own.Progress, own.part = device, ProgressPlain, p
		then := o.after
		own.after = func(a *store.Archive, failure error) error {
			p.dir = a.Dir()
			if then != nil {
				return then(a, failure)
			}
			return failure
		}
		running.Go(func() { p.failure = compareOn(ctx, own) })
	}
	running.Wait()
	return w.showParts(parts)
}

// showParts prints each device's table and the combined one.
func (w *Workspace) showParts(parts []*part) error {
	var all []report.OnDevice
	var failures []error
	for _, p := range parts {
		fmt.Fprintf(w.Out, "== %s ==\n\n", p.name)
		if _, err := p.out.WriteTo(w.Out); err != nil {
			return err
		}
		if p.failure != nil {
			fmt.Fprintf(w.Out, "%v\n", p.failure)
			failures = append(failures, fmt.Errorf("%s: %w", p.name, p.failure))
		}
		fmt.Fprintln(w.Out)
		one, err := onDevice(p)
		if err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", p.name, err))
			one = report.OnDevice{Device: p.name, Failure: err.Error()}
		}
		all = append(all, one)
	}
	if _, err := w.Out.Write(report.Combined(all, w.reportOptions())); err != nil {
		return err
	}
	return errors.Join(failures...)
}

// onDevice reads what a part measured.
func onDevice(p *part) (report.OnDevice, error) {
	failed := ""
	if p.failure != nil {
		failed = p.failure.Error()
	}
	if p.dir == "" { // it failed before anything was to be measured
		return report.OnDevice{Device: p.name, Failure: failed}, nil
	}
	run, records, _, err := store.Read(p.dir)
	if err != nil {
		return report.OnDevice{}, err
	}
	if run, records, err = ended(run, records); err != nil {
		return report.OnDevice{}, err
	}
	c, err := judge(run, records)
	return report.OnDevice{Device: p.name, Comparisons: c, Run: run, Failure: failed}, err
}

// prefixed writes whole lines, each with a prefix, so that those of several
// writers do not mix.
type prefixed struct {
	out    io.Writer
	prefix string
	mu     *sync.Mutex // shared by all that write to out
	part   []byte
}

func (p *prefixed) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.part = append(p.part, text...)
	for {
		end := bytes.IndexByte(p.part, '\n')
		if end < 0 {
			return len(text), nil
		}
		if _, err := io.WriteString(p.out, p.prefix+string(p.part[:end+1])); err != nil {
			return 0, err
		}
		p.part = p.part[end+1:]
	}
}
