package idl

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
)

// Output is the C of one unit.
type Output struct {
	Name   string // of the IDL file, without folder and ending; the files are <Name>.h, <Name>_stub.c, <Name>_skel.c
	Header []byte
	Stub   []byte
	Skel   []byte
}

// Generate turns a unit into C.
func Generate(u *Unit) *Output {
	base := filepath.Base(u.Path)
	g := &generator{unit: u, name: strings.TrimSuffix(base, filepath.Ext(base)), idl: base}
	return &Output{Name: g.name, Header: g.header(), Stub: g.stub(), Skel: g.skel()}
}

type generator struct {
	unit *Unit
	name string
	idl  string
	buf  bytes.Buffer
}

func (g *generator) p(format string, args ...any) { fmt.Fprintf(&g.buf, format+"\n", args...) }

func (g *generator) done() []byte {
	out := bytes.Clone(g.buf.Bytes())
	g.buf.Reset()
	return out
}

func (g *generator) interfaces() (its []*Interface) {
	for _, d := range g.unit.Decls {
		if it, ok := d.(*Interface); ok {
			its = append(its, it)
		}
	}
	return its
}

func (g *generator) header() []byte {
	guard := strings.ToUpper(cName(g.name)) + "_H"
	g.p("/* Generated from %s; do not edit. */", g.idl)
	g.p("#ifndef %s\n#define %s\n", guard, guard)
	for _, inc := range g.unit.Includes {
		g.p("#include \"%s.h\"", strings.TrimSuffix(inc, ".idl"))
	}
	g.p("")
	g.p("#ifdef __cplusplus\nextern \"C\" {\n#endif")
	for _, d := range g.unit.Decls {
		switch d := d.(type) {
		case *Alias:
			if fixed(d.Of) {
				g.p("\ntypedef %s;", declarator(d.Of, d.Name))
			}
		case *Const:
			g.p("\n#define %s %s", d.Name, number(d.Value))
		case *Enum:
			g.p("\ntypedef enum %s {", d.Name)
			for _, v := range d.Values {
				g.p("    %s = %s,", v.Name, number(v.Value))
			}
			g.p("} %s;", d.Name)
		case *Struct:
			g.p("\ntypedef struct %s {", d.Name)
			for _, m := range d.Members {
				g.p("    %s;", declarator(m.Type, m.Name))
			}
			g.p("} %s;", d.Name)
		case *Interface:
			g.interfaceHeader(d)
		}
	}
	g.p("\n#ifdef __cplusplus\n}\n#endif\n\n#endif /* %s */", guard)
	return g.done()
}

func (g *generator) interfaceHeader(it *Interface) {
	g.p("\n/* What to open, with the DSP appended: %s_URI CDSP_DOMAIN. */", it.Name)
	g.p("#define %s_URI \"file:///lib%s_skel.so?%s_skel_handle_invoke&_modver=1.0\"\n", it.Name, it.Name, it.Name)
	g.p("int %s_open(const char * uri, remote_handle64 * h);", it.Name)
	g.p("int %s_close(remote_handle64 h);", it.Name)
	for i := range it.Methods {
		g.p("%s;", prototype(it.Name, &it.Methods[i]))
	}
}

// declarator writes a C declaration of name.
func declarator(t Type, name string) string {
	if a, ok := t.(*Array); ok {
		return declarator(a.Elem, fmt.Sprintf("%s[%d]", name, a.Len))
	}
	return t.C() + " " + name
}

func number(v int64) string {
	switch {
	case v == -1<<63:
		return "(-9223372036854775807LL - 1)"
	case v < 0 && v == int64(int32(v)):
		return fmt.Sprintf("(%d)", v)
	case v < 0:
		return fmt.Sprintf("(%dLL)", v)
	case v == int64(int32(v)):
		return fmt.Sprint(v)
	case v == int64(uint32(v)):
		return fmt.Sprintf("%du", v)
	}
	return fmt.Sprintf("%dLL", v)
}

// cName makes a C identifier of a file's name.
func cName(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 128 && (isLetter(byte(r)) || isDigit(byte(r))) {
			return r
		}
		return '_'
	}, s)
}

func (g *generator) preamble(side string) {
	g.p("/* Generated from %s: %s. Do not edit. */", g.idl, side)
	for _, h := range []string{"assert.h", "limits.h", "stddef.h", "stdint.h", "string.h"} {
		g.p("#include <%s>", h)
	}
	g.p("\n#include \"AEEStdErr.h\"\n#include \"remote.h\"\n#include \"%s.h\"", g.name)
	for _, d := range g.unit.Decls {
		switch d := d.(type) {
		case *Struct:
			g.p("\nstatic_assert(sizeof(%s) == %d, \"%s has the same layout on both sides\");", d.Name, d.size, d.Name)
		case *Enum:
			g.p("\nstatic_assert(sizeof(%s) == 4, \"enumerations are 32 bits wide\");", d.Name)
		}
	}
}

// wireStructs writes the structures that carry a method's numbers.
func (g *generator) wireStructs(iface string, m *Method, w *wire) {
	write := func(suffix string, fs []field) {
		if len(fs) == 0 {
			return
		}
		tag := fmt.Sprintf("%s_%s_%s", iface, m.Name, suffix)
		g.p("\nstruct %s {", tag)
		for _, f := range fs {
			g.p("    %s %s;", f.ctype, f.name)
		}
		g.p("};")
		last := fs[len(fs)-1]
		g.p("static_assert(offsetof(struct %s, %s) == %d, \"layout on the wire\");", tag, last.name, last.off)
	}
	write("in", w.in)
	write("out", w.out)
}

// counts is the check of an invocation's scalars in a skel.
func (w *wire) counts() string {
	return fmt.Sprintf("_counts(_sc, %d, %d, 0, 0)", w.nIn, w.nOut)
}
