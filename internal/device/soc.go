package device

import (
	"fmt"
	"regexp"
	"strings"
)

// hexagonArchs gives the Hexagon architecture of the NPU in a system on chip,
// by the model as ro.soc.model has it, without suffixes such as -AC or P.
// Source: the chip table of ExecuTorch's Qualcomm backend, which Qualcomm
// maintains (github.com/pytorch/executorch, backends/qualcomm/serialization/
// qc_schema.py); SM8635 and SM8735 from pull request 19216 there, which cites
// the QNN SDK's table of supported devices. A chip that is not listed here is
// unknown: the backend asks the DSP itself.
var hexagonArchs = map[string]int{
	"SA8295": 68,
	"SM8450": 69, "SM8475": 69, "SXR2230": 69,
	"SM8550": 73, "SM8635": 73, "SA8255": 73, "SSG2115": 73, "SSG2125": 73, "SXR1230": 73,
	"SM8650": 75,
	"SM8735": 79, "SM8750": 79,
	"SM8850": 81,
}

var socModel = regexp.MustCompile(`^([A-Z]{2,4}[0-9]{3,5})(?:P|-[A-Z0-9]{1,4})?$`)

// HexagonArch is the architecture of a chip's NPU, such as 79; zero when the
// chip is not known.
func HexagonArch(soc string) int { return hexagonArchs[plainChip(soc)] }

// plainChip is a chip's model without prefix and suffixes; empty when it is
// none.
func plainChip(soc string) string {
	m := socModel.FindStringSubmatch(strings.ToUpper(strings.TrimPrefix(soc, "qcom,")))
	if m == nil {
		return ""
	}
	return m[1]
}

// Oldest and newest architecture that the backend's DSP libraries are built
// for (llama.cpp, ggml/src/ggml-hexagon/CMakeLists.txt).
const (
	oldestHexagon = 73
	newestHexagon = 81
)

// SkelName is the DSP library that the backend loads on an NPU of the
// architecture (llama.cpp, ggml-hexagon.cpp: the nearest one in its range).
func SkelName(arch int) string {
	return fmt.Sprintf("libggml-htp-v%d.so", max(oldestHexagon, min(arch, newestHexagon)))
}

// CheckSkel tells whether the DSP library for the device's NPU is among a
// bundle's files. Without a known NPU there is nothing to say.
func (i Info) CheckSkel(files []string) error {
	if i.Hexagon == 0 {
		return nil
	}
	if i.Hexagon < oldestHexagon {
		return fmt.Errorf("the NPU of %s is Hexagon v%d; the backend's DSP libraries need v%d or later", i.SoC, i.Hexagon, oldestHexagon)
	}
	for _, f := range files {
		if f == SkelName(i.Hexagon) {
			return nil
		}
	}
	return fmt.Errorf("the NPU of %s is Hexagon v%d, and the bundle has no %s: build the variant with that architecture", i.SoC, i.Hexagon, SkelName(i.Hexagon))
}
