package device

import (
	"strings"
	"testing"
)

func TestHexagonArch(t *testing.T) {
	for soc, want := range map[string]int{
		"SM8750": 79, "SM8750P": 79, "SM8650-AC": 75, "qcom,sm8550": 73, "SM8850": 81, "SM8450": 69,
		"": 0, "MT6989": 0, "SM9999": 0, "SM8750XYZ": 0, "Tensor G4": 0,
	} {
		if got := HexagonArch(soc); got != want {
			t.Errorf("%q: v%d, expected v%d", soc, got, want)
		}
	}
}

func TestCheckSkel(t *testing.T) {
	files := []string{"libggml-htp-v75.so", "libggml-htp-v79.so"}
	for _, c := range []struct {
		arch int
		want string
	}{{0, ""}, {79, ""}, {81, "has no libggml-htp-v81.so"}, {69, "need v73 or later"}} {
		err := Info{SoC: "X", Hexagon: c.arch}.CheckSkel(files)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("v%d: %v", c.arch, err)
		}
	}
}

// Answers of a phone and of a board, invented, in the shapes that they have.
func TestParseInfo(t *testing.T) {
	phone := parseInfo("ro.product.model=SM-S938B\nro.soc.model=SM8750P\nro.build.version.release=15\nro.build.fingerprint=a/b/c:15/X/1:user/release-keys\n" +
		"ro.product.cpu.abi=arm64-v8a\nro.hexab.embedded=\nro.hexab.interpreter=\nkernel=6.6.30-android15\nmachine=aarch64\nlinux=\nboard=\nsoc0=SM8750P\ncompatible=\n" +
		"boot=x\nmemory=MemTotal:       11534336 kB\ncores=8\ngovernor=walt\nfreq=3532800\nfreq=4320000\n")
	if phone.Hexagon != 79 || phone.ABI != "arm64-v8a" || phone.Android != "15" || phone.Linux != "" || phone.BigCores != 1 || phone.MemoryTotal != 11534336<<10 {
		t.Errorf("%+v", phone)
	}
	if p := phone.Properties(); p["hexagon"] != "v79" || p["soc"] != "SM8750P" || p["fingerprint"] == "" || p["governor"] != "walt" {
		t.Errorf("%v", p)
	}
	board := parseInfo("ro.product.model=\nro.soc.model=\nkernel=6.8.0\nmachine=aarch64\nlinux=PRETTY_NAME=\"Ubuntu 24.04 LTS\"\nboard=Qualcomm Technologies, Inc. SM8550 HDK\n" +
		"soc0=\ncompatible=qcom,sm8550-hdk qcom,sm8550 \ncores=8\n")
	if board.SoC != "SM8550" || board.Hexagon != 73 || board.ABI != "aarch64" || board.Linux != "Ubuntu 24.04 LTS" || !strings.HasSuffix(board.Model, "HDK") {
		t.Errorf("%+v", board)
	}
	other := parseInfo("machine=aarch64\nsoc0=QCS9075\ncompatible=qcom,qcs9075-evk qcom,qcs9075 \n")
	if other.SoC != "qcs9075" || other.Hexagon != 0 {
		t.Errorf("%+v", other)
	}
}

func FuzzParseInfo(f *testing.F) {
	f.Add("ro.soc.model=SM8750\ncompatible=qcom,a qcom,b\nfreq=1\nmemory=MemTotal: 1 kB\n")
	f.Fuzz(func(t *testing.T, text string) {
		info := parseInfo(text)
		if info.MemoryTotal < 0 || info.BigCores < 0 {
			t.Errorf("%+v", info)
		}
	})
}
