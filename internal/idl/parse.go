// Package idl compiles the interface definitions of FastRPC into C: a header, a stub that the application links, and a
// skel that the DSP loads. It stands in for the vendor's qaic and speaks the same wire form, so that a stub of one and a
// skel of the other understand each other.
//
// The language is the part of it that interfaces with handles need: numbers, enumerations, structures of fixed size,
// and, as parameters, strings and sequences of these. The rest is refused with file, line and column.
package idl

import (
	"fmt"
	"strconv"
)

// Limits of the wire form: bits 28-24 of the scalars name a method, 31 is reserved, open and close are 0 and 1.
const (
	firstMethod = 2
	maxMethod   = 30
)

// handleBase is the interface that every interface with handles inherits.
const handleBase = "remote_handle64"

type parser struct {
	lex    *lexer
	tok    token
	types  map[string]Type
	consts map[string]int64
	ifaces map[string]bool
	names  map[string]Pos // everything declared
	unit   *Unit
}

// Parse reads an IDL file and what it includes.
func Parse(name string, open Opener) (*Unit, error) {
	lex, err := newLexer(name, open)
	if err != nil {
		return nil, err
	}
	p := &parser{
		lex: lex, types: map[string]Type{}, consts: map[string]int64{}, ifaces: map[string]bool{},
		names: map[string]Pos{}, unit: &Unit{Path: lex.stack[0].path},
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	for p.tok.kind != tokEOF {
		if err := p.decl(); err != nil {
			return nil, err
		}
	}
	p.unit.Includes = lex.includes
	return p.unit, nil
}

func (p *parser) advance() (err error) {
	p.tok, err = p.lex.next()
	return err
}

func (p *parser) errorf(format string, args ...any) error {
	return &Error{p.tok.pos, fmt.Sprintf(format, args...)}
}

func (p *parser) is(text string) bool { return p.tok.kind != tokEOF && p.tok.text == text }

func (p *parser) expect(text, context string) error {
	if !p.is(text) {
		return p.errorf("expected %q %s, found %v", text, context, p.tok)
	}
	return p.advance()
}

// accept skips a token when it is there.
func (p *parser) accept(text string) (bool, error) {
	if !p.is(text) {
		return false, nil
	}
	return true, p.advance()
}

// name reads an identifier.
func (p *parser) name(what string) (string, Pos, error) {
	t := p.tok
	if t.kind != tokName {
		return "", t.pos, p.errorf("expected the name of %s, found %v", what, t)
	}
	if reserved[t.text] {
		return "", t.pos, p.errorf("%q can not name %s: it is a word of IDL or C", t.text, what)
	}
	if t.text[0] == '_' {
		return "", t.pos, p.errorf("%s: names that start with _ belong to the generated code", t.text)
	}
	return t.text, t.pos, p.advance()
}

// declare reads the name of something new at file scope.
func (p *parser) declare(what string) (string, Pos, error) {
	n, pos, err := p.name(what)
	if err != nil {
		return "", pos, err
	}
	if old, ok := p.names[n]; ok {
		return "", pos, &Error{pos, fmt.Sprintf("%s is declared already at %v", n, old)}
	}
	p.names[n] = pos
	return n, pos, nil
}

func (p *parser) add(root bool, d any) {
	if root {
		p.unit.Decls = append(p.unit.Decls, d)
	}
}

func (p *parser) decl() error {
	root := p.tok.root
	switch p.tok.text {
	case "typedef":
		return p.typedef(root)
	case "struct":
		return p.structure(root)
	case "enum":
		return p.enum(root)
	case "const":
		return p.constant(root)
	case "interface":
		return p.iface(root)
	case ";":
		return p.advance()
	}
	return p.errorf("expected a typedef, struct, enum, const or interface, found %v", p.tok)
}

func (p *parser) typedef(root bool) error {
	if err := p.advance(); err != nil {
		return err
	}
	t, err := p.typ()
	if err != nil {
		return err
	}
	n, _, err := p.declare("a type")
	if err != nil {
		return err
	}
	if t, err = p.dims(t); err != nil {
		return err
	}
	a := &Alias{Name: n, Of: t}
	p.types[n] = a
	p.add(root, a)
	return p.expect(";", "after the typedef")
}

// dims reads array dimensions after a name.
func (p *parser) dims(t Type) (Type, error) {
	var lens []int
	for {
		at := p.tok.pos
		if ok, err := p.accept("["); err != nil || !ok {
			if err != nil {
				return nil, err
			}
			break
		}
		if !fixed(t) {
			return nil, &Error{at, "arrays of sequences and strings are not supported"}
		}
		n, err := p.integer()
		if err != nil {
			return nil, err
		}
		if n < 1 || n > 1<<20 {
			return nil, &Error{at, fmt.Sprintf("array length %d is not between 1 and %d", n, 1<<20)}
		}
		lens = append(lens, int(n))
		if err := p.expect("]", "after the array length"); err != nil {
			return nil, err
		}
	}
	for i := len(lens) - 1; i >= 0; i-- {
		if t = (&Array{Elem: t, Len: lens[i]}); !smallEnough(t) {
			return nil, p.errorf("array of more than %d bytes", maxFixed)
		}
	}
	return t, nil
}

// maxFixed bounds values that are copied as a whole, in bytes.
const maxFixed = 1 << 20

const maxMembers = 1024

func smallEnough(t Type) bool {
	s, _ := layout(t)
	return s <= maxFixed
}

func (p *parser) structure(root bool) error {
	if err := p.advance(); err != nil {
		return err
	}
	n, pos, err := p.declare("a structure")
	if err != nil {
		return err
	}
	if err := p.expect("{", "after the structure's name"); err != nil {
		return err
	}
	s := &Struct{Name: n}
	seen := map[string]bool{}
	for !p.is("}") {
		at := p.tok.pos
		t, err := p.typ()
		if err != nil {
			return err
		}
		if !fixed(t) {
			return &Error{at, "members of structures have a fixed size: no sequences and no strings"}
		}
		m, mpos, err := p.name("a member")
		if err != nil {
			return err
		}
		if seen[m] {
			return &Error{mpos, fmt.Sprintf("second member %s", m)}
		}
		seen[m] = true
		if t, err = p.dims(t); err != nil {
			return err
		}
		s.Members = append(s.Members, Member{m, t})
		if len(s.Members) > maxMembers {
			return &Error{mpos, fmt.Sprintf("more than %d members", maxMembers)}
		}
		if err := p.expect(";", "after the member"); err != nil {
			return err
		}
	}
	if len(s.Members) == 0 {
		return &Error{pos, fmt.Sprintf("structure %s has no members", n)}
	}
	if s.seal(); !smallEnough(s) {
		return &Error{pos, fmt.Sprintf("structure %s has more than %d bytes", n, maxFixed)}
	}
	p.types[n] = s
	p.add(root, s)
	if err := p.advance(); err != nil {
		return err
	}
	return p.expect(";", "after the structure")
}

func (p *parser) enum(root bool) error {
	if err := p.advance(); err != nil {
		return err
	}
	n, _, err := p.declare("an enumeration")
	if err != nil {
		return err
	}
	if err := p.expect("{", "after the enumeration's name"); err != nil {
		return err
	}
	e := &Enum{Name: n}
	for next := int64(0); ; next++ {
		v, pos, err := p.declare("an enumerator")
		if err != nil {
			return err
		}
		if ok, err := p.accept("="); err != nil {
			return err
		} else if ok {
			if next, err = p.integer(); err != nil {
				return err
			}
		}
		if next != int64(int32(next)) {
			return &Error{pos, fmt.Sprintf("%s = %d does not fit 32 bits", v, next)}
		}
		e.Values = append(e.Values, EnumValue{v, next})
		p.consts[v] = next
		if ok, err := p.accept(","); err != nil {
			return err
		} else if !ok || p.is("}") {
			break
		}
	}
	if err := p.expect("}", "after the enumerators"); err != nil {
		return err
	}
	p.types[n] = e
	p.add(root, e)
	return p.expect(";", "after the enumeration")
}

func (p *parser) constant(root bool) error {
	if err := p.advance(); err != nil {
		return err
	}
	at := p.tok.pos
	t, err := p.typ()
	if err != nil {
		return err
	}
	b, ok := underlying(t).(*Basic)
	if !ok || b.Name == "float" || b.Name == "double" {
		return &Error{at, "constants are integers"}
	}
	n, _, err := p.declare("a constant")
	if err != nil {
		return err
	}
	if err := p.expect("=", "after the constant's name"); err != nil {
		return err
	}
	v, err := p.integer()
	if err != nil {
		return err
	}
	p.consts[n] = v
	p.add(root, &Const{n, v})
	return p.expect(";", "after the constant")
}

// integer reads a number, perhaps negative, or the name of a constant.
func (p *parser) integer() (int64, error) {
	neg, err := p.accept("-")
	if err != nil {
		return 0, err
	}
	var v int64
	switch p.tok.kind {
	case tokNumber:
		if v, err = strconv.ParseInt(p.tok.text, 0, 64); err != nil {
			return 0, p.errorf("%q is not an integer of 64 bits", p.tok.text)
		}
	case tokName:
		var ok bool
		if v, ok = p.consts[p.tok.text]; !ok {
			return 0, p.errorf("%s is not a constant", p.tok.text)
		}
	default:
		return 0, p.errorf("expected an integer, found %v", p.tok)
	}
	if neg {
		v = -v
	}
	return v, p.advance()
}

// typ reads a type.
func (p *parser) typ() (Type, error) {
	t := p.tok
	if t.kind != tokName {
		return nil, p.errorf("expected a type, found %v", t)
	}
	switch t.text {
	case "unsigned", "long", "short":
		return p.words()
	case "sequence":
		return p.sequence()
	case "string":
		return &String{}, p.advance()
	case "any", "wchar", "wstring", "union", "module", "native", "valuetype", "dmahandle", "object":
		return nil, p.errorf("%s is not supported", t.text)
	}
	if b, ok := basics[t.text]; ok {
		return b, p.advance()
	}
	if d, ok := p.types[t.text]; ok {
		return d, p.advance()
	}
	if p.ifaces[t.text] {
		return nil, p.errorf("interface %s as a type: handles are not passed as parameters here", t.text)
	}
	return nil, p.errorf("unknown type %s", t.text)
}

// words reads a number type of several words.
func (p *parser) words() (Type, error) {
	at, text := p.tok.pos, p.tok.text
	if err := p.advance(); err != nil {
		return nil, err
	}
	for p.is("long") || p.is("short") || p.is("unsigned") {
		text += " " + p.tok.text
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	if b, ok := basics[text]; ok {
		return b, nil
	}
	return nil, &Error{at, fmt.Sprintf("%q is not a type", text)}
}

func (p *parser) sequence() (Type, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if err := p.expect("<", "after sequence"); err != nil {
		return nil, err
	}
	at := p.tok.pos
	e, err := p.typ()
	if err != nil {
		return nil, err
	}
	if !fixed(e) {
		return nil, &Error{at, "elements of sequences have a fixed size: no sequences and no strings"}
	}
	if _, ok := underlying(e).(*Array); ok {
		return nil, &Error{at, "sequences of arrays are not supported: put the array into a structure"}
	}
	if p.is(",") {
		return nil, p.errorf("bounded sequences are not supported")
	}
	return &Sequence{e}, p.expect(">", "after the sequence's element")
}

// reserved are words that can not be names in the generated C or C++.
var reserved = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range []string{
		"typedef", "struct", "enum", "const", "interface", "in", "rout", "inrout", "sequence", "string", "unsigned",
		"long", "short", "char", "octet", "boolean", "float", "double", "void", "module", "union", "int", "signed",
		"static", "extern", "return", "if", "else", "for", "while", "do", "switch", "case", "default", "break",
		"continue", "goto", "sizeof", "volatile", "register", "auto", "inline", "restrict", "class", "new", "delete",
		"this", "template", "namespace", "operator", "private", "public", "protected", "virtual", "try", "catch",
		"throw", "using", "bool", "true", "false", "explicit", "friend", "mutable", "typename", "export", "asm",
	} {
		m[w] = true
	}
	return m
}()
