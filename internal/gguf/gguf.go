// Package gguf writes GGUF version 3 files, the model format of llama.cpp, and
// reads the header of one that nobody vouches for.
//
// The writer streams: tensor data is produced on demand, so a model of any size
// is written in a few megabytes of memory. The reader looks at metadata and
// tensor descriptions only, under strict caps, to check a download and to tell
// what it is.
//
// The format is described in ggml/include/gguf.h of llama.cpp. All numbers are
// little-endian.
package gguf

import "fmt"

const (
	// Magic is what every GGUF file starts with.
	Magic = "GGUF"
	// Version is the version of the format that this package reads and writes.
	Version = 3
	// DefaultAlignment is the alignment of tensor data in bytes where the
	// metadata does not name another.
	DefaultAlignment = 32
	// HeaderBytes is the size of the fixed part of the header, hence of the
	// smallest GGUF file: magic, version, two counts.
	HeaderBytes = 24

	alignmentKey = "general.alignment"
)

// Kind is the type of a metadata value, by its number in the file.
type Kind uint32

// Kinds of metadata values.
const (
	KindUint8 Kind = iota
	KindInt8
	KindUint16
	KindInt16
	KindUint32
	KindInt32
	KindFloat32
	KindBool
	KindString
	KindArray
	KindUint64
	KindInt64
	KindFloat64
)

var kindNames = [...]string{"uint8", "int8", "uint16", "int16", "uint32", "int32", "float32",
	"bool", "string", "array", "uint64", "int64", "float64"}

// kindBytes is the size of a value; of a string the size of its length, the
// least that it takes.
var kindBytes = [...]int64{1, 1, 2, 2, 4, 4, 4, 1, 8, 12, 8, 8, 8}

func (k Kind) known() bool { return int(k) < len(kindNames) }

func (k Kind) String() string {
	if !k.known() {
		return fmt.Sprintf("kind %d", uint32(k))
	}
	return kindNames[k]
}

// Scalar is a Go type that can be the value of a metadata key, alone or as the
// element of an array.
type Scalar interface {
	uint8 | int8 | uint16 | int16 | uint32 | int32 | uint64 | int64 | float32 | float64 | bool | string
}

// Value is the value of a metadata key. The zero Value is not valid; values
// are made by Of and ArrayOf.
type Value struct {
	data any // a Scalar or a slice of one
}

// Of returns the value v.
func Of[T Scalar](v T) Value { return Value{v} }

// ArrayOf returns the array v, which is not copied.
func ArrayOf[T Scalar](v []T) Value { return Value{v} }

// Interface returns the value as the Go type it was made of: a Scalar or a
// slice of one.
func (v Value) Interface() any { return v.data }

// kind returns the kind of the value, or of the elements and their number if it
// is an array; n is -1 for any other. It returns KindArray for the zero Value.
func (v Value) kind() (k Kind, n int) {
	switch d := v.data.(type) {
	case uint8:
		return KindUint8, -1
	case int8:
		return KindInt8, -1
	case uint16:
		return KindUint16, -1
	case int16:
		return KindInt16, -1
	case uint32:
		return KindUint32, -1
	case int32:
		return KindInt32, -1
	case float32:
		return KindFloat32, -1
	case bool:
		return KindBool, -1
	case string:
		return KindString, -1
	case uint64:
		return KindUint64, -1
	case int64:
		return KindInt64, -1
	case float64:
		return KindFloat64, -1
	case []uint8:
		return KindUint8, len(d)
	case []int8:
		return KindInt8, len(d)
	case []uint16:
		return KindUint16, len(d)
	case []int16:
		return KindInt16, len(d)
	case []uint32:
		return KindUint32, len(d)
	case []int32:
		return KindInt32, len(d)
	case []float32:
		return KindFloat32, len(d)
	case []bool:
		return KindBool, len(d)
	case []string:
		return KindString, len(d)
	case []uint64:
		return KindUint64, len(d)
	case []int64:
		return KindInt64, len(d)
	case []float64:
		return KindFloat64, len(d)
	}
	return KindArray, -1
}

// Text returns the value if it is a string.
func (v Value) Text() (string, bool) {
	s, ok := v.data.(string)
	return s, ok
}

// Uint returns the value if it is an integer that is not negative, of
// whatever width the file has it in.
func (v Value) Uint() (uint64, bool) {
	switch n := v.data.(type) {
	case uint8:
		return uint64(n), true
	case uint16:
		return uint64(n), true
	case uint32:
		return uint64(n), true
	case uint64:
		return n, true
	case int8:
		return uint64(n), n >= 0
	case int16:
		return uint64(n), n >= 0
	case int32:
		return uint64(n), n >= 0
	case int64:
		return uint64(n), n >= 0
	}
	return 0, false
}

// KeyValue is one entry of the metadata.
type KeyValue struct {
	Key   string
	Value Value
}

// Type is the type of a tensor's elements, by its number in the file
// (enum ggml_type in ggml/include/ggml.h).
type Type uint32

// Types that this package can turn into numbers; every type that files hold is
// known by name and size.
const (
	F32  Type = 0
	F16  Type = 1
	Q4_0 Type = 2
	Q6_K Type = 14
)

// layout is the name and the packing of a type: so many values in so many bytes.
type layout struct {
	name          string
	values, bytes int64
}

// layouts holds the types of llama.cpp v0.5.0 (type_traits in ggml/src/ggml.c,
// block structs in ggml/src/ggml-common.h).
var layouts = map[Type]layout{
	F32:  {"F32", 1, 4},
	F16:  {"F16", 1, 2},
	Q4_0: {"Q4_0", 32, 18},
	3:    {"Q4_1", 32, 20},
	6:    {"Q5_0", 32, 22},
	7:    {"Q5_1", 32, 24},
	8:    {"Q8_0", 32, 34},
	9:    {"Q8_1", 32, 36},
	10:   {"Q2_K", 256, 84},
	11:   {"Q3_K", 256, 110},
	12:   {"Q4_K", 256, 144},
	13:   {"Q5_K", 256, 176},
	Q6_K: {"Q6_K", 256, 210},
	15:   {"Q8_K", 256, 292},
	16:   {"IQ2_XXS", 256, 66},
	17:   {"IQ2_XS", 256, 74},
	18:   {"IQ3_XXS", 256, 98},
	19:   {"IQ1_S", 256, 50},
	20:   {"IQ4_NL", 32, 18},
	21:   {"IQ3_S", 256, 110},
	22:   {"IQ2_S", 256, 82},
	23:   {"IQ4_XS", 256, 136},
	24:   {"I8", 1, 1},
	25:   {"I16", 1, 2},
	26:   {"I32", 1, 4},
	27:   {"I64", 1, 8},
	28:   {"F64", 1, 8},
	29:   {"IQ1_M", 256, 56},
	30:   {"BF16", 1, 2},
	34:   {"TQ1_0", 256, 54},
	35:   {"TQ2_0", 256, 66},
	39:   {"MXFP4", 32, 17},
	40:   {"NVFP4", 64, 36},
	41:   {"Q1_0", 128, 18},
	42:   {"Q2_0", 64, 18},
}

func (t Type) String() string {
	if l, ok := layouts[t]; ok {
		return l.name
	}
	return fmt.Sprintf("type %d", uint32(t))
}

// BlockValues returns how many values a block of the type holds, 0 for a type
// that is not known.
func (t Type) BlockValues() int { return int(layouts[t].values) }

// BlockBytes returns the size of a block of the type in bytes, 0 for a type
// that is not known.
func (t Type) BlockBytes() int { return int(layouts[t].bytes) }

const (
	maxDimensions   = 4  // GGML_MAX_DIMS
	maxTensorName   = 63 // GGML_MAX_NAME less its zero byte
	maxKeyBytes     = 1<<16 - 1
	maxTensorValues = 1 << 48
	maxAlignment    = 64 << 10
)

// tensorBytes returns the size of the data of a tensor.
func tensorBytes(t Type, shape []uint64) (int64, error) {
	l, ok := layouts[t]
	if !ok {
		return 0, fmt.Errorf("unknown %v", t)
	}
	if len(shape) == 0 || len(shape) > maxDimensions {
		return 0, fmt.Errorf("%d dimensions, want 1 to %d", len(shape), maxDimensions)
	}
	n := uint64(1)
	for _, d := range shape {
		if d == 0 {
			return 0, fmt.Errorf("shape %v has an empty dimension", shape)
		}
		if d > maxTensorValues/n {
			return 0, fmt.Errorf("shape %v is too large", shape)
		}
		n *= d
	}
	if shape[0]%uint64(l.values) != 0 {
		return 0, fmt.Errorf("rows of %d values do not fill %s blocks of %d", shape[0], l.name, l.values)
	}
	return int64(n) / l.values * l.bytes, nil
}

// padded rounds n up to a multiple of the alignment.
func padded(n, alignment int64) int64 { return (n + alignment - 1) / alignment * alignment }

// checkAlignment accepts powers of two from 8 bytes to 64 KiB.
func checkAlignment(a uint64) error {
	if a < 8 || a > maxAlignment || a&(a-1) != 0 {
		return fmt.Errorf("%s %d is not a power of two from 8 to 65536", alignmentKey, a)
	}
	return nil
}
