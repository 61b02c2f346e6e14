package phone

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
)

// properties are what getprop answers. The processor is the one that really
// runs the programs, so that nobody deploys arm64 here by mistake, unless the
// profile brings an interpreter.
func (p *Phone) properties() map[string]string {
	abi := map[string]string{"amd64": "x86_64", "arm64": "arm64-v8a"}[runtime.GOARCH]
	if abi == "" {
		abi = runtime.GOARCH
	}
	if p.profile.arm64 {
		abi = "arm64-v8a"
	}
	name := p.deviceName()
	return map[string]string{
		"init.svc.adbd":              "running",
		"ro.board.platform":          "hexab",
		"ro.boot.hardware":           "hexab",
		"ro.build.fingerprint":       fmt.Sprintf("hexab/%s/%s:%s/SIM/1:userdebug/test-keys", name, name, p.profile.release),
		"ro.build.type":              "userdebug",
		"ro.build.version.release":   p.profile.release,
		"ro.build.version.sdk":       p.profile.sdk,
		"ro.hardware":                "hexab",
		"ro.hexab.embedded":          "1",
		"ro.hexab.interpreter":       p.interpreter,
		"ro.hexab.profile":           p.spec.Profile,
		"ro.product.board":           "hexab",
		"ro.product.brand":           "hexab",
		"ro.product.cpu.abi":         abi,
		"ro.product.cpu.abilist":     abi,
		"ro.product.device":          name,
		"ro.product.manufacturer":    "hexab",
		"ro.product.model":           "Embedded Phone",
		"ro.product.name":            name,
		"ro.serialno":                name,
		"ro.soc.manufacturer":        "hexab",
		"ro.soc.model":               "SIM",
		"sys.boot_completed":         "1",
		"dev.bootcomplete":           "1",
		"ro.boot.bootdevice":         "sim",
		"persist.sys.timezone":       "Etc/UTC",
		"ro.product.first_api_level": p.profile.sdk,
	}
}

// deviceName is the phone's name as a property and a host name may hold it.
func (p *Phone) deviceName() string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 && isNameByte(byte(r)) {
			return r
		}
		return '_'
	}, p.config.Name)
}

// banner is what the phone says of itself in its CNXN.
func (p *Phone) banner() string {
	props := p.properties()
	return fmt.Sprintf("device::ro.product.name=%s;ro.product.model=%s;ro.product.device=%s;features=%s",
		props["ro.product.name"], props["ro.product.model"], props["ro.product.device"], p.profile.features)
}

// renderProperties is the file that getprop reads: name=value by line.
func renderProperties(props map[string]string) string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(props)) {
		fmt.Fprintf(&b, "%s=%s\n", k, props[k])
	}
	return b.String()
}
