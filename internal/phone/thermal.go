package phone

import (
	"math"
	"time"
)

// RC is a first-order thermal model: one heat capacity C (J/K), which power
// P (W) heats and which loses heat to the surroundings at T_a over one thermal
// resistance R (K/W):
//
//	C dT/dt = P - (T - T_a)/R
//
// With constant power over a step dt its solution is exact,
//
//	T(t+dt) = T_inf + (T(t) - T_inf) exp(-dt/RC),  T_inf = T_a + P R
//
// (the lumped-capacitance model; e.g. Incropera, Fundamentals of Heat and Mass
// Transfer, chapter 5). It keeps no clock: it serves the embedded phone in
// real time and a simulated run in none.
type RC struct {
	AmbientCelsius        float64
	ResistanceKelvinPerW  float64
	CapacitanceJPerKelvin float64
	celsius               float64
	started               bool
}

// Celsius is the present temperature: the ambient one before the first step.
func (m *RC) Celsius() float64 {
	if !m.started {
		return m.AmbientCelsius
	}
	return m.celsius
}

// Set sets the present temperature in degrees Celsius.
func (m *RC) Set(celsius float64) { m.celsius, m.started = celsius, true }

// TimeConstant is RC.
func (m *RC) TimeConstant() time.Duration {
	return time.Duration(m.ResistanceKelvinPerW * m.CapacitanceJPerKelvin * float64(time.Second))
}

// Step lets dt pass at constant power and returns the new temperature in
// degrees Celsius. Steps of any size give the same result as one of their sum.
func (m *RC) Step(dt time.Duration, powerWatts float64) float64 {
	end := m.AmbientCelsius + powerWatts*m.ResistanceKelvinPerW
	decay := math.Exp(-dt.Seconds() / (m.ResistanceKelvinPerW * m.CapacitanceJPerKelvin))
	m.Set(end + (m.Celsius()-end)*decay)
	return m.celsius
}

// ThermalStatus is Android's throttling status (android.os.PowerManager,
// THERMAL_STATUS_*): 0 none, 1 light, 2 moderate, 3 severe, 4 critical,
// 5 emergency, 6 shutdown.
type ThermalStatus int

// Trip is a temperature from which on the processors run for a share of the
// time only.
type Trip struct {
	Celsius float64
	Duty    float64 // share of the time, 0 to 1
	Status  ThermalStatus
}

// Governor throttles by trip points. A trip once passed holds until the
// temperature is HysteresisKelvin below it.
type Governor struct {
	Trips            []Trip // by rising temperature
	HysteresisKelvin float64
	passed           int // trips in force
}

// Update takes a temperature in degrees Celsius and returns the duty and the
// status in force.
func (g *Governor) Update(celsius float64) (duty float64, status ThermalStatus) {
	for g.passed < len(g.Trips) && celsius >= g.Trips[g.passed].Celsius {
		g.passed++
	}
	for g.passed > 0 && celsius < g.Trips[g.passed-1].Celsius-g.HysteresisKelvin {
		g.passed--
	}
	if g.passed == 0 {
		return 1, 0
	}
	t := g.Trips[g.passed-1]
	return t.Duty, t.Status
}

// ThermalModel is the heat of a whole phone: the chip, whose RC throttling
// goes by, and the slower battery and back cover that it warms.
type ThermalModel struct {
	Chip, Battery, Skin RC
	Governor            Governor
	IdleWatts           float64
	WattsPerCore        float64 // of one core that is always busy

	// FixedDuty is the duty that fixed-performance mode allows at most: low
	// enough to be held for ever.
	FixedDuty float64
}

// Step lets dt pass while busyCores cores are busy (their mean over dt, a
// fraction), and returns the duty and the status then in force.
func (m *ThermalModel) Step(dt time.Duration, busyCores float64) (duty float64, status ThermalStatus) {
	power := m.IdleWatts + m.WattsPerCore*busyCores
	m.Chip.Step(dt, power)
	m.Battery.Step(dt, power)
	m.Skin.Step(dt, power)
	return m.Governor.Update(m.Chip.Celsius())
}
