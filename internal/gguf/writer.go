package gguf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime"
	"sync"
)

// Tensor describes a tensor to be written. Shape has the length of a row
// first, as in the file.
type Tensor struct {
	Name  string
	Type  Type
	Shape []uint64
	// Fill writes the tensor's bytes from the offset on into dst. Offset and
	// length are multiples of the block size of the type. It is called by
	// several goroutines at once, for parts in any order.
	Fill func(dst []byte, offset int64) error
}

// File is a GGUF file to be written.
type File struct {
	Metadata []KeyValue
	Tensors  []Tensor
}

// chunkBytes is about how much of a tensor is produced at once. It bounds the
// memory of a write together with the number of processors.
const chunkBytes = 256 << 10

// Size returns how many bytes Write writes, without producing any data.
func (f *File) Size() (int64, error) {
	h, data, err := f.header()
	return int64(len(h)) + data, err
}

// Write writes the file. Data of the tensors is produced on all processors, a
// bounded part ahead of what is written; the bytes do not depend on that.
// Errors of w are returned as they are.
func (f *File) Write(w io.Writer) error {
	h, _, err := f.header()
	if err != nil {
		return err
	}
	if _, err := w.Write(h); err != nil {
		return err
	}
	return writeChunks(w, f.chunks)
}

// header returns everything before the tensor data, padded, and the size of
// the data.
func (f *File) header() (header []byte, dataBytes int64, err error) {
	alignment, err := f.alignment()
	if err != nil {
		return nil, 0, err
	}
	var b bytes.Buffer
	b.WriteString(Magic)
	put(&b, uint32(Version), uint64(len(f.Tensors)), uint64(len(f.Metadata)))
	keys := make(map[string]bool)
	for _, kv := range f.Metadata {
		if kv.Key == "" || len(kv.Key) > maxKeyBytes || keys[kv.Key] {
			return nil, 0, fmt.Errorf("gguf: key %.80q is empty, too long or there twice", kv.Key)
		}
		keys[kv.Key] = true
		putString(&b, kv.Key)
		if err := putValue(&b, kv.Value); err != nil {
			return nil, 0, fmt.Errorf("gguf: key %s: %w", kv.Key, err)
		}
	}
	names := make(map[string]bool)
	for _, t := range f.Tensors {
		if t.Name == "" || len(t.Name) > maxTensorName || names[t.Name] {
			return nil, 0, fmt.Errorf("gguf: tensor name %.80q is empty, too long or there twice", t.Name)
		}
		names[t.Name] = true
		size, err := tensorBytes(t.Type, t.Shape)
		if err != nil {
			return nil, 0, fmt.Errorf("gguf: tensor %s: %w", t.Name, err)
		}
		putString(&b, t.Name)
		put(&b, uint32(len(t.Shape)), t.Shape, uint32(t.Type), uint64(dataBytes))
		dataBytes += padded(size, alignment)
	}
	b.Write(make([]byte, padded(int64(b.Len()), alignment)-int64(b.Len())))
	return b.Bytes(), dataBytes, nil
}

func (f *File) alignment() (int64, error) {
	for _, kv := range f.Metadata {
		if kv.Key == alignmentKey {
			a, ok := kv.Value.data.(uint32)
			if !ok {
				return 0, fmt.Errorf("gguf: %s must be a uint32", alignmentKey)
			}
			return int64(a), checkAlignment(uint64(a))
		}
	}
	return DefaultAlignment, nil
}

// chunk is a part of the data of a tensor, padded at the tensor's end.
type chunk struct {
	tensor       *Tensor
	offset, size int64
	padding      int64
	data         []byte
	err          error
	filled       chan struct{} // closed when data or err is there
}

// chunks yields the parts of all tensors in the order of the file.
func (f *File) chunks(yield func(*chunk) bool) {
	alignment, _ := f.alignment() // header has checked alignment and shapes
	for i := range f.Tensors {
		t := &f.Tensors[i]
		size, _ := tensorBytes(t.Type, t.Shape)
		block := int64(t.Type.BlockBytes())
		step := chunkBytes / block * block
		for offset := int64(0); offset < size; offset += step {
			c := &chunk{tensor: t, offset: offset, size: min(step, size-offset), filled: make(chan struct{})}
			if offset+c.size == size {
				c.padding = padded(size, alignment) - size
			}
			if !yield(c) {
				return
			}
		}
	}
}

// writeChunks fills chunks on all processors and writes them in order. Every
// chunk under way holds one of a fixed number of buffers, so that no channel
// below ever blocks but free.
func writeChunks(w io.Writer, chunks iter.Seq[*chunk]) error {
	workers := runtime.GOMAXPROCS(0)
	buffers := 3 * workers
	free := make(chan []byte, buffers)
	for range buffers {
		free <- make([]byte, chunkBytes+maxAlignment)
	}
	work, ordered := make(chan *chunk, buffers), make(chan *chunk, buffers)
	failed := make(chan struct{})

	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(work)
		defer close(ordered)
		for c := range chunks {
			select {
			case <-failed:
				return
			case b := <-free:
				c.data = b[:c.size+c.padding]
			}
			work <- c
			ordered <- c
		}
	})
	for range workers {
		wg.Go(func() {
			for c := range work {
				c.err = c.tensor.Fill(c.data[:c.size:c.size], c.offset)
				clear(c.data[c.size:])
				close(c.filled)
			}
		})
	}
	defer wg.Wait()
	for c := range ordered {
		<-c.filled
		if c.err != nil {
			close(failed)
			return fmt.Errorf("gguf: tensor %s: %w", c.tensor.Name, c.err)
		}
		if _, err := w.Write(c.data); err != nil {
			close(failed)
			return err
		}
		free <- c.data[:cap(c.data)]
	}
	return nil
}

// put appends numbers, or slices of numbers, in the order of the file.
func put(b *bytes.Buffer, values ...any) {
	for _, v := range values {
		binary.Write(b, binary.LittleEndian, v) // a Buffer takes every write
	}
}

func putString(b *bytes.Buffer, s string) {
	put(b, uint64(len(s)))
	b.WriteString(s)
}

func putValue(b *bytes.Buffer, v Value) error {
	kind, n := v.kind()
	switch {
	case kind == KindArray:
		return errors.New("no value")
	case n < 0:
		put(b, uint32(kind))
	default:
		put(b, uint32(KindArray), uint32(kind), uint64(n))
	}
	switch data := v.data.(type) {
	case string:
		putString(b, data)
	case []string:
		for _, s := range data {
			putString(b, s)
		}
	default:
		put(b, data)
	}
	return nil
}
