package idl

import "strings"

// stub writes the application's side: functions that pack their arguments and invoke.
func (g *generator) stub() []byte {
	g.preamble("the application's side")
	for _, it := range g.interfaces() {
		for i := range it.Methods {
			w := plan(&it.Methods[i])
			g.wireStructs(it.Name, &it.Methods[i], &w)
		}
		g.p("\nint %s_open(const char * uri, remote_handle64 * h) {\n    return remote_handle64_open(uri, h);\n}", it.Name)
		g.p("\nint %s_close(remote_handle64 h) {\n    return remote_handle64_close(h);\n}", it.Name)
		for i := range it.Methods {
			g.stubMethod(it.Name, &it.Methods[i], firstMethod+i)
		}
	}
	return g.done()
}

func (g *generator) stubMethod(iface string, m *Method, index int) {
	w := plan(m)
	g.p("\n%s {", prototype(iface, m))
	if checks := stubChecks(m); len(checks) > 0 {
		g.p("    if (%s) {\n        return AEE_EBADPARM;\n    }", strings.Join(checks, " || "))
	}
	if w.nIn+w.nOut == 0 {
		g.p("    return remote_handle64_invoke(_h, %s, NULL);\n}", w.scalars(index))
		return
	}
	g.p("    remote_arg _pra[%d];", w.nIn+w.nOut)
	if len(w.in) > 0 {
		g.p("    struct %s_%s_in _in;", iface, m.Name)
		g.p("    memset(&_in, 0, sizeof(_in));")
		for _, f := range w.in {
			g.p("    _in.%s = %s;", f.name, stubValue(f))
		}
		g.p("    _pra[0].buf.pv   = &_in;")
		g.p("    _pra[0].buf.nLen = sizeof(_in);")
	}
	for _, b := range w.inBufs {
		g.stubBuffer(b)
	}
	if len(w.out) > 0 {
		g.p("    struct %s_%s_out _out;", iface, m.Name)
		g.p("    memset(&_out, 0, sizeof(_out));")
		g.p("    _pra[%d].buf.pv   = &_out;", w.outIndex)
		g.p("    _pra[%d].buf.nLen = sizeof(_out);", w.outIndex)
	}
	for _, b := range w.outBufs {
		g.stubBuffer(b)
	}
	if len(w.out) == 0 {
		g.p("    return remote_handle64_invoke(_h, %s, _pra);\n}", w.scalars(index))
		return
	}
	g.p("    int _err = remote_handle64_invoke(_h, %s, _pra);", w.scalars(index))
	g.p("    if (_err == AEE_SUCCESS) {")
	for _, f := range w.out {
		g.p("        *%s = _out.%s;", f.name, f.name)
	}
	g.p("    }\n    return _err;\n}")
}

func (g *generator) stubBuffer(b buffer) {
	name := b.param.Name
	g.p("    _pra[%d].buf.pv   = (void *) %s;", b.index, name)
	if b.param.isString() && b.param.Mode == In {
		g.p("    _pra[%d].buf.nLen = _in.%sLen;", b.index, name)
		return
	}
	g.p("    _pra[%d].buf.nLen = (size_t) %sLen * sizeof(*%s);", b.index, name, name)
}

// stubValue is what a field of the structure that goes in is set to.
func stubValue(f field) string {
	a := f.param
	switch {
	case f.isLen && a.hasLen():
		return "(uint32_t) " + a.Name + "Len"
	case f.isLen:
		return "(uint32_t) strlen(" + a.Name + ") + 1"
	case a.isStruct() || a.Mode == Inrout:
		return "*" + a.Name
	}
	return a.Name
}

// stubChecks are the conditions under which a call is refused before it is made.
func stubChecks(m *Method) (out []string) {
	for i := range m.Params {
		a := &m.Params[i]
		switch {
		case a.hasLen():
			out = append(out, a.Name+"Len < 0", "("+a.Name+"Len > 0 && !"+a.Name+")")
		case a.isString():
			out = append(out, "!"+a.Name, "strlen("+a.Name+") >= INT_MAX")
		case a.isStruct() || a.Mode != In:
			out = append(out, "!"+a.Name)
		}
	}
	return out
}
