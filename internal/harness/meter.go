package harness

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/olekukonko/tablewriter/pkg/twwidth"
	"golang.org/x/term"
)

// Ways to show progress.
const (
	// ProgressAuto is ProgressBar on a terminal and ProgressPlain elsewhere.
	ProgressAuto = "auto"
	// ProgressBar keeps one line at the bottom that is drawn anew.
	ProgressBar = "bar"
	// ProgressPlain prints a line for each step.
	ProgressPlain = "plain"
	// ProgressNone prints nothing but results and errors.
	ProgressNone = "none"
)

var progressModes = []string{ProgressAuto, ProgressBar, ProgressPlain, ProgressNone}

// meter shows how far a command has come. Its methods may be called from
// several goroutines.
type meter struct {
	out   io.Writer
	width func() int // of the terminal; zero is unknown
	now   func() time.Time

	mu      sync.Mutex // guards all below
	mode    string
	started time.Time
	drawn   bool // the bar stands on the terminal's last line
	bar     bar
}

// bar is the state of a run's launches.
type bar struct {
	active      bool
	done, total int
	began       time.Time
	step        string // what runs now
	stepBegan   time.Time
}

// commandBegan is what times are told from, also by a command that opens its
// workspace more than once.
var commandBegan = time.Now()

// newMeter gives a plain meter.
func newMeter(out io.Writer) *meter {
	return &meter{out: out, now: time.Now, started: commandBegan, width: terminalWidth, mode: ProgressPlain}
}

// terminalWidth is that of the terminal that progress goes to.
func terminalWidth() int {
	width, _, err := term.GetSize(int(os.Stderr.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// choose sets the mode; terminal tells whether the output is one.
func (m *meter) choose(mode string, terminal bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.mode = mode; mode == "" || mode == ProgressAuto {
		m.mode = ProgressPlain
		if terminal {
			m.mode = ProgressBar
		}
	}
}

// note prints one line with the time since the start.
func (m *meter) note(text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.line(text)
}

func (m *meter) line(text string) {
	if m.mode == ProgressNone {
		return
	}
	m.wipe()
	fmt.Fprintf(m.out, "[%5.1fs] %s\n", m.now().Sub(m.started).Seconds(), text)
	m.draw()
}

// begin starts a row of so many steps, end ends it.
func (m *meter) begin(total int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bar = bar{active: true, total: total, began: m.now(), stepBegan: m.now()}
	m.draw()
}

func (m *meter) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wipe()
	m.bar = bar{}
}

// step tells what is done next.
func (m *meter) step(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bar.step, m.bar.stepBegan = name, m.now()
	m.draw()
}

// stepped tells that a step ended, with its result. A plain meter prints it; a
// bar prints what went wrong only.
func (m *meter) stepped(result string, wrong bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bar.done++
	if m.mode == ProgressBar && !wrong {
		m.draw()
		return
	}
	m.line(fmt.Sprintf("%3d of %d  %s, %s", m.bar.done, m.bar.total, result, m.left()))
}

// left is the time left, from the steps so far.
func (m *meter) left() string {
	if m.bar.done == 0 {
		return "time left unknown"
	}
	rest := time.Duration(float64(m.now().Sub(m.bar.began)) / float64(m.bar.done) * float64(m.bar.total-m.bar.done))
	return fmt.Sprintf("about %s left", rest.Round(time.Second))
}

const barCells = 20

// draw puts the bar on the last line.
func (m *meter) draw() {
	if m.mode != ProgressBar || !m.bar.active {
		return
	}
	full := 0
	if m.bar.total > 0 {
		full = barCells * m.bar.done / m.bar.total
	}
	text := fmt.Sprintf("[%s%s] %d/%d, %s", strings.Repeat("#", full), strings.Repeat(".", barCells-full), m.bar.done, m.bar.total, m.left())
	if m.bar.step != "" {
		text += fmt.Sprintf("; %s, %s", m.bar.step, m.now().Sub(m.bar.stepBegan).Round(time.Second))
	}
	if width := m.width(); width > 1 {
		text = twwidth.Truncate(text, width-1)
	}
	fmt.Fprintf(m.out, "\r\x1b[K%s", text)
	m.drawn = true
}

func (m *meter) wipe() {
	if m.drawn {
		fmt.Fprint(m.out, "\r\x1b[K")
		m.drawn = false
	}
}

// tick draws the bar anew every second until the context ends, so that a long
// launch is seen to go on. stop waits for the last drawing.
func (m *meter) tick(ctx context.Context) (stop func()) {
	return every(ctx, time.Second, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.draw()
	})
}

// every calls do again and again until the context ends or stop is called,
// which waits for the last call.
func every(ctx context.Context, interval time.Duration, do func()) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				do()
			}
		}
	})
	return func() { cancel(); done.Wait() }
}

func checkProgress(mode string) error {
	if mode != "" && !slices.Contains(progressModes, mode) {
		return usage("progress: %q is not one of %s", mode, strings.Join(progressModes, ", "))
	}
	return nil
}
