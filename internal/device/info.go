package device

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"hexab/internal/bench"
)

// Info is what a device says of itself. What it does not say is empty or zero.
type Info struct {
	Model, Product, SoC  string
	Android, Fingerprint string
	Kernel, ABI, BootID  string
	Cores, BigCores      int
	MemoryTotal          bench.Bytes
	Embedded             bool
	Governor             string
}

// infoScript asks for everything in one round trip. Each answer is a line
// "key=value"; what a device does not know yields an empty value.
const infoScript = `for p in ro.product.model ro.product.name ro.soc.model ro.build.version.release ro.build.fingerprint ro.product.cpu.abi ro.hexab.embedded; do echo "$p=$(getprop $p 2>/dev/null)"; done
echo "kernel=$(uname -r)"; echo "machine=$(uname -m)"
echo "boot=$(cat /proc/sys/kernel/random/boot_id 2>/dev/null)"
echo "memory=$(cat /proc/meminfo 2>/dev/null | grep MemTotal)"
echo "cores=$(nproc 2>/dev/null)"
echo "governor=$(cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor 2>/dev/null)"
for f in /sys/devices/system/cpu/cpu[0-9]*/cpufreq/cpuinfo_max_freq; do echo "freq=$(cat $f 2>/dev/null)"; done`

// ReadInfo asks a device what it is.
func ReadInfo(ctx context.Context, d Device) (Info, error) {
	var out bytes.Buffer
	if _, err := d.Run(ctx, Command{Script: infoScript, Stdout: &out}); err != nil {
		return Info{}, err
	}
	return parseInfo(out.String()), nil
}

func parseInfo(text string) Info {
	var info Info
	var frequencies []int
	for _, line := range strings.Split(text, "\n") {
		key, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if !ok || len(value) > 512 {
			continue
		}
		switch key {
		case "ro.product.model":
			info.Model = value
		case "ro.product.name":
			info.Product = value
		case "ro.soc.model":
			info.SoC = value
		case "ro.build.version.release":
			info.Android = value
		case "ro.build.fingerprint":
			info.Fingerprint = value
		case "ro.product.cpu.abi":
			info.ABI = value
		case "ro.hexab.embedded":
			info.Embedded = value != ""
		case "kernel":
			info.Kernel = value
		case "boot":
			info.BootID = value
		case "governor":
			info.Governor = value
		case "cores":
			info.Cores, _ = strconv.Atoi(value)
		case "memory":
			info.MemoryTotal = kibibytes(value)
		case "freq":
			if f, err := strconv.Atoi(value); err == nil {
				frequencies = append(frequencies, f)
			}
		}
	}
	info.BigCores = bigCores(frequencies, info.Cores)
	return info
}

// bigCores counts the cores whose top frequency is above the slowest kind's;
// all of them where there is one kind.
func bigCores(frequencies []int, cores int) int {
	if len(frequencies) == 0 {
		return cores
	}
	slowest := frequencies[0]
	for _, f := range frequencies {
		slowest = min(slowest, f)
	}
	big := 0
	for _, f := range frequencies {
		if f > slowest {
			big++
		}
	}
	if big == 0 {
		return len(frequencies)
	}
	return big
}

var kibibyteField = regexp.MustCompile(`([0-9]{1,15}) kB`)

func kibibytes(text string) bench.Bytes {
	m := kibibyteField.FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	n, _ := strconv.ParseInt(m[1], 10, 64)
	return bench.Bytes(n) * bench.KiB
}

// Properties are the facts for the archive.
func (i Info) Properties() map[string]string {
	facts := map[string]string{}
	for key, value := range map[string]string{
		"model": i.Model, "product": i.Product, "soc": i.SoC, "android": i.Android, "fingerprint": i.Fingerprint,
		"kernel": i.Kernel, "abi": i.ABI, "boot_id": i.BootID, "governor": i.Governor,
	} {
		if value != "" {
			facts[key] = value
		}
	}
	if i.Cores > 0 {
		facts["cores"] = fmt.Sprintf("%d (%d big)", i.Cores, i.BigCores)
	}
	if i.MemoryTotal > 0 {
		facts["memory"] = i.MemoryTotal.String()
	}
	return facts
}
