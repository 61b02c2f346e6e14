package phone

import (
	"embed"
	"fmt"
	"path"
	"runtime"
	"syscall"
)

// programFiles answer as a phone's do, put first on PATH. Those whose answer
// is the same on any Linux (sha256sum, stat, cat, mv ...) are the host's.
//
//go:embed bin
var programFiles embed.FS

// install writes the phone's own programs and state files, and removes what
// the last run left of them.
func (p *Phone) install() error {
	root := p.files.root
	for _, d := range []string{"sys/class/thermal", "dev/hexab", "system/bin"} {
		if err := root.RemoveAll(d); err != nil {
			return err
		}
	}
	for _, d := range []string{"sys/class/thermal", "dev/hexab/dumpsys", "system/bin/full"} {
		if err := root.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	for _, folder := range []string{"bin", "bin/full"} {
		entries, err := programFiles.ReadDir(folder)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if e.IsDir() {
				continue
			}
			content, err := programFiles.ReadFile(path.Join(folder, e.Name()))
			if err != nil {
				return err
			}
			name := path.Join("/system", folder, e.Name())
			if err := p.files.replace(name, content, 0o755); err != nil {
				return err
			}
			if err := root.Chmod(local(name), 0o755); err != nil { // whatever the umask
				return err
			}
		}
	}
	if err := p.installVendor(); err != nil {
		return err
	}
	s := p.sensors
	s.mu.Lock()
	defer s.mu.Unlock()
	var folders []string
	if !s.noSensors {
		for i := range zones {
			folders = append(folders, fmt.Sprintf("sys/class/thermal/thermal_zone%d", i))
		}
	}
	for i := range runtime.NumCPU() {
		folders = append(folders, fmt.Sprintf("sys/devices/system/cpu/cpu%d/cpufreq", i))
	}
	for _, f := range folders {
		if err := root.MkdirAll(f, 0o755); err != nil {
			return err
		}
	}
	s.put(propertiesFile, renderProperties(p.properties()))
	s.put(dumpFolder+"power", powerDump)
	s.put(dumpFolder+"display", displayDump)
	s.put(fixedFile, "false\n")
	s.show()
	if s.written["/proc/uptime"] == "" {
		return syscall.EIO // the log says why
	}
	return nil
}
