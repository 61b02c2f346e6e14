package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hexab/internal/adb"
	"hexab/internal/bench"
	"hexab/internal/build"
	"hexab/internal/device"
	"hexab/internal/host"
	"hexab/internal/phone"
)

// deviceRoot is the folder of hexab on a phone. Nothing outside it is touched.
const deviceRoot = "/data/local/tmp/hexab"

// phoneHome is the folder of the embedded phone and its adb server; empty is
// the cache's. Tests have one of their own, so that they get along with a run.
var phoneHome string

// phoneArm64 is the embedded phone's profile with arm64 programs, run by QEMU.
const phoneArm64 = "arm64"

// target is a device made ready, with what has to be closed behind it.
type target struct {
	device.Device
	info     device.Info
	embedded bool
	// profile is the embedded phone's, as it was asked for.
	profile string
	// kind is how the device is reached: adb or ssh.
	kind string
	// phone is the embedded phone, nil for a real one.
	phone *phone.Phone
	close []func() error
}

// Close ends what was started for the device, last first.
func (t *target) Close() error {
	var errs []error
	for i := len(t.close) - 1; i >= 0; i-- {
		errs = append(errs, t.close[i]())
	}
	return errors.Join(errs...)
}

// describe is the device for the archive.
func (t *target) describe() bench.Device {
	d := bench.Device{Serial: t.Serial(), Kind: cmp.Or(t.kind, "adb"), Properties: t.info.Properties()}
	d.Platform, _ = t.platform() // looked at when it was opened
	if t.embedded {
		// The serial holds a port that changes from run to run.
		d.Serial, d.Kind, d.Simulated = "sim", "embedded", true
		if t.profile != "" {
			d.Serial += ":" + t.profile
		}
	}
	return d
}

// openTarget makes the wanted device ready: auto, sim (optionally with a
// profile, sim:hot), ssh:user@host, or a serial.
//
// For the embedded phone the builder is given the simulated SDK, and the phone
// the simulated NPU, when the variants take them.
func (w *Workspace) openTarget(ctx context.Context, wanted string, what wants) (*target, error) {
	if wanted == "" {
		wanted = "auto"
	}
	kind, profile, _ := strings.Cut(wanted, ":")
	switch kind {
	case "sim":
		return w.openPhone(ctx, profile, what)
	case "ssh":
		return w.openBoard(ctx, profile)
	}
	client := &adb.Client{Path: w.ADB()}
	listed, err := client.Devices(ctx)
	if wanted == "auto" {
		if err != nil {
			w.Note("adb lists no phones (%v)", err)
		}
		ready := authorised(listed)
		switch len(ready) {
		case 0:
			for _, l := range listed {
				w.Note("not used: %v", l.Err())
			}
			return w.openPhone(ctx, "", what)
		case 1:
			return w.openReal(ctx, client, ready[0].Serial, what)
		}
		return nil, usage("several phones are connected; choose one with -device=: %s", names(ready))
	}
	if err != nil {
		return nil, err
	}
	for _, l := range listed {
		if l.Serial == wanted {
			if err := l.Err(); err != nil {
				return nil, err
			}
			return w.openReal(ctx, client, wanted, what)
		}
	}
	return nil, usage("no device %s; present are: %s", wanted, names(listed))
}

func authorised(listed []adb.Listed) []adb.Listed {
	var ready []adb.Listed
	for _, l := range listed {
		if l.Err() == nil {
			ready = append(ready, l)
		}
	}
	return ready
}

func names(listed []adb.Listed) string {
	list := []string{"sim"}
	for _, l := range listed {
		list = append(list, l.String())
	}
	return strings.Join(list, ", ")
}

// openPhone starts the embedded phone behind an adb server of its own, so that
// a user's server is left alone.
func (w *Workspace) openPhone(ctx context.Context, profile string, what wants) (*target, error) {
	spec, err := phone.ParseSpec(profile)
	if err != nil {
		return nil, &UsageError{err}
	}
	if spec.Profile == phoneArm64 {
		if err := w.withoutNPU(what); err != nil {
			return nil, err
		}
		if _, err := w.machine().Ensure(ctx, w.Cache, host.QEMU, host.CrossArm64); err != nil {
			return nil, err
		}
	}
	vendor, err := w.simulator(ctx, what)
	if err != nil {
		return nil, err
	}
	w.Note("starting the embedded phone (profile %s); its figures say nothing of a real phone", profileName(profile))
	home := phoneHome
	if home == "" {
		home = filepath.Join(w.Cache, "phone")
	}
	// The phone and its server outlive the context's end a little: stopping a
	// run cleanly takes both.
	life := context.WithoutCancel(ctx)
	t := &target{embedded: true, profile: profile}
	server, err := phone.StartServer(life, phone.ServerConfig{Program: w.ADB(), Home: filepath.Join(home, w.part.folder("adb-home"))})
	if err != nil {
		return nil, err
	}
	t.close = append(t.close, server.Close)
	if t.phone, err = w.startPhone(ctx, life, phone.Config{Dir: filepath.Join(home, w.part.folder("sim")), Profile: profile, Vendor: vendor}); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	t.close = append(t.close, t.phone.Close)
	if err := server.Connect(ctx, t.phone); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	client := &adb.Client{Path: server.Program(), ServerPort: server.Port(), Env: server.Environ()}
	return w.ready(ctx, t, client, t.phone.Serial())
}

// startPhone starts an embedded phone whose life ends with the second context.
// One that another run uses is waited for unless that is to be refused.
func (w *Workspace) startPhone(ctx, life context.Context, c phone.Config) (*phone.Phone, error) {
	for told := false; ; told = true {
		p, err := phone.Start(life, c)
		var used *phone.InUseError
		if !errors.As(err, &used) || w.refuseBusy || used.PID == os.Getpid() {
			return p, err
		}
		if !told {
			w.Note("waiting: %v", err)
		}
		if stopped := wallClock.sleep(ctx, busyPoll); stopped != nil {
			return nil, errors.Join(stopped, err)
		}
	}
}

// busyPoll is how often an embedded phone in use is asked for again.
const busyPoll = time.Second

func profileName(profile string) string {
	if profile == "" {
		return "cool"
	}
	return profile
}

// openReal opens a phone by serial: also an embedded one that runs in another
// terminal.
func (w *Workspace) openReal(ctx context.Context, client *adb.Client, serial string, what wants) (*target, error) {
	t, err := w.ready(ctx, &target{}, client, serial)
	if err != nil || !t.info.Embedded {
		return t, err
	}
	t.embedded = true
	if len(t.info.Interpreter) > 0 {
		err = w.withoutNPU(what)
	} else {
		_, err = w.simulator(ctx, what)
	}
	if err != nil {
		err = errors.Join(err, t.Close())
	}
	return t, err
}

// withoutNPU refuses variants that take an NPU, on an embedded phone whose
// programs are not this machine's: the simulated NPU is.
func (w *Workspace) withoutNPU(what wants) error {
	for _, v := range what.variants {
		if w.Variants.NeedsSDK(v) {
			return usage("the simulated NPU is not on an embedded phone of the profile %s: %s can not run there", phoneArm64, v)
		}
	}
	return nil
}

func (w *Workspace) ready(ctx context.Context, t *target, client *adb.Client, serial string) (*target, error) {
	var err error
	if app, ok := strings.CutPrefix(w.DeviceRoot, device.RunAsPrefix); ok {
		t.Device, err = device.OverRunAs(ctx, client, serial, app)
	} else {
		t.Device, err = device.OverADB(ctx, client, serial, cmp.Or(w.DeviceRoot, deviceRoot))
	}
	if err == nil {
		t.info, err = device.ReadInfo(ctx, t.Device)
	}
	if err == nil && !t.embedded && !t.info.Embedded {
		_, err = t.platform()
	}
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// Phone starts the embedded phone and shows how to reach it, until it is
// interrupted.
func Phone(ctx context.Context, profile string) error {
	w, err := Open()
	if err != nil {
		return err
	}
	builder, err := w.Builder(ctx, w.known()...)
	if err != nil {
		return err
	}
	what := wants{variants: w.known(), builders: []*build.Builder{builder}}
	if spec, err := phone.ParseSpec(profile); err == nil && spec.Profile == phoneArm64 {
		what = wants{} // it has no NPU
	}
	t, err := w.openPhone(ctx, profile, what)
	if err != nil {
		return err
	}
	fmt.Fprintf(w.Out, "The embedded phone listens at %s. Reach it from another terminal:\n\n  adb connect %s\n  adb -s %s shell\n\nIt ends with Ctrl-C, and everything it started with it.\n", t.phone.Addr(), t.phone.Addr(), t.phone.Addr())
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-time.After(30 * time.Second):
			celsius, _, status := t.phone.Heat()
			w.Note("%.1f degrees Celsius, thermal status %d, %d commands so far", celsius, status, t.phone.Stats().ShellCommands)
		}
	}
	return t.Close()
}

// Devices lists what a run can take place on.
func Devices(ctx context.Context) error {
	w, err := Open()
	if err != nil {
		return err
	}
	fmt.Fprintln(w.Out, "ssh:user@host\ta Linux board over SSH")
	fmt.Fprintln(w.Out, "sim\tthe embedded phone (always there; profiles cool, hot, sun, old, arm64: -device=sim:hot)")
	listed, err := (&adb.Client{Path: w.ADB()}).Devices(ctx)
	if err != nil {
		fmt.Fprintf(w.Out, "no phones: %v\n", err)
		return nil
	}
	for _, l := range listed {
		line := l.String()
		if err := l.Err(); err != nil {
			line = err.Error()
		}
		fmt.Fprintln(w.Out, line)
	}
	return nil
}

// hostFacts describe this machine in an archive.
func hostFacts() map[string]string {
	facts := map[string]string{}
	if text, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		facts["kernel"] = strings.TrimSpace(string(text))
	}
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for _, line := range strings.Split(string(text), "\n") {
			if name, ok := strings.CutPrefix(line, "model name"); ok {
				facts["cpu"] = strings.TrimLeft(name, "\t: ")
				break
			}
		}
	}
	return facts
}
