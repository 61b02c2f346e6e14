package phone

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
)

// profile is a kind of phone.
type profile struct {
	features string // of the adb daemon
	release  string // Android version
	sdk      string // its API level
	thermal  func() ThermalModel
	// arm64 tells that the phone's programs are for arm64 although this
	// machine's are not. There is no binfmt in it: the phone names the
	// interpreter (ro.hexab.interpreter) that a program is to be started with.
	arm64 bool
}

const (
	modernFeatures = "shell_v2,cmd,stat_v2,ls_v2,fixed_push_mkdir,fixed_push_symlink_timestamp"
	oldFeatures    = "cmd"
)

// profiles by name. All figures are of no real phone.
var profiles = map[string]profile{
	"cool":  {modernFeatures, "15", "35", coolModel, false},
	"hot":   {modernFeatures, "15", "35", hotModel, false},
	"sun":   {modernFeatures, "15", "35", sunModel, false},
	"old":   {oldFeatures, "6.0.1", "23", coolModel, false},
	"arm64": {modernFeatures, "15", "35", coolModel, true},
}

// arm64Root is where Debian's cross compiler keeps the libraries of arm64.
const arm64Root = "/usr/aarch64-linux-gnu"

// arm64Interpreter is the command that programs for arm64 are started with on
// this machine; empty where it runs them itself.
func arm64Interpreter() (string, error) {
	if runtime.GOARCH == "arm64" {
		return "", nil
	}
	for _, name := range []string{"qemu-aarch64", "qemu-aarch64-static"} {
		program, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if _, err := os.Stat(arm64Root + "/lib/libstdc++.so.6"); err != nil {
			return "", fmt.Errorf("profile arm64: the libraries of arm64 are not installed (Debian, Ubuntu: apt-get install g++-aarch64-linux-gnu): %w", err)
		}
		return program + " -L " + arm64Root, nil
	}
	return "", errors.New("profile arm64: qemu-aarch64 is not in PATH (Debian, Ubuntu: apt-get install qemu-user)")
}

// coolModel stays below every trip point: two busy cores end at 37 degrees.
func coolModel() ThermalModel {
	return ThermalModel{
		Chip:      RC{AmbientCelsius: 25, ResistanceKelvinPerW: 4, CapacitanceJPerKelvin: 5},
		Battery:   RC{AmbientCelsius: 25, ResistanceKelvinPerW: 1.5, CapacitanceJPerKelvin: 60},
		Skin:      RC{AmbientCelsius: 25, ResistanceKelvinPerW: 1.2, CapacitanceJPerKelvin: 40},
		IdleWatts: 0.6, WattsPerCore: 1.2, FixedDuty: 1,
		Governor: Governor{Trips: hotTrips, HysteresisKelvin: 3},
	}
}

// hotModel has a time constant of 21 s and would end at 108 degrees with two
// busy cores: it passes the first trip after about 10 s of load and then
// hovers between the trips.
func hotModel() ThermalModel {
	return ThermalModel{
		Chip:      RC{AmbientCelsius: 28, ResistanceKelvinPerW: 7, CapacitanceJPerKelvin: 3},
		Battery:   RC{AmbientCelsius: 28, ResistanceKelvinPerW: 1.5, CapacitanceJPerKelvin: 60},
		Skin:      RC{AmbientCelsius: 28, ResistanceKelvinPerW: 1.8, CapacitanceJPerKelvin: 30},
		IdleWatts: 0.8, WattsPerCore: 5.3, FixedDuty: 0.4,
		Governor: Governor{Trips: hotTrips, HysteresisKelvin: 3},
	}
}

// sunModel is a phone in the sun with a case around it: 51 degrees when idle,
// with a time constant of 17 s. A third of one busy core ends at 76 degrees,
// so that it throttles under any work, also on a machine that has little time
// for it.
func sunModel() ThermalModel {
	m := hotModel()
	m.Chip = RC{AmbientCelsius: 40, ResistanceKelvinPerW: 14, CapacitanceJPerKelvin: 1.2}
	m.Battery.AmbientCelsius, m.Skin.AmbientCelsius = 40, 40
	return m
}

var hotTrips = []Trip{
	{Celsius: 60, Duty: 0.75, Status: 1},
	{Celsius: 70, Duty: 0.55, Status: 2},
	{Celsius: 80, Duty: 0.35, Status: 3},
	{Celsius: 95, Duty: 0.15, Status: 4},
}

// HotModel is the thermal model of the profile hot, for simulated runs.
func HotModel() ThermalModel { return hotModel() }
