package idl

import "fmt"

// field is a member of the structure that carries a method's numbers in one direction.
type field struct {
	name  string
	ctype string
	param *Param
	isLen bool // the length of the buffer parameter
	off   int
}

// buffer is a parameter that travels in a buffer of its own, in one direction.
type buffer struct {
	param *Param
	index int // among all arguments of the invocation
}

// wire is the form in which a method's arguments travel: in each direction, first one structure with the numbers,
// structures and lengths, in the order of the parameters and with natural alignment, when there are any; then the
// buffers.
type wire struct {
	in, out       []field
	inEnd, outEnd int // bytes of the structures up to their last member
	inBufs        []buffer
	outBufs       []buffer
	nIn, nOut     int // arguments of the invocation
	outIndex      int // of the structure that comes back
}

func plan(m *Method) wire {
	var w wire
	for i := range m.Params {
		a := &m.Params[i]
		if a.isBuffer() {
			w.in = append(w.in, field{name: a.Name + "Len", ctype: "uint32_t", param: a, isLen: true})
			continue
		}
		f := field{name: a.Name, ctype: a.Type.C(), param: a}
		if a.Mode != Rout {
			w.in = append(w.in, f)
		}
		if a.Mode != In {
			w.out = append(w.out, f)
		}
	}
	w.inEnd, w.outEnd = place(w.in), place(w.out)
	if len(w.in) > 0 {
		w.nIn++
	}
	for i := range m.Params {
		if a := &m.Params[i]; a.isBuffer() && a.Mode != Rout {
			w.inBufs = append(w.inBufs, buffer{a, w.nIn})
			w.nIn++
		}
	}
	w.outIndex = w.nIn
	if len(w.out) > 0 {
		w.nOut++
	}
	for i := range m.Params {
		if a := &m.Params[i]; a.isBuffer() && a.Mode != In {
			w.outBufs = append(w.outBufs, buffer{a, w.nIn + w.nOut})
			w.nOut++
		}
	}
	return w
}

// place sets the offsets and returns the end of the last field.
func place(fs []field) (end int) {
	for i := range fs {
		size, align := 4, 4
		if !fs[i].isLen {
			size, align = layout(fs[i].param.Type)
		}
		fs[i].off = roundUp(end, align)
		end = fs[i].off + size
	}
	return end
}

// scalars is the C expression of an invocation's scalars.
func (w *wire) scalars(method int) string {
	return fmt.Sprintf("REMOTE_SCALARS_MAKEX(0, %d, %d, %d, 0, 0)", method, w.nIn, w.nOut)
}

// elem is the element type of a buffer parameter, in C.
func (a *Param) elem() string {
	if s, ok := a.sequence(); ok {
		return s.Elem.C()
	}
	return "char"
}

// prototype is the method as a C function, without the semicolon.
func prototype(iface string, m *Method) string {
	s := fmt.Sprintf("%s %s_%s(remote_handle64 _h", m.Result.C(), iface, m.Name)
	for i := range m.Params {
		a := &m.Params[i]
		switch {
		case a.isBuffer() && a.Mode == In:
			s += fmt.Sprintf(", const %s * %s", a.elem(), a.Name)
		case a.isBuffer():
			s += fmt.Sprintf(", %s * %s", a.elem(), a.Name)
		case a.isStruct() && a.Mode == In:
			s += fmt.Sprintf(", const %s * %s", a.Type.C(), a.Name)
		case a.Mode == In:
			s += fmt.Sprintf(", %s %s", a.Type.C(), a.Name)
		default:
			s += fmt.Sprintf(", %s * %s", a.Type.C(), a.Name)
		}
		if a.hasLen() {
			s += fmt.Sprintf(", int %sLen", a.Name)
		}
	}
	return s + ")"
}
