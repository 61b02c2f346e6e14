package bench

import (
	"fmt"
	"time"
)

// Nanoseconds is a span of time as llama-bench reports it.
type Nanoseconds int64

// Duration gives the span in Go's own type.
func (n Nanoseconds) Duration() time.Duration { return time.Duration(n) }

// TokensPerSecond is the throughput of a test.
type TokensPerSecond float64

// Celsius is a temperature in degrees Celsius.
type Celsius float64

// Bytes is a size of data in bytes.
type Bytes int64

// Binary multiples of a byte.
const (
	KiB Bytes = 1 << 10
	MiB Bytes = 1 << 20
	GiB Bytes = 1 << 30
)

// String prints the size with the largest binary unit that leaves a value of
// at least one, for example "47.5 MiB".
func (b Bytes) String() string {
	switch {
	case b >= GiB:
		return fmt.Sprintf("%.2f GiB", float64(b)/float64(GiB))
	case b >= MiB:
		return fmt.Sprintf("%.1f MiB", float64(b)/float64(MiB))
	case b >= KiB:
		return fmt.Sprintf("%.1f KiB", float64(b)/float64(KiB))
	}
	return fmt.Sprintf("%d B", int64(b))
}

// Throughput gives the tokens a second of tokens processed in a span. It is
// zero for a span that is not positive.
func Throughput(tokens int, span Nanoseconds) TokensPerSecond {
	if span <= 0 {
		return 0
	}
	return TokensPerSecond(float64(tokens) * 1e9 / float64(span))
}
