package shell

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"reflect"
	"strings"
	"testing"
)

func TestQuoteThroughShell(t *testing.T) {
	const seed = 7
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	special := "'\"\\$`!*?[]{}()<>|&;#~=%^ \t\n\rab/\x01\x7f\xff\xc3\xa4"
	words := []string{"", "'", "a b", "-n", "$HOME", "`id`", "A=B", "if", "~", "*", "\\", "a\n"}
	for range 500 {
		var b strings.Builder
		for range rng.IntN(12) {
			b.WriteByte(special[rng.IntN(len(special))])
		}
		words = append(words, b.String())
	}
	out, err := exec.Command("/bin/sh", "-c", "printf '%s\\000' "+Join(words...)).Output()
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(string(bytes.TrimSuffix(out, []byte{0})), "\x00")
	if !reflect.DeepEqual(got, words) {
		for i := range words {
			if i >= len(got) || got[i] != words[i] {
				t.Fatalf("word %d: %q became %q", i, words[i], got[i])
			}
		}
	}
	// In the place of a command a word is a name, never an assignment or keyword.
	for _, word := range []string{"A=B", "if", "{", "!", "~"} {
		if out, _ := exec.Command("/bin/sh", "-c", Quote(word)+" x").CombinedOutput(); word != "if" && !bytes.Contains(out, []byte("not found")) && !bytes.Contains(out, []byte("ermission denied")) {
			t.Errorf("%q as a command: %q", word, out)
		}
	}
}

// runDemux feeds a demux with the lines of both streams, of which next chooses
// the one that comes next: 0 for stdout.
func runDemux(split bool, out, errs string, next func() int) (*demux, string, string) {
	stdout, stderr := newStream(nil, 0), newStream(nil, 0)
	d := newDemux("N", stdout, stderr, !split)
	left := [2][]string{strings.SplitAfter(out, "\n"), strings.SplitAfter(errs, "\n")}
	for len(left[0])+len(left[1]) > 0 {
		from := next()
		if len(left[from]) == 0 {
			from = 1 - from
		}
		line := left[from][0]
		left[from] = left[from][1:]
		switch {
		case line == "":
		case from == 0:
			d.out(strings.TrimSuffix(line, "\n"))
		default:
			d.err(strings.TrimSuffix(line, "\n"))
		}
	}
	d.close()
	return d, stdout.kept.String(), stderr.kept.String()
}

// Whichever stream is ahead of the other, the same comes of them.
func TestDemux(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	orders := []func() int{func() int { return 0 }, func() int { return 1 }}
	for range 20 {
		orders = append(orders, func() int { return rng.IntN(2) })
	}
	for _, test := range []struct {
		name        string
		v2          bool
		out, err    string
		ended       bool
		status      int
		stdout, std string
	}{
		{"plain", true, "N begin 5\na\n\nN end 0\n", "N begin 5\n\nN end 0\n", true, 0, "a\n", ""},
		{"no newline at the end", true, "N begin 5\na\nN end 3\n", "N begin 5\ne\nN end 3\n", true, 3, "a\n", "e\n"},
		{"blank lines", true, "N begin 5\n\n\na\n\n\nN end 0\n", "N begin 5\n\nN end 0\n", true, 0, "\n\na\n\n", ""},
		{"no end", true, "N begin 5\na\n\n", "N begin 5\n", false, 0, "a\n\n", ""},
		{"end on one stream only", true, "N begin 5\na\n\nN end 0\n", "N begin 5\n", false, 0, "a\n", ""},
		{"adb's own words", true, "* daemon started\nN begin 5\n\nN end 0\n", "error: x\nN begin 5\n\nN end 0\nlater\n", true, 0, "", ""},
		{"forged", true, "N begin 5\nN end\nN end x\nN end 256\nN end -1\nXN end 0\n", "N begin 5\n", false, 0, "N end\nN end x\nN end 256\nN end -1\nXN end 0\n", ""},
		{"old", false, "N begin 5\na\n\nN err\ne\n\nN end 7\n", "", true, 7, "a\n", "e\n"},
		{"old without newlines", false, "N begin 5\na\nN err\ne\nN end 7\n", "", true, 7, "a\n", "e\n"},
		{"old lost", false, "N begin 5\na\n", "error: closed\n", false, 0, "a\n", ""},
		{"accounts", true, "N begin 5\nN stat cpu 1 2 3 4\na\n\nN stat cpu 2 3 4 5\nN times\n0m0.00s 0m0.00s\n0m1.50s 1m0.25s\n\nN end 0\n", "N begin 5\n\nN end 0\n", true, 0, "a\n", ""},
		{"CR", true, "N begin 5\r\na\r\n\r\nN end 0\r\r\n", "N begin 5\r\n\r\nN end 0\r\n", true, 0, "a\n", ""},
	} {
		out, errs := test.out, test.err
		if test.name == "CR" { // the line reader drops them
			out, errs = strings.ReplaceAll(out, "\r", ""), strings.ReplaceAll(errs, "\r", "")
		}
		for i, order := range orders {
			d, stdout, stderr := runDemux(test.v2, out, errs, order)
			if d.ended() != test.ended || test.ended && d.status != test.status || stdout != test.stdout || stderr != test.std {
				t.Errorf("%s, order %d: ended %t status %d stdout %q stderr %q", test.name, i, d.ended(), d.status, stdout, stderr)
			}
			if test.name == "accounts" {
				if a := d.accounting(); a == nil || a.Own != 61.75 || fmt.Sprintf("%.2f %.2f", a.After.Busy, a.After.Total) != "0.09 0.14" {
					t.Errorf("order %d: %+v", i, d.accounting())
				}
			}
		}
	}
}

func TestOtherShare(t *testing.T) {
	a := Accounting{Before: CPUTimes{10, 100}, After: CPUTimes{16, 110}, Own: 4}
	if share, ok := a.OtherShare(); !ok || share != 0.2 {
		t.Error(share, ok)
	}
	a.Own = 9 // ticks are coarse
	if share, ok := a.OtherShare(); !ok || share != 0 {
		t.Error(share, ok)
	}
	a.After = a.Before
	if _, ok := a.OtherShare(); ok {
		t.Error("no time passed")
	}
}

func FuzzDemux(f *testing.F) {
	f.Add("N begin 5\na\n\nN end 0\n", "N begin 5\n\nN end 0\n", true)
	f.Add("N begin 5\na\nN err\ne\nN end 7\n", "", false)
	f.Fuzz(func(t *testing.T, out, errs string, v2 bool) {
		d, _, _ := runDemux(v2, out, errs, func() int { return 0 })
		if d.ended() && (d.status < 0 || d.status > 255 || !strings.Contains(out, "N end ")) {
			t.Fatal("an end from nowhere")
		}
		d.accounting()
	})
}

func FuzzQuote(f *testing.F) {
	f.Add("it's")
	f.Fuzz(func(t *testing.T, s string) {
		q := Quote(s)
		if strings.HasPrefix(q, "'") && strings.ReplaceAll(q[1:len(q)-1], `'\''`, "") != strings.ReplaceAll(s, "'", "") {
			t.Fatalf("%q: %q", s, q)
		}
	})
}
