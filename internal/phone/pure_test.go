package phone

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestRC(t *testing.T) {
	for _, c := range []struct{ ambient, r, c, start, power, seconds float64 }{
		{25, 7, 3, 25, 10, 21},
		{25, 7, 3, 90, 0, 5},
		{-10, 0.5, 100, 40, 3, 1000},
	} {
		whole := RC{AmbientCelsius: c.ambient, ResistanceKelvinPerW: c.r, CapacitanceJPerKelvin: c.c}
		whole.Set(c.start)
		parts := whole
		got := whole.Step(time.Duration(c.seconds*float64(time.Second)), c.power)
		end := c.ambient + c.power*c.r
		want := end + (c.start-end)*math.Exp(-c.seconds/(c.r*c.c))
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("%+v: %v, want %v", c, got, want)
		}
		for range 1000 {
			parts.Step(time.Duration(c.seconds*float64(time.Second)/1000), c.power)
		}
		if math.Abs(parts.Celsius()-want) > 1e-6 {
			t.Errorf("%+v in 1000 steps: %v, want %v", c, parts.Celsius(), want)
		}
		// The differential equation itself, by small Euler steps.
		euler, dt := c.start, c.seconds/1e6
		for range 1_000_000 {
			euler += dt * (c.power - (euler-c.ambient)/c.r) / c.c
		}
		if math.Abs(euler-want) > 1e-3 {
			t.Errorf("%+v by Euler: %v, want %v", c, euler, want)
		}
	}
}

func TestGovernor(t *testing.T) {
	g := Governor{HysteresisKelvin: 3, Trips: []Trip{{60, 0.75, 1}, {70, 0.5, 2}}}
	for i, c := range []struct {
		celsius, duty float64
		status        ThermalStatus
	}{{59, 1, 0}, {60, 0.75, 1}, {57.5, 0.75, 1}, {71, 0.5, 2}, {67.5, 0.5, 2}, {66, 0.75, 1}, {56, 1, 0}, {80, 0.5, 2}, {20, 1, 0}} {
		duty, status := g.Update(c.celsius)
		if duty != c.duty || status != c.status {
			t.Errorf("step %d at %v: duty %v, status %v, want %v, %v", i, c.celsius, duty, status, c.duty, c.status)
		}
	}
}

func TestHotModelThrottlesAndHolds(t *testing.T) {
	m := HotModel()
	duty := 1.0
	var first time.Duration
	lowest := 1.0
	for at := time.Duration(0); at < 10*time.Minute; at += 100 * time.Millisecond {
		duty, _ = m.Step(100*time.Millisecond, 2*duty)
		if duty < 1 && first == 0 {
			first = at
		}
		lowest = min(lowest, duty)
	}
	if first < 5*time.Second || first > 30*time.Second {
		t.Errorf("throttles after %v", first)
	}
	if c := m.Chip.Celsius(); c < 55 || c > 80 || lowest < 0.5 {
		t.Errorf("ends at %.1f degrees, lowest duty %v", c, lowest)
	}
}

// A third of a core is enough for a phone in the sun to throttle; idle it does not.
func TestSunModelThrottlesUnderLittleWork(t *testing.T) {
	for _, test := range []struct {
		busy  float64
		least ThermalStatus
		most  ThermalStatus
	}{{0, 0, 0}, {0.33, 2, 2}, {1, 3, 4}} {
		m := sunModel()
		var status ThermalStatus
		for range 60 {
			_, status = m.Step(time.Second, test.busy)
		}
		if status < test.least || status > test.most {
			t.Errorf("%v busy cores: status %d at %.1f degrees", test.busy, status, m.Chip.Celsius())
		}
	}
}

func TestPathMap(t *testing.T) {
	m := pathMap{link: "/tmp/l/root", folder: "/home/it's/phone"}
	for in, want := range map[string]string{
		"ls /data/local/tmp":              "ls /tmp/l/root/data/local/tmp",
		"A=/data/x:/sdcard/y ./p":         "A=/tmp/l/root/data/x:/tmp/l/root/sdcard/y ./p",
		"cd '/data/a b' && x>/sdcard/o":   "cd '/tmp/l/root/data/a b' && x>/tmp/l/root/sdcard/o",
		"cat /proc/meminfo /proc/self/fd": "cat /tmp/l/root/proc/meminfo /proc/self/fd",
		"ls /dataset /data-x /data.old":   "ls /dataset /data-x /data.old",
		"echo a/data ./data $X/data":      "echo a/data ./data $X/data",
		"ls ${X}/data $(pwd)/data */data": "ls ${X}/data $(pwd)/data */data",
		"ls /data* {/data,/sdcard}":       "ls /tmp/l/root/data* {/tmp/l/root/data,/tmp/l/root/sdcard}",
		"--path=/vendor/lib64":            "--path=/tmp/l/root/vendor/lib64",
		"file:///data/x":                  "file:///data/x",
		"/data":                           "/tmp/l/root/data",
		"":                                "",
	} {
		if got := m.in(in); got != want {
			t.Errorf("in(%q) = %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{
		"/tmp/l/root/data/x\n":             "/data/x\n",
		"/tmp/l/root\n":                    "/\n",
		"/tmp/l/root":                      "/",
		"/tmp/l/rooted /tmp/l/roo":         "/tmp/l/rooted /tmp/l/roo",
		"'/home/it's/phone/data': no":      "'/data': no",
		"a/tmp/l/root/b:/tmp/l/root/c\x00": "a/b:/c\x00",
		"/tmp/tmp/l/root/":                 "/tmp/",
	} {
		for size := 1; size <= len(in); size++ { // however it is cut
			var out bytes.Buffer
			f := m.out(rawStage{&out})
			for rest := in; rest != ""; rest = rest[min(size, len(rest)):] {
				if _, err := io.WriteString(f, rest[:min(size, len(rest))]); err != nil {
					t.Fatal(err)
				}
			}
			if err := f.finish(); err != nil {
				t.Fatal(err)
			}
			if got := out.String(); got != want {
				t.Errorf("out(%q) in pieces of %d = %q, want %q", in, size, got, want)
			}
		}
	}
}

func TestPrograms(t *testing.T) {
	for in, want := range map[string]string{
		"":                   "",
		"./llama-bench -m x": "llama-bench",
		"cd /data/x && LD_LIBRARY_PATH=/a:b A='1 2' ./llama-bench -p 1 2>&1": "cd llama-bench",
		"sha256sum llama-bench; ln a/llama-bench b":                          "sha256sum ln",
		"taskset f0 nice -n -5 timeout 30s ./llama-bench":                    "llama-bench",
		"if [ -f x ]; then exec ./llama-bench; fi":                           "[ llama-bench fi",
		"sh -c 'cd /x; ./llama-bench -m \"a b\"'; echo $?":                   "sh cd llama-bench echo",
		"echo \"./llama-bench; x\" | (cat)":                                  "echo cat",
		"qemu-aarch64 -L /usr/aarch64-linux-gnu ./llama-bench -v":            "llama-bench",
		"a & b || c `d` e\\ f":                                               "a b c d e f",
	} {
		if got := strings.Join(programs(in), " "); got != want {
			t.Errorf("programs(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestParseSpec(t *testing.T) {
	cool := Spec{Profile: "cool", Seed: 1}
	for in, want := range map[string]Spec{
		"":                cool,
		"cool":            cool,
		"hot":             {Profile: "hot", Seed: 1},
		"cr":              {"cool", []Fault{{Kind: FaultCR, Share: 1}}, 1},
		"seed=7":          {Profile: "cool", Seed: 7},
		"hot+cr+seed=0":   {"hot", []Fault{{Kind: FaultCR, Share: 1}}, 0},
		"cool+seed=9 +cr": {"cool", []Fault{{Kind: FaultCR, Share: 1}}, 9},
		"old+drop:after=push,bytes=1000000+offline:for=3s": {"old", []Fault{
			{Kind: FaultDrop, Trigger: Trigger{After: AtPush, Program: "llama-bench", Nth: 1, Times: 1, Bytes: 1_000_000}},
			{Kind: FaultOffline, For: 3 * time.Second, Trigger: Trigger{After: AtStart, Program: "llama-bench", Nth: 1, Times: 1}},
		}, 1},
		"exit:code=0,program=*,p=0.25,times=0": {"cool", []Fault{
			{Kind: FaultExit, Trigger: Trigger{After: AtLaunch, Program: "*", Nth: 1, Probability: 0.25}},
		}, 1},
		"clock:by=-1h": {"cool", []Fault{
			{Kind: FaultClock, By: -time.Hour, Trigger: Trigger{After: AtStart, Program: "llama-bench", Nth: 1, Times: 1}},
		}, 1},
	} {
		got, err := ParseSpec(in)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("ParseSpec(%q) = %+v, %v, want %+v", in, got, err, want)
		}
	}
	for in, want := range map[string]string{
		"warm":                      `profile "warm": want one of arm64, cool, hot, old, sun`,
		"cool+warm":                 `fault "warm": unknown kind`,
		"cool+hot":                  `fault "hot": unknown kind`,
		"cr:x=1":                    `option "x=1": want KEY=VALUE with KEY one of share`,
		"drop:after=push":           "after=push needs bytes=",
		"drop:after=output":         "after=output needs bytes= or lines=",
		"drop:nth=0":                "want a whole number from 1",
		"drop:bytes=-1,after=push":  "want a number of bytes",
		"exit:code=256":             "from 0 to 255",
		"exit:after=push,bytes=1":   "exit happens to a launch",
		"noise:share=NaN":           "want a number from 0 to 1",
		"offline:for=soon":          "want a duration",
		"drop:after=launch,lines=2": "lines= goes with after=output",
		"reboot:after=start":        "can not happen at the start",
		"slow:rate=1":               "at least 1000",
		"cool+seed=-1":              `"seed=-1": want one seed=N`,
		"seed=1+cr+seed=2":          `"seed=2": want one seed=N`,
		"seed=":                     `want one seed=N`,
	} {
		if _, err := ParseSpec(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseSpec(%q): error %v, want %q", in, err, want)
		}
	}
}

func TestParseService(t *testing.T) {
	for in, want := range map[string]service{
		"shell,v2,TERM=xterm,raw:ls; a:b\x00": {kind: serviceShell, command: "ls; a:b", v2: true, term: "xterm"},
		"shell,v2,TERM=x y,pty:":              {kind: serviceShell, v2: true, pty: true},
		"shell:id":                            {kind: serviceShell, command: "id"},
		"exec:cat x":                          {kind: serviceExec, command: "cat x"},
		"sync:":                               {kind: serviceSync},
	} {
		if got, err := parseService([]byte(in)); err != nil || got != want {
			t.Errorf("parseService(%q) = %+v, %v, want %+v", in, got, err, want)
		}
	}
	for _, in := range []string{"", "shell", "jdwp:1", "shell:a\x00b", "shell:" + strings.Repeat("x", 200_000)} {
		if got, err := parseService([]byte(in)); err == nil {
			t.Errorf("parseService(%.20q) = %+v, want an error", in, got)
		}
	}
}

func TestParseStat(t *testing.T) {
	line := "42 (a) b) c) S 1 42 41 0 -1 4194560 100 200 0 0 11 12 13 14 20 0 1 0 100 4096 3 18446744073709551615 1 1"
	p, ok := parseStat([]byte(line))
	if !ok || p.pid != 42 || p.name != "a) b) c" || p.state != 'S' || p.group != 42 || p.session != 41 ||
		p.cpu != 230*time.Millisecond || p.children != 270*time.Millisecond || p.residentBytes != 3*4096 {
		t.Errorf("%+v, %v", p, ok)
	}
	for _, bad := range []string{"", "1", "1 (x", "1 (x) S", "x (x) " + strings.Repeat("S ", 30)} {
		if p, ok := parseStat([]byte(bad)); ok {
			t.Errorf("%q gives %+v", bad, p)
		}
	}
}

func TestPacketRoundTrip(t *testing.T) {
	p := packet{cmdWrite, 1, 2, []byte("hello")}
	wire := append(appendHeader(nil, p, true), p.data...)
	got, err := readPacket(bytes.NewReader(wire), 5, true)
	if err != nil || !reflect.DeepEqual(got, p) {
		t.Errorf("%+v, %v", got, err)
	}
	for what, change := range map[string]func([]byte) []byte{
		"magic":    func(b []byte) []byte { b[20]++; return b },
		"checksum": func(b []byte) []byte { b[16]++; return b },
		"payload":  func(b []byte) []byte { return b[:26] },
		"header":   func(b []byte) []byte { return b[:10] },
	} {
		if _, err := readPacket(bytes.NewReader(change(bytes.Clone(wire))), 5, true); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("bad %s: error %v", what, err)
		}
	}
	if _, err := readPacket(bytes.NewReader(wire), 4, true); err == nil {
		t.Error("a payload above the limit is accepted")
	}
}

func FuzzPacket(f *testing.F) {
	f.Add(append(appendHeader(nil, packet{cmdOpen, 1, 0, []byte("shell:x\x00")}, true), "shell:x\x00"...))
	f.Fuzz(func(t *testing.T, wire []byte) {
		p, err := readPacket(bytes.NewReader(wire), maxPayloadBytes, true)
		if err != nil {
			return
		}
		again := append(appendHeader(nil, p, true), p.data...)
		if !bytes.Equal(again, wire[:len(again)]) {
			t.Errorf("%x reads as %x", wire, again)
		}
	})
}

func FuzzService(f *testing.F) {
	f.Add([]byte("shell,v2,TERM=xterm,raw:ls -l\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := parseService(data)
		if err == nil && (strings.ContainsRune(s.command, 0) || strings.ContainsAny(s.term, "\n= /") || s.kind == 0) {
			t.Errorf("%q gives %+v", data, s)
		}
	})
}

func FuzzSyncRequest(f *testing.F) {
	request := func(id, path string) []byte {
		return append(binary.LittleEndian.AppendUint32([]byte(id), uint32(len(path))), path...)
	}
	f.Add(request("SEND", "/data/x,33188"))
	f.Add(request("LIS2", "/"))
	f.Fuzz(func(t *testing.T, wire []byte) {
		q, err := readSyncRequest(bytes.NewReader(wire))
		if err != nil {
			return
		}
		if len(q.path) > maxSyncPath || strings.ContainsRune(q.path, 0) {
			t.Errorf("%x gives %+v", wire, q)
		}
		if p := local(q.path); strings.HasPrefix(p, "/") || p == ".." || strings.HasPrefix(p, "../") {
			t.Errorf("%q leads out: %q", q.path, p)
		}
		if name, _, err := splitSend(q.path); err == nil && !strings.HasPrefix(q.path, name+",") {
			t.Errorf("%q splits to %q", q.path, name)
		}
	})
}

func FuzzSpec(f *testing.F) {
	f.Add("cool+cr+noise:share=0.5+drop:after=push,bytes=10")
	f.Fuzz(func(t *testing.T, text string) {
		spec, err := ParseSpec(text)
		if err != nil {
			return
		}
		if _, ok := profiles[spec.Profile]; !ok {
			t.Errorf("%q gives %+v", text, spec)
		}
	})
}

func FuzzPrograms(f *testing.F) {
	f.Add("A=1 sh -c 'x \"y\" `z`' && timeout 3 ./b | c")
	f.Fuzz(func(t *testing.T, line string) {
		for _, p := range programs(line) {
			if p == "" {
				t.Errorf("%q holds a program without a name", line)
			}
		}
	})
}

func FuzzPathMap(f *testing.F) {
	f.Add("cat /data/x > '/sdcard/y'", 3)
	m := pathMap{link: "/tmp/l/root"}
	f.Fuzz(func(t *testing.T, text string, cut int) {
		if strings.Contains(text, "/tmp/l/roo") {
			return
		}
		mapped := m.in(text)
		cut = max(0, min(cut, len(mapped)))
		var out bytes.Buffer
		u := m.out(rawStage{&out})
		io.WriteString(u, mapped[:cut])
		io.WriteString(u, mapped[cut:])
		if err := u.finish(); err != nil || out.String() != text {
			t.Errorf("%q maps to %q and back to %q (%v)", text, mapped, out.String(), err)
		}
	})
}
