package phone

import (
	"fmt"
	"math"
	"strings"
)

// Types of a temperature (android.os.Temperature).
const (
	temperatureCPU     = 0
	temperatureGPU     = 1
	temperatureBattery = 2
	temperatureSkin    = 3
	temperatureNPU     = 9
)

// thermalService is `dumpsys thermalservice` in the format of
// ThermalManagerService.dump.
func (s *sensors) thermalService() string {
	var b strings.Builder
	b.WriteString("IsStatusOverride: false\n" +
		"ThermalEventListeners:\n\tcallbacks: 2\n\tkilled: false\n\tbroadcasts count: -1\n" +
		"ThermalStatusListeners:\n\tcallbacks: 4\n\tkilled: false\n\tbroadcasts count: -1\n")
	if s.noSensors {
		b.WriteString("Thermal Status: 0\nCached temperatures:\nHAL Ready: false\n")
		return b.String()
	}
	fmt.Fprintf(&b, "Thermal Status: %d\nCached temperatures:\n", s.status)
	b.WriteString(s.temperatures())
	b.WriteString("HAL Ready: true\nHAL connection:\n\tThermalHAL AIDL 2  connected: yes\nCurrent temperatures from HAL:\n")
	b.WriteString(s.temperatures())
	state := int(math.Round((1 - s.duty) * 10))
	fmt.Fprintf(&b, "Current cooling devices from HAL:\n\tCoolingDevice{mValue=%d, mType=2, mName=thermal-cpufreq-0}\n", state)
	b.WriteString("Temperature static thresholds from HAL:\n")
	for _, kind := range []string{"CPU, name: CPU0", "SKIN, name: skin"} {
		fmt.Fprintf(&b, "\tTemperatureThreshold{type: %s, hotThrottlingThresholds: [%s], "+
			"coldThrottlingThresholds: [NaN, NaN, NaN, NaN, NaN, NaN, NaN]}\n", kind, s.thresholds())
	}
	return b.String()
}

// thresholds lists the trip temperatures by status 0 to 6.
func (s *sensors) thresholds() string {
	var list [7]string
	for i := range list {
		list[i] = "NaN"
	}
	for _, t := range s.model.Governor.Trips {
		list[t.Status] = fmt.Sprintf("%.1f", t.Celsius)
	}
	return strings.Join(list[:], ", ")
}

func (s *sensors) temperatures() string {
	var b strings.Builder
	for _, t := range []struct {
		name string
		kind int
		zone zone
	}{
		{"CPU0", temperatureCPU, zone{"cpu-0-0-0", 1}},
		{"CPU1", temperatureCPU, zone{"cpu-1-0-0", 0.99}},
		{"GPU0", temperatureGPU, zone{"gpuss-0", 0.8}},
		{"nsp0", temperatureNPU, zone{"nsphvx-0", 0.95}},
		{"battery", temperatureBattery, zone{"battery", 0}},
		{"skin", temperatureSkin, zone{"quiet-therm", 0}},
	} {
		value := fmt.Sprintf("%.1f", s.celsius(t.zone))
		if s.oddUnits && t.kind == temperatureGPU {
			value = "NaN"
		}
		status := s.status
		if t.kind == temperatureBattery || t.kind == temperatureSkin {
			status = 0
		}
		fmt.Fprintf(&b, "\tTemperature{mValue=%s, mType=%d, mName=%s, mStatus=%d}\n", value, t.kind, t.name, status)
	}
	return b.String()
}

// battery is `dumpsys battery` in the format of BatteryService.dumpInternal.
func (s *sensors) battery() string {
	temperature := fmt.Sprintf("  temperature: %d\n", tenths(s.model.Battery.Celsius()))
	if s.noSensors {
		temperature = "  temperature: 0\n"
	}
	return "Current Battery Service state:\n" +
		"  AC powered: false\n  USB powered: true\n  Wireless powered: false\n  Dock powered: false\n" +
		"  Max charging current: 500000\n  Max charging voltage: 5000000\n  Charge counter: 3900000\n" +
		"  status: 2\n  health: 2\n  present: true\n  level: 82\n  scale: 100\n  voltage: 4210\n" +
		temperature + "  technology: Li-ion\n"
}

// powerDump and displayDump hold the lines that tools read the screen's state
// from. The embedded phone's screen is always on.
const (
	powerDump = `POWER MANAGER (dumpsys power)

Power Manager State:
  mDirty=0x0
  mWakefulness=Awake
  mIsPowered=true
  mPlugType=2
  mBatteryLevel=82
  mStayOn=true
  mHoldingDisplaySuspendBlocker=true

Display Power: state=ON
`
	displayDump = `DISPLAY MANAGER (dumpsys display)
  mSafeMode=false

Display States: size=1
  Display Id=0
  Display State=ON
  Display Brightness=0.4

Display Power Controller:
  mScreenState=ON
`
)
