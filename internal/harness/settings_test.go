package harness

import "testing"

func TestSettings(t *testing.T) {
	for _, variant := range []string{"", "cpu", "dspqueue"} {
		if err := Settings(variant); err != nil {
			t.Errorf("%s: %v", variant, err)
		}
	}
	if err := Settings("gpu"); ExitStatus(err) != 2 {
		t.Errorf("%v", err)
	}
}
