package adb

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hexab/internal/bench"
)

// Whatever the words, a real shell must give them back byte for byte.
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

func FuzzAnswers(f *testing.F) {
	f.Add("shell_v2\ncmd\n")
	f.Fuzz(func(t *testing.T, text string) {
		classify(splitLines(text))
		parseFeatures(text)
		findHash(text)
	})
}
