package idl

import "fmt"

// skel writes the DSP's side: the function that the system calls with an invocation, which checks and unpacks the
// arguments and calls the implementation.
func (g *generator) skel() []byte {
	g.preamble("the DSP's side")
	if len(g.interfaces()) > 0 {
		g.p("%s", skelHelpers)
	}
	for _, it := range g.interfaces() {
		for i := range it.Methods {
			w := plan(&it.Methods[i])
			g.wireStructs(it.Name, &it.Methods[i], &w)
		}
		for i := range it.Methods {
			g.skelMethod(it.Name, &it.Methods[i])
		}
		g.p(skelInvokeHead, it.Name, it.Name, it.Name, it.Name)
		for i := range it.Methods {
			g.p("        case %d:\n            return _%s_%s(_h, _sc, _pra);", firstMethod+i, it.Name, it.Methods[i].Name)
		}
		g.p("        default:\n            return AEE_EUNSUPPORTED;\n    }\n}")
	}
	return g.done()
}

const skelHelpers = `
static inline int _counts(uint32_t sc, uint32_t in, uint32_t out, uint32_t in_handles, uint32_t out_handles) {
    return REMOTE_SCALARS_INBUFS(sc) == in && REMOTE_SCALARS_OUTBUFS(sc) == out &&
           REMOTE_SCALARS_INHANDLES(sc) == in_handles && REMOTE_SCALARS_OUTHANDLES(sc) == out_handles;
}

/* Whether a buffer holds n elements, is there when n is not 0, and is aligned for them. */
__attribute__((unused)) static inline int _holds(const remote_arg * arg, uint32_t n, size_t size, size_t align) {
    return n <= INT_MAX && arg->buf.nLen / size >= n && (n == 0 || arg->buf.pv) && (uintptr_t) arg->buf.pv % align == 0;
}

/* Whether a buffer is a text of n bytes with its NUL. */
__attribute__((unused)) static inline int _text(const remote_arg * arg, uint32_t n) {
    return n > 0 && _holds(arg, n, 1, 1) && ((const char *) arg->buf.pv)[n - 1] == 0;
}`

// skelInvokeHead begins the invoke function; the prototype beforehand keeps -Wmissing-prototypes quiet.
const skelInvokeHead = `
__attribute__((visibility("default"))) int %s_skel_handle_invoke(remote_handle64 _h, uint32_t _sc, remote_arg * _pra);

__attribute__((visibility("default"))) int %s_skel_handle_invoke(remote_handle64 _h, uint32_t _sc, remote_arg * _pra) {
    switch (REMOTE_SCALARS_METHOD(_sc)) {
        case 0: {
            uint32_t n;
            if (!_counts(_sc, 2, 0, 0, 1) || !_pra[0].buf.pv || _pra[0].buf.nLen < sizeof(n)) {
                return AEE_EBADPARM;
            }
            memcpy(&n, _pra[0].buf.pv, sizeof(n));
            if (!_text(&_pra[1], n)) {
                return AEE_EBADPARM;
            }
            remote_handle64 h   = 0;
            int             err = %s_open((const char *) _pra[1].buf.pv, &h);
            if (err == AEE_SUCCESS) {
                _pra[2].h64 = h;
            }
            return err;
        }
        case 1:
            if (!_counts(_sc, 0, 0, 1, 0)) {
                return AEE_EBADPARM;
            }
            return %s_close(_pra[0].h64);`

func (g *generator) skelMethod(iface string, m *Method) {
	w := plan(m)
	g.p("\nstatic int _%s_%s(remote_handle64 _h, uint32_t _sc, remote_arg * _pra) {", iface, m.Name)
	if w.nIn+w.nOut == 0 {
		g.p("    (void) _pra;")
	}
	cond := "!" + w.counts()
	for _, d := range []struct {
		fields []field
		index  int
		end    int
	}{{w.in, 0, w.inEnd}, {w.out, w.outIndex, w.outEnd}} {
		if len(d.fields) > 0 {
			cond += fmt.Sprintf(" || !_pra[%d].buf.pv || _pra[%d].buf.nLen < %d", d.index, d.index, d.end)
		}
	}
	g.p("    if (%s) {\n        return AEE_EBADPARM;\n    }", cond)
	if len(w.in) > 0 {
		g.p("    struct %s_%s_in _in;", iface, m.Name)
		g.p("    memcpy(&_in, _pra[0].buf.pv, %d);", w.inEnd)
	}
	for _, b := range append(append([]buffer{}, w.inBufs...), w.outBufs...) {
		g.p("    if (!%s) {\n        return AEE_EBADPARM;\n    }", skelCheck(b))
	}
	for _, in := range w.inBufs {
		for _, out := range w.outBufs {
			if in.param == out.param {
				g.p("    if (_in.%sLen > 0 && _pra[%d].buf.pv != _pra[%d].buf.pv) {", in.param.Name, out.index, in.index)
				g.p("        memmove(_pra[%d].buf.pv, _pra[%d].buf.pv, _in.%sLen * sizeof(%s));\n    }", out.index, in.index,
					in.param.Name, in.param.elem())
			}
		}
	}
	if len(w.out) > 0 {
		g.p("    struct %s_%s_out _out;", iface, m.Name)
		g.p("    memset(&_out, 0, sizeof(_out));")
		for _, f := range w.out {
			if f.param.Mode == Inrout {
				g.p("    _out.%s = _in.%s;", f.name, f.name)
			}
		}
	}
	g.p("    int _err = %s_%s(%s);", iface, m.Name, skelArgs(m, &w))
	if len(w.out) > 0 {
		g.p("    if (_err == AEE_SUCCESS) {\n        memcpy(_pra[%d].buf.pv, &_out, %d);\n    }", w.outIndex, w.outEnd)
	}
	g.p("    return _err;\n}")
}

// skelCheck is the condition under which a buffer is as the method needs it. Text that comes in ends with its NUL.
func skelCheck(b buffer) string {
	a := b.param
	if a.isString() && a.Mode == In {
		return fmt.Sprintf("_text(&_pra[%d], _in.%sLen)", b.index, a.Name)
	}
	return fmt.Sprintf("_holds(&_pra[%d], _in.%sLen, sizeof(%s), _Alignof(%s))", b.index, a.Name, a.elem(), a.elem())
}

// skelArgs are the arguments of the implementation.
func skelArgs(m *Method, w *wire) string {
	s := "_h"
	for i := range m.Params {
		a := &m.Params[i]
		switch {
		case a.isBuffer() && a.Mode == In:
			s += fmt.Sprintf(", (const %s *) _pra[%d].buf.pv", a.elem(), w.bufIndex(a))
		case a.isBuffer():
			s += fmt.Sprintf(", (%s *) _pra[%d].buf.pv", a.elem(), w.bufIndex(a))
		case a.Mode != In:
			s += ", &_out." + a.Name
		case a.isStruct():
			s += ", &_in." + a.Name
		default:
			s += ", _in." + a.Name
		}
		if a.hasLen() {
			s += fmt.Sprintf(", (int) _in.%sLen", a.Name)
		}
	}
	return s
}

// bufIndex is the argument that the implementation sees: the one that goes back, when the parameter goes both ways.
func (w *wire) bufIndex(a *Param) int {
	bufs := w.outBufs
	if a.Mode == In {
		bufs = w.inBufs
	}
	for _, b := range bufs {
		if b.param == a {
			return b.index
		}
	}
	panic("idl: parameter " + a.Name + " has no buffer")
}
