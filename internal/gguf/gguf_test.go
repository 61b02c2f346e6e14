package gguf

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"go.uber.org/goleak"
)

var update = flag.Bool("update", false, "write the golden files anew")

// counting fills a tensor with the low bytes of its offsets.
func counting(dst []byte, offset int64) error {
	for i := range dst {
		dst[i] = byte(offset + int64(i))
	}
	return nil
}

// sample is a file with a value of every kind.
func sample() *File {
	return &File{
		Metadata: []KeyValue{
			{"general.architecture", Of("test")},
			{"a.uint8", Of(uint8(200))}, {"a.int8", Of(int8(-2))},
			{"a.uint16", Of(uint16(60000))}, {"a.int16", Of(int16(-3))},
			{"a.uint32", Of(uint32(1 << 31))}, {"a.int32", Of(int32(-4))},
			{"a.uint64", Of(uint64(1 << 63))}, {"a.int64", Of(int64(math.MinInt64))},
			{"a.float32", Of(float32(1.5))}, {"a.float64", Of(math.Pi)},
			{"a.bool", Of(true)}, {"a.empty", Of("")},
			{"b.uint8", ArrayOf([]uint8{1, 2})}, {"b.int8", ArrayOf([]int8{-1})},
			{"b.uint16", ArrayOf([]uint16{3})}, {"b.int16", ArrayOf([]int16{-3})},
			{"b.uint32", ArrayOf([]uint32{4})}, {"b.int32", ArrayOf([]int32{-4, 4})},
			{"b.uint64", ArrayOf([]uint64{5})}, {"b.int64", ArrayOf([]int64{-5})},
			{"b.float32", ArrayOf([]float32{0.5})}, {"b.float64", ArrayOf([]float64{0.25})},
			{"b.bool", ArrayOf([]bool{true, false})}, {"b.string", ArrayOf([]string{"x", "", "größer"})},
			{"b.none", ArrayOf([]string{})},
		},
		Tensors: []Tensor{
			{"one", F32, []uint64{3}, counting},
			{"two", Q4_0, []uint64{64, 3}, counting},
			{"three", F16, []uint64{1, 2, 3, 4}, counting},
		},
	}
}

func write(t *testing.T, f *File) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	if size, err := f.Size(); err != nil || size != int64(b.Len()) {
		t.Errorf("Size() = %d, %v; %d bytes were written", size, err, b.Len())
	}
	return b.Bytes()
}

func TestGoldenFile(t *testing.T) {
	const name = "testdata/sample.golden"
	got := hex.Dump(write(t, sample()))
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the file's bytes changed; see the difference after go test -update\n%s", got)
	}
}

func TestRoundTrip(t *testing.T) {
	f := sample()
	data := write(t, f)
	h, err := ReadHeader(iotest.OneByteReader(bytes.NewReader(data)), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(h.Metadata, f.Metadata) {
		t.Errorf("metadata is\n%v, want\n%v", h.Metadata, f.Metadata)
	}
	if h.Architecture() != "test" {
		t.Errorf("architecture is %q", h.Architecture())
	}
	if len(h.Tensors) != len(f.Tensors) {
		t.Fatalf("%d tensors, want %d", len(h.Tensors), len(f.Tensors))
	}
	for i, want := range f.Tensors {
		got := h.Tensors[i]
		if got.Name != want.Name || got.Type != want.Type || !reflect.DeepEqual(got.Shape, want.Shape) {
			t.Errorf("tensor %d is %+v, want %+v", i, got, want)
		}
		if got.Offset%DefaultAlignment != 0 {
			t.Errorf("tensor %s is at %d, not aligned", got.Name, got.Offset)
		}
		content := make([]byte, got.Bytes)
		counting(content, 0)
		if !bytes.Equal(data[got.Offset:got.Offset+got.Bytes], content) {
			t.Errorf("data of tensor %s is not where the header says", got.Name)
		}
	}
}

func TestAlignment(t *testing.T) {
	f := sample()
	f.Metadata = append(f.Metadata, KeyValue{"general.alignment", Of(uint32(4096))})
	data := write(t, f)
	h, err := ReadHeader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	for _, ti := range h.Tensors {
		if ti.Offset%4096 != 0 {
			t.Errorf("tensor %s is at %d", ti.Name, ti.Offset)
		}
	}
}

// TestManyChunks writes tensors that end within, at and after a chunk, on one
// and on several processors.
func TestManyChunks(t *testing.T) {
	defer goleak.VerifyNone(t)
	step := uint64(chunkBytes / 18)
	f := &File{}
	var want bytes.Buffer
	for i, blocks := range []uint64{1, step - 1, step, step + 1, 7*step + 5} {
		f.Tensors = append(f.Tensors, Tensor{fmt.Sprint("t", i), Q4_0, []uint64{32, blocks}, counting})
		data := make([]byte, padded(int64(blocks)*18, DefaultAlignment))
		counting(data[:blocks*18], 0)
		want.Write(data)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, n := range []int{1, 5} {
		runtime.GOMAXPROCS(n)
		if data := write(t, f); !bytes.HasSuffix(data, want.Bytes()) {
			t.Errorf("GOMAXPROCS %d: wrong data", n)
		}
	}
}

type failAfter struct{ left int }

var errFull = errors.New("disk full")

func (w *failAfter) Write(b []byte) (int, error) {
	if w.left -= len(b); w.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}

func TestWriteErrors(t *testing.T) {
	defer goleak.VerifyNone(t)
	big := &File{Tensors: []Tensor{{"t", F32, []uint64{4 << 20}, counting}}}
	for _, left := range []int{0, 1000, 5 << 20} {
		if err := big.Write(&failAfter{left}); err != errFull {
			t.Errorf("disk full after %d bytes: %v", left, err)
		}
	}
	errFill := errors.New("no data")
	big.Tensors[0].Fill = func(_ []byte, offset int64) error {
		if offset > 3<<20 {
			return errFill
		}
		return nil
	}
	if err := big.Write(&bytes.Buffer{}); !errors.Is(err, errFill) || !strings.Contains(err.Error(), "tensor t") {
		t.Errorf("no data: %v", err)
	}
}

func TestWriteRejects(t *testing.T) {
	for want, f := range map[string]File{
		`key "" is empty`:                  {Metadata: []KeyValue{{"", Of(true)}}},
		`"a" is empty, too long or there`:  {Metadata: []KeyValue{{"a", Of(true)}, {"a", Of(true)}}},
		"no value":                         {Metadata: []KeyValue{{"a", Value{}}}},
		"must be a uint32":                 {Metadata: []KeyValue{{"general.alignment", Of("x")}}},
		"not a power of two":               {Metadata: []KeyValue{{"general.alignment", Of(uint32(48))}}},
		"do not fill Q4_0 blocks of 32":    {Tensors: []Tensor{{"t", Q4_0, []uint64{33}, counting}}},
		"0 dimensions":                     {Tensors: []Tensor{{"t", F32, nil, counting}}},
		"empty dimension":                  {Tensors: []Tensor{{"t", F32, []uint64{4, 0}, counting}}},
		"too large":                        {Tensors: []Tensor{{"t", F32, []uint64{1 << 40, 1 << 40}, counting}}},
		"unknown type 99":                  {Tensors: []Tensor{{"t", 99, []uint64{4}, counting}}},
		`tensor name "t" is empty, too lo`: {Tensors: []Tensor{{"t", F32, []uint64{4}, counting}, {"t", F32, []uint64{4}, counting}}},
	} {
		err := f.Write(&bytes.Buffer{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// raw builds the bytes of a hostile file.
func raw(values ...any) []byte {
	var b bytes.Buffer
	for _, v := range values {
		if s, ok := v.(string); ok {
			b.WriteString(s)
		} else {
			binary.Write(&b, binary.LittleEndian, v)
		}
	}
	return b.Bytes()
}

func text(s string) string { return string(raw(uint64(len(s)))) + s }

func TestReadHeaderRejects(t *testing.T) {
	good := write(t, sample())
	head := func(tensors, keys uint64) string { return "GGUF" + string(raw(uint32(3), tensors, keys)) }
	tensor := func(name string, typ uint32, offset uint64, shape ...uint64) string {
		return text(name) + string(raw(uint32(len(shape)), shape, typ, offset))
	}
	zeros := strings.Repeat("\x00", 4096)
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"html":                {[]byte("<!DOCTYPE html><html>"), `not a GGUF file: it starts with "<!DO"`},
		"empty":               {nil, `not a GGUF file: it starts with ""`},
		"short":               {[]byte("GG"), `not a GGUF file`},
		"magic only":          {[]byte("GGUF"), "the file of 4 bytes ends in its header"},
		"version 2":           {raw("GGUF", uint32(2), uint64(0), uint64(0)), "version 2, only 3 is supported"},
		"big-endian":          {raw("GGUF", uint32(3<<24), uint64(0), uint64(0)), "big-endian"},
		"many tensors":        {raw(head(1<<40, 0)), "1099511627776 tensors, more than 131072"},
		"many keys":           {raw(head(0, 1<<40)), "metadata keys, more than 16384"},
		"keys do not fit":     {raw(head(0, 1000)), "1000 metadata keys do not fit in the file"},
		"long key":            {raw(head(0, 1), uint64(1<<20), zeros), "1048576 bytes of key, more than 65535"},
		"key beyond the end":  {raw(head(0, 1), uint64(5000), zeros), "do not fit in the file"},
		"empty key":           {raw(head(0, 1), text(""), zeros), "is empty or not UTF-8"},
		"key not UTF-8":       {raw(head(0, 1), text("\xff"), zeros), "is empty or not UTF-8"},
		"key twice":           {raw(head(0, 2), text("a"), uint32(7), "\x01", text("a"), uint32(7), "\x01", zeros), `"a" is there twice`},
		"unknown kind":        {raw(head(0, 1), text("a"), uint32(13), zeros), `"a": unknown kind 13`},
		"array of arrays":     {raw(head(0, 1), text("a"), uint32(9), uint32(9), zeros), `array of array`},
		"array of unknown":    {raw(head(0, 1), text("a"), uint32(9), uint32(77), zeros), `array of kind 77`},
		"huge array":          {raw(head(0, 1), text("a"), uint32(9), uint32(4), uint64(1<<62), zeros), "array elements, more than"},
		"array too long":      {raw(head(0, 1), text("a"), uint32(9), uint32(8), uint64(1000), zeros), "1000 array elements do not fit"},
		"huge string":         {raw(head(0, 1), text("a"), uint32(8), uint64(1<<63), zeros), "bytes of text, more than"},
		"alignment":           {raw(head(0, 1), text("general.alignment"), uint32(4), uint32(3)), "bad general.alignment 3"},
		"long tensor name":    {raw(head(1, 0), tensor(strings.Repeat("n", 64), 0, 0, 4), zeros), "64 bytes of tensor name, more than 63"},
		"five dimensions":     {raw(head(1, 0), tensor("t", 0, 0, 1, 1, 1, 1, 1), zeros), `"t": 5 dimensions`},
		"many dimensions":     {raw(head(1, 0), text("t"), uint32(1<<31), zeros), `2147483648 dimensions`},
		"shape overflows":     {raw(head(1, 0), tensor("t", 0, 0, 1<<32, 1<<32), zeros), "too large"},
		"empty dimension":     {raw(head(1, 0), tensor("t", 0, 0, 0), zeros), "empty dimension"},
		"unknown type":        {raw(head(1, 0), tensor("t", 4, 0, 32), zeros), "unknown type 4"},
		"part of a block":     {raw(head(1, 0), tensor("t", 2, 0, 31), zeros), "do not fill Q4_0 blocks"},
		"tensor twice":        {raw(head(2, 0), tensor("t", 0, 0, 8), tensor("t", 0, 32, 8), zeros), `tensor name "t" is empty or there twice`},
		"tensors overlap":     {raw(head(2, 0), tensor("t", 0, 0, 8), tensor("u", 0, 0, 8), zeros), `"u": its data is at offset 0, want 32`},
		"offset far away":     {raw(head(1, 0), tensor("t", 0, 1<<63, 8), zeros), `"t": its data is at offset`},
		"data beyond the end": {raw(head(1, 0), tensor("t", 0, 0, 8192), zeros), "the file is cut short"},
		"cut by a byte":       {good[:len(good)-64+47], "the file is cut short"},
	} {
		_, err := ReadHeader(bytes.NewReader(c.data), int64(len(c.data)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
		if starts := bytes.HasPrefix(c.data, []byte(Magic)); errors.Is(err, ErrNotGGUF) == starts {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestEveryTruncation cuts a good file everywhere.
func TestEveryTruncation(t *testing.T) {
	data := write(t, sample())
	h, err := ReadHeader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(data) {
		_, err := ReadHeader(bytes.NewReader(data[:n]), int64(n))
		if cut := int64(n) < h.FileBytes; cut != (err != nil) {
			t.Errorf("cut to %d of %d bytes: %v", n, h.FileBytes, err)
		}
		// A size that is a lie, as when a file shrinks while it is read.
		if _, err := ReadHeader(bytes.NewReader(data[:n]), int64(len(data))); err == nil && int64(n) < h.Tensors[0].Offset-DefaultAlignment {
			t.Errorf("cut to %d bytes but said to be whole: no error", n)
		}
	}
}

func TestReadError(t *testing.T) {
	errDisk := errors.New("disk error")
	_, err := ReadHeader(iotest.ErrReader(errDisk), 1000)
	if !errors.Is(err, errDisk) {
		t.Errorf("got %v", err)
	}
}

func FuzzReadHeader(f *testing.F) {
	var b bytes.Buffer
	if err := sample().Write(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte("GGUF"))
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := ReadHeader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			if h != nil {
				t.Error("a header beside an error")
			}
			return
		}
		if h.FileBytes > int64(len(data)) {
			t.Errorf("%d bytes hold %d", len(data), h.FileBytes)
		}
		// What was read can be written, and reads the same.
		again := &File{Metadata: h.Metadata}
		for _, ti := range h.Tensors {
			at := data[ti.Offset : ti.Offset+ti.Bytes]
			again.Tensors = append(again.Tensors, Tensor{ti.Name, ti.Type, ti.Shape,
				func(dst []byte, offset int64) error { copy(dst, at[offset:]); return nil }})
		}
		var b bytes.Buffer
		if err := again.Write(&b); err != nil {
			t.Fatalf("read but not written: %v", err)
		}
		h2, err := ReadHeader(&b, int64(b.Len()))
		if err != nil {
			t.Fatalf("written but not read again: %v", err)
		}
		if fmt.Sprint(h2) != fmt.Sprint(h) { // as text: NaN equals itself there
			t.Errorf("%v\nreads again as\n%v", h, h2)
		}
	})
}
