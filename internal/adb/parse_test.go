package adb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"hexab/internal/bench"
)

// Whatever the words, a real shell must give them back byte for byte.
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

func TestParseDevices(t *testing.T) {
	text := "* daemon not running; starting now at tcp:5037\n* daemon started successfully\nList of devices attached\r\n" +
		"ABC123                 device usb:1-4 product:kona model:Pixel_9 device:tok transport_id:7\r\n" +
		"ABC124        unauthorized usb:3-3 transport_id:1\n" +
		"192.168.1.5:5555\toffline\n" +
		"averyveryveryverylongserialnumber authorizing transport_id:3\n" +
		"????????????           no permissions (user in plugdev group; are your udev rules wrong?); see [http://developer.android.com/tools/device.html] usb:1-1 transport_id:2\n" +
		"(no serial number)     no permissions usb:1-9\n" +
		"emulator-5554          recovery\nX1 sideload\nX2 bootloader\nX3 detached\nadb-XX (2)._adb-tls-connect._tcp device product:p model:m device:d transport_id:9\n\n"
	got, err := ParseDevices(text)
	want := []Listed{
		{Serial: "ABC123", State: StateDevice, USB: "1-4", Product: "kona", Model: "Pixel_9", Device: "tok", TransportID: "7"},
		{Serial: "ABC124", State: StateUnauthorized, USB: "3-3", TransportID: "1"},
		{Serial: "192.168.1.5:5555", State: StateOffline},
		{Serial: "averyveryveryverylongserialnumber", State: StateAuthorizing, TransportID: "3"},
		{Serial: "????????????", State: StateNoPermissions, Detail: "(user in plugdev group; are your udev rules wrong?); see [http://developer.android.com/tools/device.html]", USB: "1-1", TransportID: "2"},
		{Serial: "(no serial number)", State: StateNoPermissions, USB: "1-9"},
		{Serial: "emulator-5554", State: StateRecovery}, {Serial: "X1", State: StateSideload}, {Serial: "X2", State: StateBootloader}, {Serial: "X3", State: "detached"},
		{Serial: "adb-XX (2)._adb-tls-connect._tcp", State: StateDevice, Product: "p", Model: "m", Device: "d", TransportID: "9"},
	}
	if err != nil || len(got) != len(want) {
		t.Fatalf("%v\n%+v", err, got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("line %d:\n got %+v\nwant %+v", i, got[i], want[i])
		}
	}
	for _, bad := range []string{"", "hello", "List of devices attached\n!!!\n"} {
		if list, err := ParseDevices(bad); err == nil {
			t.Errorf("%q: %v", bad, list)
		}
	}
	if none, err := ParseDevices("List of devices attached\n\n"); err != nil || len(none) != 0 {
		t.Error(none, err)
	}
	if err := want[1].Err(); KindOf(err) != KindUnauthorized || !strings.Contains(err.Error(), "tap Allow") {
		t.Error(err)
	}
	for _, d := range want {
		if (d.Err() == nil) != (d.State == StateDevice) {
			t.Error(d, d.Err())
		}
	}
}

func TestClassify(t *testing.T) {
	for text, want := range map[string]Kind{
		"error: device unauthorized.\nThis adb server's $ADB_VENDOR_KEYS is not set\nTry 'adb kill-server' if that seems wrong.": KindUnauthorized,
		"adb: error: failed to get feature set: device still authorizing":                                                        KindAuthorizing,
		"error: device offline": KindOffline,
		"adb: error: failed to get feature set: device 'ABC' not found": KindNotFound,
		"error: no devices/emulators found":                             KindNotFound,
		"* daemon not running; starting now at tcp:5037\nADB server didn't ACK\nFull server startup log: /tmp/adb.0.log\nerror: could not install *smartsocket* listener: Address already in use": KindPortTaken,
		"error: cannot connect to daemon at tcp:5037: Connection refused":                              KindServerGone,
		"adb: error: failed to copy 'a' to '/b': remote couldn't create file: No space left on device": KindNoSpace,
		"adb: error: failed to copy 'a' to '/b': no response":                                          KindLost,
		"adb: error: failed to read copy response: EOF":                                                KindLost,
		"error: protocol fault (couldn't read status): Connection reset by peer":                       KindLost,
		"adb: error: failed to copy 'a' to '/b': remote couldn't create file: Permission denied":       KindDenied,
		"adb: error: failed to stat remote object '/x': No such file or directory":                     KindNoFile,
		"adb server version (32) doesn't match this client (41); killing...":                           KindVersion,
		"error: closed":        KindLost,
		"something never seen": KindUnknown,
		"error: insufficient permissions for device: user in plugdev group; are your udev rules wrong?\nSee [http://x] for more information": KindNoPermissions,
	} {
		if got, evidence := classify(splitLines(text)); got != want || len(evidence) == 0 {
			t.Errorf("%q: %s %q, want %s", text, got, evidence, want)
		}
	}
	for kind, info := range kinds {
		e := &Error{Op: "x", Kind: kind}
		if kind != KindCanceled && e.Fault() == bench.FaultNone || info.retry != e.Retryable() {
			t.Errorf("%s has no fault", kind)
		}
	}
}

func TestErrorText(t *testing.T) {
	e := &Error{Op: "push libfoo.so", Serial: "ABC", Kind: KindNoSpace, Evidence: []string{"no space left on device"}}
	want := "push libfoo.so: device ABC: no space left (no space left on device); free some space on the phone, or prune what hexab keeps there"
	if e.Error() != want {
		t.Errorf("%s", e)
	}
}

func TestAdbMissing(t *testing.T) {
	for _, path := range []string{"no-such-adb", filepath.Join(t.TempDir(), "adb")} {
		_, err := (&Client{Path: path}).Devices(t.Context())
		if KindOf(err) != KindMissing || !strings.Contains(err.Error(), "HEXAB_ADB") {
			t.Error(err)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("interrupted")
	cancel(cause)
	if _, err := (&Client{}).Devices(ctx); KindOf(err) != KindCanceled || !errors.Is(err, cause) {
		t.Error(err)
	}
}

// fakeADB is a program that takes adb's place.
func fakeADB(t *testing.T, script string) *Client {
	name := filepath.Join(t.TempDir(), "adb")
	if err := os.WriteFile(name, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return &Client{Path: name}
}

func TestClientAnswers(t *testing.T) {
	version, err := fakeADB(t, "echo Android Debug Bridge version 1.0.41; echo Version 35.0.2; echo Installed as /x").Version(t.Context())
	if err != nil || version != "Android Debug Bridge version 1.0.41 (35.0.2)" {
		t.Error(version, err)
	}
	if _, err := fakeADB(t, "echo hello").Version(t.Context()); KindOf(err) != KindUnknown {
		t.Error(err)
	}
	for answer, kind := range map[string]Kind{
		"connected to h:1": "", "already connected to h:1": "",
		"failed to connect to 'h:1': Connection refused": KindConnect,
		"failed to authenticate to h:1":                  KindUnauthorized,
	} {
		if err := fakeADB(t, "echo \""+answer+"\"").Connect(t.Context(), "h:1"); KindOf(err) != kind {
			t.Errorf("%s: %v", answer, err)
		}
	}
}

func runDemux(v2 bool, out, errs string) (*demux, string, string) {
	stdout, stderr := newStream(nil, 0), newStream(nil, 0)
	d := newDemux("N", stdout, stderr, v2)
	for _, line := range strings.Split(strings.TrimSuffix(out, "\n"), "\n") {
		d.out(line)
	}
	if errs != "" {
		for _, line := range strings.Split(strings.TrimSuffix(errs, "\n"), "\n") {
			d.err(line)
		}
	}
	d.close()
	return d, stdout.kept.String(), stderr.kept.String()
}

func TestDemux(t *testing.T) {
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
		d, stdout, stderr := runDemux(test.v2, out, errs)
		if d.ended() != test.ended || test.ended && d.status != test.status || stdout != test.stdout || stderr != test.std {
			t.Errorf("%s: ended %t status %d stdout %q stderr %q", test.name, d.ended(), d.status, stdout, stderr)
		}
		if test.name == "accounts" {
			if a := d.accounting(); a == nil || a.Own != 61.75 || fmt.Sprintf("%.2f %.2f", a.After.Busy, a.After.Total) != "0.09 0.14" {
				t.Errorf("%+v", d.accounting())
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

func FuzzParseDevices(f *testing.F) {
	f.Add("List of devices attached\nABC123        unauthorized usb:3-3 transport_id:1\n")
	f.Add("List of devices attached\nX no permissions (a); see [http://b] usb:1\n")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := ParseDevices(text)
		if err == nil {
			for _, d := range list {
				if d.Serial == "" || d.State == "" {
					t.Fatalf("%+v", d)
				}
			}
		}
	})
}

func FuzzDemux(f *testing.F) {
	f.Add("N begin 5\na\n\nN end 0\n", "N begin 5\n\nN end 0\n", true)
	f.Add("N begin 5\na\nN err\ne\nN end 7\n", "", false)
	f.Fuzz(func(t *testing.T, out, errs string, v2 bool) {
		d, _, _ := runDemux(v2, out, errs)
		if d.ended() && (d.status < 0 || d.status > 255 || !strings.Contains(out, "N end ")) {
			t.Fatal("an end from nowhere")
		}
		d.accounting()
		classify(d.outside)
		parseFeatures(out)
		findHash(out)
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
