package harness

import (
	"context"
	"errors"
	"fmt"
	"path"
	"runtime"
	"strings"

	"hexab/internal/bench"
	"hexab/internal/build"
	"hexab/internal/device"
	"hexab/internal/host"
	"hexab/internal/ssh"
)

// sshOptions are put before all others of ssh and sftp. Tests have a
// configuration of their own.
var sshOptions []string

// hexabFolder is the folder of hexab below a root that a user names.
const hexabFolder = "hexab"

// rootOf checks the root that a user names on the device and gives hexab's
// folder below it; empty stays the default.
func rootOf(root string) (string, error) {
	if root == "" {
		return "", nil
	}
	if app, ok := strings.CutPrefix(root, device.RunAsPrefix); ok {
		if err := device.CheckPackage(app); err != nil {
			return "", usage("root: %w", err)
		}
		return root, nil
	}
	if !path.IsAbs(root) || path.Clean(root) != root || root == "/" || strings.ContainsAny(root, "\x00\n\r") {
		return "", usage("root: %q is not an absolute path on the device", root)
	}
	return path.Join(root, hexabFolder), nil
}

// openBoard connects to a Linux board over SSH.
func (w *Workspace) openBoard(ctx context.Context, name string) (*target, error) {
	to, err := ssh.ParseTarget(name)
	if err != nil {
		return nil, usage("device: %w", err)
	}
	if strings.HasPrefix(w.DeviceRoot, device.RunAsPrefix) {
		return nil, usage("root: %s is for Android phones", w.DeviceRoot)
	}
	if _, err := w.machine().Ensure(ctx, w.Cache, host.SSH); err != nil {
		return nil, err
	}
	t := &target{kind: "ssh"}
	// The connection outlives the context's end a little: stopping a run
	// cleanly takes it.
	if t.Device, err = device.OverSSH(context.WithoutCancel(ctx), ssh.Client{Options: sshOptions}, to, w.DeviceRoot); err != nil {
		return nil, err
	}
	t.close = append(t.close, t.Device.Close)
	if t.info, err = device.ReadInfo(ctx, t.Device); err == nil {
		_, err = t.platform()
	}
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// platform is what has to be built for the device.
func (t *target) platform() (bench.Platform, error) {
	native := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	switch abi := t.info.ABI; {
	case t.embedded && len(t.info.Interpreter) > 0:
		return bench.LinuxArm64, nil
	case t.embedded:
		return bench.Sim, nil
	case abi == "arm64-v8a" && t.info.Android != "":
		return bench.AndroidArm64, nil
	case abi == "aarch64":
		return bench.LinuxArm64, nil
	case abi == native && t.info.Android == "":
		return bench.Sim, nil // another machine of this one's kind
	default:
		return "", fmt.Errorf("%s has a processor of the kind %q; hexab builds for arm64 (Android and Linux) and for this machine's kind", t.Serial(), abi)
	}
}

// checkSkels makes sure that each bundle that takes the NPU has the DSP library
// for the device's.
func (s *session) checkSkels(bundles map[origin]build.Bundle) error {
	for from, b := range bundles {
		if !s.w.Variants.NeedsSDK(from.variant) || s.target.embedded {
			continue
		}
		var files []string
		for _, f := range b.Files {
			files = append(files, f.Path)
		}
		if err := s.target.info.CheckSkel(files); err != nil {
			return fmt.Errorf("variant %s can not run here: %w", from.variant, err)
		}
	}
	return nil
}

// boardFlags are the flags of a run that say where and with which files it
// takes place, for the command that does the same again.
func (w *Workspace) boardFlags() string {
	flags := ""
	if w.StandIns {
		flags += " -standIns"
	}
	if w.DeviceRoot != "" {
		flags += " -root=" + device.Quote(strings.TrimSuffix(w.DeviceRoot, "/"+hexabFolder))
	}
	return flags
}
