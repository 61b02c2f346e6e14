package report

import "testing"

func TestCosts(t *testing.T) {
	golden(t, "costs.txt", Costs([]Cost{
		{"llama3", "dspqueue", map[string]float64{"packets": 1, "dma_bytes": 1234567890123, "zero": 0, "ops.RMS_NORM+MUL": 11}, map[string]float64{"packets": 1, "cache_lines": 10.5, "ops.RMS_NORM+MUL": 11}},
		{"llama3", "fastrpc:coherency=whole", map[string]float64{"invokes.8": 1}, map[string]float64{"invokes.8": 1, "cache_lines": -2}},
		{"qwen2", "dspqueue", map[string]float64{"packets": 2}, nil},
	}, "pp64", Options{Width: 100}))
}
