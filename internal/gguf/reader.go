package gguf

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"unicode/utf8"
)

// Caps of ReadHeader. The largest real headers, those of vocabularies of a
// quarter of a million tokens, have about 16 MiB, 50 keys and 1000 tensors.
const (
	MaxHeaderBytes = 128 << 20
	MaxMetadata    = 1 << 14
	MaxTensors     = 1 << 17
	MaxStringBytes = 4 << 20
)

// ErrNotGGUF is the error of ReadHeader for a file of another kind.
var ErrNotGGUF = errors.New("not a GGUF file")

// TensorInfo describes a tensor in a file.
type TensorInfo struct {
	Name   string
	Type   Type
	Shape  []uint64 // length of a row first
	Offset int64    // of its data, in bytes from the start of the file
	Bytes  int64    // size of its data
}

// Header is what a GGUF file says about itself.
type Header struct {
	Metadata []KeyValue
	Tensors  []TensorInfo
	// FileBytes is the size that the file must have at least to hold the data
	// of all its tensors.
	FileBytes int64
}

// Get returns the value of a metadata key.
func (h *Header) Get(key string) (Value, bool) {
	for _, kv := range h.Metadata {
		if kv.Key == key {
			return kv.Value, true
		}
	}
	return Value{}, false
}

// Architecture returns the model family that the file names, such as "llama",
// or "" if it names none.
func (h *Header) Architecture() string {
	v, _ := h.Get("general.architecture")
	s, _ := v.Text()
	return s
}

// ReadHeader reads the header of the file r of the given size and checks that
// the file can hold the tensors that it describes: it finds files that are cut
// short or are something else. The data is not read. The input may be hostile;
// memory is bounded by a small multiple of MaxHeaderBytes.
func ReadHeader(r io.Reader, size int64) (*Header, error) {
	d := &decoder{r: bufio.NewReaderSize(r, 64<<10), size: size}
	h, err := d.header()
	if err == nil || errors.Is(err, ErrNotGGUF) {
		return h, err
	}
	return nil, fmt.Errorf("gguf header at byte %d: %w", d.pos, err)
}

// decoder reads little-endian values and counts bytes. After an error all
// reads give zero values; err is looked at after every group of them.
type decoder struct {
	r    *bufio.Reader
	pos  int64
	size int64
	err  error
	buf  [8]byte
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf(format, args...)
	}
}

// left returns how many bytes the header can still have.
func (d *decoder) left() int64 { return min(d.size, MaxHeaderBytes) - d.pos }

func (d *decoder) full(b []byte) bool {
	if d.err != nil {
		return false
	}
	if int64(len(b)) > d.left() {
		d.cut()
		return false
	}
	n, err := io.ReadFull(d.r, b)
	d.pos += int64(n)
	switch {
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		d.fail("the file ends in its header")
	case err != nil:
		d.err = err
	}
	return err == nil
}

func (d *decoder) cut() {
	if d.size > MaxHeaderBytes {
		d.fail("the header has more than %d bytes", MaxHeaderBytes)
	} else {
		d.fail("the file of %d bytes ends in its header", d.size)
	}
}

func (d *decoder) uint(bytes int) uint64 {
	clear(d.buf[:])
	if !d.full(d.buf[:bytes]) {
		return 0
	}
	return binary.LittleEndian.Uint64(d.buf[:])
}

// count reads a number of things that take at least each bytes.
func (d *decoder) count(what string, limit uint64, each int64) int {
	n := d.uint(8)
	switch {
	case d.err != nil:
		return 0
	case n > limit:
		d.fail("%d %s, more than %d", n, what, limit)
		return 0
	case int64(n)*each > d.left():
		d.fail("%d %s do not fit in the file", n, what)
		return 0
	}
	return int(n)
}

func (d *decoder) string(what string, limit uint64) string {
	b := make([]byte, d.count("bytes of "+what, limit, 1))
	d.full(b)
	return string(b)
}

func (d *decoder) header() (*Header, error) {
	magic := make([]byte, len(Magic))
	if !d.full(magic) || string(magic) != Magic {
		if d.err != nil && d.size >= int64(len(Magic)) && d.pos == 0 {
			return nil, d.err // reading failed
		}
		return nil, fmt.Errorf("%w: it starts with %q, not %q", ErrNotGGUF, magic[:d.pos], Magic)
	}
	version := d.uint(4)
	if d.err == nil && version != Version {
		if version&0xffff == 0 {
			return nil, errors.New("big-endian file")
		}
		return nil, fmt.Errorf("version %d, only %d is supported", version, Version)
	}
	tensors := d.count("tensors", MaxTensors, 8+4+8+4+8)
	metadata := d.count("metadata keys", MaxMetadata, 8+4+1)
	h := &Header{}
	d.metadata(h, metadata)
	d.tensors(h, tensors)
	if d.err != nil {
		return nil, d.err
	}
	return h, nil
}

func (d *decoder) metadata(h *Header, n int) {
	seen := make(map[string]bool)
	for i := 0; i < n && d.err == nil; i++ {
		key := d.string("key", maxKeyBytes)
		switch {
		case d.err != nil:
			return
		case key == "" || !utf8.ValidString(key):
			d.fail("metadata key %d, %.80q, is empty or not UTF-8", i, key)
			return
		case seen[key]:
			d.fail("metadata key %.80q is there twice", key)
			return
		}
		seen[key] = true
		v := d.value(key)
		h.Metadata = append(h.Metadata, KeyValue{key, v})
	}
}

func (d *decoder) value(key string) Value {
	kind := Kind(d.uint(4))
	switch {
	case d.err != nil:
	case !kind.known():
		d.fail("metadata key %.80q: unknown %v", key, kind)
	case kind == KindArray:
		return d.array(key)
	default:
		return d.scalar(kind)
	}
	return Value{}
}

func (d *decoder) scalar(kind Kind) Value {
	switch kind {
	case KindUint8:
		return Of(uint8(d.uint(1)))
	case KindInt8:
		return Of(int8(d.uint(1)))
	case KindUint16:
		return Of(uint16(d.uint(2)))
	case KindInt16:
		return Of(int16(d.uint(2)))
	case KindUint32:
		return Of(uint32(d.uint(4)))
	case KindInt32:
		return Of(int32(d.uint(4)))
	case KindFloat32:
		return Of(math.Float32frombits(uint32(d.uint(4))))
	case KindBool:
		return Of(d.uint(1) != 0)
	case KindUint64:
		return Of(d.uint(8))
	case KindInt64:
		return Of(int64(d.uint(8)))
	case KindFloat64:
		return Of(math.Float64frombits(d.uint(8)))
	}
	return Of(d.string("text", MaxStringBytes))
}

func (d *decoder) array(key string) Value {
	kind := Kind(d.uint(4))
	if d.err == nil && (!kind.known() || kind == KindArray) {
		d.fail("metadata key %.80q: array of %v", key, kind)
	}
	if d.err != nil {
		return Value{}
	}
	n := d.count("array elements", MaxHeaderBytes, kindBytes[kind])
	switch kind {
	case KindUint8:
		return array[uint8](d, kind, n)
	case KindInt8:
		return array[int8](d, kind, n)
	case KindUint16:
		return array[uint16](d, kind, n)
	case KindInt16:
		return array[int16](d, kind, n)
	case KindUint32:
		return array[uint32](d, kind, n)
	case KindInt32:
		return array[int32](d, kind, n)
	case KindFloat32:
		return array[float32](d, kind, n)
	case KindBool:
		return array[bool](d, kind, n)
	case KindUint64:
		return array[uint64](d, kind, n)
	case KindInt64:
		return array[int64](d, kind, n)
	case KindFloat64:
		return array[float64](d, kind, n)
	}
	return array[string](d, kind, n)
}

func array[T Scalar](d *decoder, kind Kind, n int) Value {
	// The count is not trusted with memory: a sparse file costs an attacker nothing.
	v := make([]T, 0, min(n, 1<<16))
	for i := 0; i < n && d.err == nil; i++ {
		v = append(v, d.scalar(kind).data.(T))
	}
	return ArrayOf(v)
}

func (d *decoder) tensors(h *Header, n int) {
	seen := make(map[string]bool)
	var offsets []int64
	for i := 0; i < n && d.err == nil; i++ {
		t, offset := d.tensor()
		if d.err == nil && (t.Name == "" || seen[t.Name]) {
			d.fail("tensor name %q is empty or there twice", t.Name)
		}
		seen[t.Name] = true
		h.Tensors = append(h.Tensors, t)
		offsets = append(offsets, offset)
	}
	alignment := uint64(DefaultAlignment)
	if v, ok := h.Get(alignmentKey); ok {
		a, ok := v.data.(uint32)
		if alignment = uint64(a); !ok || checkAlignment(alignment) != nil {
			d.fail("bad %s %v", alignmentKey, v.data)
		}
	}
	if d.err == nil {
		d.place(h, offsets, int64(alignment))
	}
}

func (d *decoder) tensor() (t TensorInfo, offset int64) {
	t.Name = d.string("tensor name", maxTensorName)
	dims := d.uint(4)
	if dims == 0 || dims > maxDimensions {
		d.fail("tensor %q: %d dimensions, want 1 to %d", t.Name, dims, maxDimensions)
		return t, 0
	}
	for range dims {
		t.Shape = append(t.Shape, d.uint(8))
	}
	t.Type = Type(d.uint(4))
	offset = int64(d.uint(8))
	if d.err != nil {
		return t, 0
	}
	var err error
	if t.Bytes, err = tensorBytes(t.Type, t.Shape); err != nil {
		d.fail("tensor %q: %w", t.Name, err)
	}
	return t, offset
}

// place checks that the tensors follow each other without gaps but padding, as
// llama.cpp wants it (gguf_init in ggml/src/gguf.cpp), and end in the file.
func (d *decoder) place(h *Header, offsets []int64, alignment int64) {
	start := padded(d.pos, alignment)
	h.FileBytes = d.pos
	next := int64(0)
	for i := range h.Tensors {
		t := &h.Tensors[i]
		if offsets[i] != next {
			d.fail("tensor %q: its data is at offset %d, want %d", t.Name, offsets[i], next)
			return
		}
		if t.Bytes > math.MaxInt64/4-next {
			d.fail("tensor %q: the data before it is too large", t.Name)
			return
		}
		t.Offset = start + next
		h.FileBytes = t.Offset + t.Bytes
		next += padded(t.Bytes, alignment)
	}
	if h.FileBytes > d.size {
		d.fail("the file is cut short: it has %d bytes, its tensors need %d", d.size, h.FileBytes)
	}
}
