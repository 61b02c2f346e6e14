package phone

// profile is a kind of phone.
type profile struct {
	features string // of the adb daemon
	release  string // Android version
	sdk      string // its API level
	thermal  func() ThermalModel
}

const (
	modernFeatures = "shell_v2,cmd,stat_v2,ls_v2,fixed_push_mkdir,fixed_push_symlink_timestamp"
	oldFeatures    = "cmd"
)

// profiles by name. All figures are of no real phone.
var profiles = map[string]profile{
	"cool": {modernFeatures, "15", "35", coolModel},
	"hot":  {modernFeatures, "15", "35", hotModel},
	"old":  {oldFeatures, "6.0.1", "23", coolModel},
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

var hotTrips = []Trip{
	{Celsius: 60, Duty: 0.75, Status: 1},
	{Celsius: 70, Duty: 0.55, Status: 2},
	{Celsius: 80, Duty: 0.35, Status: 3},
	{Celsius: 95, Duty: 0.15, Status: 4},
}

// HotModel is the thermal model of the profile hot, for simulated runs.
func HotModel() ThermalModel { return hotModel() }
