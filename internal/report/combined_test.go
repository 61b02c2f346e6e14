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
		list = append(list, OnDevice{Device: run.Device.Serial, Comparisons: c, Run: run})
	}
	for _, width := range []int{0, 120, 60} {
		golden(t, fmt.Sprintf("combined-%d.txt", width), Combined(list, Options{Width: width}))
	}
}
