package report

import (
	"fmt"
	"testing"
)

func TestCombined(t *testing.T) {
	var list []OnDevice
	for _, s := range samples() {
		if s.id != "holes" && s.id != "simulated" && s.id != "hostile" {
			continue
		}
		c, run := s.compare(t)
		one := OnDevice{Device: run.Device.Serial, Comparisons: c, Run: run}
		if s.id == "holes" {
			one.Failure = "6 launches have no result"
		}
		list = append(list, one)
	}
	list = append(list, OnDevice{Device: "R5CT9", Failure: "R5CT9 is unauthorized; accept the key on the phone's screen\x1b[2J"})
	for _, width := range []int{0, 120, 60} {
		golden(t, fmt.Sprintf("combined-%d.txt", width), Combined(list, Options{Width: width}))
	}
}
