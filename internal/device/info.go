package device

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"hexab/internal/bench"
)

// Info is what a device says of itself. What it does not say is empty or zero.
type Info struct {
	Model, Product, SoC string
	// Hexagon is the architecture of the NPU by the chip's model, such as 79;
	// zero when the chip is not known.
	Hexagon int
	// Android and Fingerprint are the version and build of an Android system,
	// Linux the distribution of another one.
	Android, Fingerprint, Linux string
	Kernel, ABI, BootID         string
	Cores, BigCores             int
	MemoryTotal                 bench.Bytes
	Embedded                    bool
	Governor                    string
	// Interpreter runs the programs of the device's ABI where its processor
	// can not: words to put before a program. Only embedded phones have one.
	Interpreter []string
}

// infoScript asks for everything in one round trip. Each answer is a line
// "key=value"; what a device does not know yields an empty value. Boards
// without Android tell of themselves in the device tree (its strings end in
// NUL) and in /sys/devices/soc0.
const infoScript = `for p in ro.product.model ro.product.name ro.soc.model ro.build.version.release ro.build.fingerprint ro.product.cpu.abi ro.hexab.embedded ro.hexab.interpreter; do echo "$p=$(getprop $p 2>/dev/null)"; done
echo "kernel=$(uname -r)"; echo "machine=$(uname -m)"
echo "linux=$(grep -m 1 '^PRETTY_NAME=' /etc/os-release 2>/dev/null)"
echo "board=$(tr -d '\000' 2>/dev/null </proc/device-tree/model)"
echo "soc0=$(cat /sys/devices/soc0/machine 2>/dev/null)"
echo "compatible=$(tr '\000' ' ' 2>/dev/null </proc/device-tree/compatible)"
echo "boot=$(cat /proc/sys/kernel/random/boot_id 2>/dev/null)"
echo "memory=$(cat /proc/meminfo 2>/dev/null | grep MemTotal)"
echo "cores=$(nproc 2>/dev/null)"
echo "governor=$(cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor 2>/dev/null)"
for f in /sys/devices/system/cpu/cpu[0-9]*/cpufreq/cpuinfo_max_freq; do echo "freq=$(cat $f 2>/dev/null)"; done`

// ReadInfo asks a device what it is.
func ReadInfo(ctx context.Context, d Device) (Info, error) {
	var out bytes.Buffer
	if _, err := d.Run(ctx, Command{OfDevice: true, Script: infoScript, Stdout: &out}); err != nil {
		return Info{}, err
	}
	return parseInfo(out.String()), nil
}

func parseInfo(text string) Info {
	var info Info
	var frequencies []int
	var machine, linux, board string
	var chips []string
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
		case "ro.hexab.interpreter":
			info.Interpreter = strings.Fields(value)
		case "machine":
			machine = value
		case "linux":
			_, name, _ := strings.Cut(value, "=")
			linux = strings.Trim(name, `"'`)
		case "board":
			board = value
		case "soc0", "compatible":
			chips = append(chips, strings.Fields(value)...)
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
	info.ABI = cmp.Or(info.ABI, machine)
	info.Model = cmp.Or(info.Model, board)
	if info.Android == "" {
		info.Linux = linux
	}
	if info.SoC == "" {
		info.SoC = chipOf(chips)
	}
	info.Hexagon = HexagonArch(info.SoC)
	return info
}

// chipOf picks the chip from what a board says: the first one that is known,
// else the last "qcom," of the device tree, which goes from board to chip.
func chipOf(names []string) string {
	last := ""
	for _, name := range names {
		if HexagonArch(name) != 0 {
			return plainChip(name)
		}
		if chip, ok := strings.CutPrefix(name, "qcom,"); ok {
			last = chip
		} else if last == "" && plainChip(name) != "" {
			last = name
		}
	}
	return last
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
		"kernel": i.Kernel, "abi": i.ABI, "boot_id": i.BootID, "governor": i.Governor, "linux": i.Linux,
		"interpreter": strings.Join(i.Interpreter, " "),
	} {
		if value != "" {
			facts[key] = value
		}
	}
	if i.Hexagon > 0 {
		facts["hexagon"] = fmt.Sprintf("v%d", i.Hexagon)
	}
	if i.Cores > 0 {
		facts["cores"] = fmt.Sprintf("%d (%d big)", i.Cores, i.BigCores)
	}
	if i.MemoryTotal > 0 {
		facts["memory"] = i.MemoryTotal.String()
	}
	return facts
}
