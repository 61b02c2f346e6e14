package idl

import "fmt"

// Pos is a place in an IDL file. Lines and columns count from 1, columns in bytes.
type Pos struct {
	File      string
	Line, Col int
}

func (p Pos) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col) }

// Error is a fault in an IDL file.
type Error struct {
	Pos Pos
	Msg string
}

func (e *Error) Error() string { return e.Pos.String() + ": " + e.Msg }

// Type is one of *Basic, *Alias, *Struct, *Enum, *Array, *Sequence, *String.
type Type interface {
	// C is the type's name in C.
	C() string
}

// Basic is a number. Its size in bytes is its alignment too, on the application processor and on the DSP.
type Basic struct {
	Name  string // in IDL
	CName string // in C
	Size  int
}

// Alias is a typedef.
type Alias struct {
	Name string
	Of   Type
}

// Member is one member of a structure.
type Member struct {
	Name string
	Type Type
}

// Struct is a structure of fixed size.
type Struct struct {
	Name    string
	Members []Member
	size    int // bytes, of the whole; set by seal
	align   int
}

// seal computes the layout once the members are known.
func (t *Struct) seal() {
	t.size, t.align = 0, 1
	for _, m := range t.Members {
		s, a := layout(m.Type)
		t.size = roundUp(t.size, a) + s
		t.align = max(t.align, a)
	}
	t.size = roundUp(t.size, t.align)
}

// Enum is an enumeration, four bytes wide.
type Enum struct {
	Name   string
	Values []EnumValue
}

// EnumValue is one enumerator.
type EnumValue struct {
	Name  string
	Value int64
}

// Array is an array of fixed length; members of structures only.
type Array struct {
	Elem Type
	Len  int
}

// Sequence is a buffer of elements with a length that the caller gives; parameters only.
type Sequence struct{ Elem Type }

// String is text that ends with a NUL; parameters only.
type String struct{}

// C implements Type.
func (t *Basic) C() string    { return t.CName }
func (t *Alias) C() string    { return t.Name }
func (t *Struct) C() string   { return t.Name }
func (t *Enum) C() string     { return t.Name }
func (t *Array) C() string    { return t.Elem.C() }
func (t *Sequence) C() string { return t.Elem.C() }
func (t *String) C() string   { return "char" }

// Mode is the direction of a parameter.
type Mode int

// The directions: to the DSP, from it, both.
const (
	In Mode = iota
	Rout
	Inrout
)

func (m Mode) String() string { return [...]string{"in", "rout", "inrout"}[m] }

// Param is one parameter of a method.
type Param struct {
	Name string
	Mode Mode
	Type Type
	pos  Pos
}

// Method is one method of an interface.
type Method struct {
	Name   string
	Result Type
	Params []Param
	pos    Pos
}

// Interface is a set of methods that a DSP implements, with handles (it inherits remote_handle64).
type Interface struct {
	Name    string
	Methods []Method
}

// Const is a named integer.
type Const struct {
	Name  string
	Value int64
}

// Unit is one IDL file with what it declares itself, in order. What it includes is known by name only.
type Unit struct {
	Path     string
	Includes []string // as written, of this file itself
	Decls    []any    // *Alias, *Struct, *Enum, *Const, *Interface
}

// underlying strips typedefs.
func underlying(t Type) Type {
	for {
		a, ok := t.(*Alias)
		if !ok {
			return t
		}
		t = a.Of
	}
}

// layout returns size and alignment in bytes of a type of fixed size, by the rule that both compilers share: each
// member at the next multiple of its alignment, the whole rounded up to the largest.
func layout(t Type) (size, align int) {
	switch t := underlying(t).(type) {
	case *Basic:
		return t.Size, t.Size
	case *Enum:
		return 4, 4
	case *Array:
		s, a := layout(t.Elem)
		return s * t.Len, a
	case *Struct:
		return t.size, t.align
	}
	panic(fmt.Sprintf("idl: no layout for %T", t))
}

func roundUp(n, align int) int { return (n + align - 1) / align * align }

// fixed reports whether values of the type have a size known from the IDL alone.
func fixed(t Type) bool {
	switch t := underlying(t).(type) {
	case *Basic, *Enum, *Struct:
		return true
	case *Array:
		return fixed(t.Elem)
	}
	return false
}

// basics are the number types that IDL has of itself. The others of FastRPC (uint32 and so on) are typedefs of
// AEEStdDef.idl.
var basics = map[string]*Basic{}

func init() {
	for _, b := range []Basic{
		{Name: "octet", CName: "unsigned char", Size: 1},
		{Name: "boolean", CName: "boolean", Size: 1},
		{Name: "char", CName: "char", Size: 1},
		{Name: "short", CName: "short", Size: 2},
		{Name: "unsigned short", CName: "unsigned short", Size: 2},
		{Name: "long", CName: "int", Size: 4},
		{Name: "unsigned long", CName: "unsigned int", Size: 4},
		{Name: "long long", CName: "int64", Size: 8},
		{Name: "unsigned long long", CName: "uint64", Size: 8},
		{Name: "float", CName: "float", Size: 4},
		{Name: "double", CName: "double", Size: 8},
		{Name: "int8_t", CName: "int8_t", Size: 1},
		{Name: "uint8_t", CName: "uint8_t", Size: 1},
		{Name: "int16_t", CName: "int16_t", Size: 2},
		{Name: "uint16_t", CName: "uint16_t", Size: 2},
		{Name: "int32_t", CName: "int32_t", Size: 4},
		{Name: "uint32_t", CName: "uint32_t", Size: 4},
		{Name: "int64_t", CName: "int64_t", Size: 8},
		{Name: "uint64_t", CName: "uint64_t", Size: 8},
	} {
		basics[b.Name] = &b
	}
}
