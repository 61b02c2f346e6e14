package idl

import "fmt"

// iface reads an interface. Those of included files (remote_handle64 itself) are known by name only.
func (p *parser) iface(root bool) error {
	if err := p.advance(); err != nil {
		return err
	}
	n, pos, err := p.declare("an interface")
	if err != nil {
		return err
	}
	it := &Interface{Name: n}
	if ok, err := p.accept(":"); err != nil {
		return err
	} else if ok {
		if !p.is(handleBase) || !p.ifaces[handleBase] {
			return p.errorf("interfaces inherit %s (of remote.idl) and nothing else, found %v", handleBase, p.tok)
		}
		if err := p.advance(); err != nil {
			return err
		}
	} else if root {
		return &Error{pos, fmt.Sprintf("interface %s does not inherit %s: only interfaces with handles are supported", n, handleBase)}
	}
	if err := p.expect("{", "before the methods"); err != nil {
		return err
	}
	names := map[string]bool{"open": true, "close": true, "skel_handle_invoke": true}
	for !p.is("}") {
		m, err := p.method()
		if err != nil {
			return err
		}
		if names[m.Name] {
			return &Error{m.pos, fmt.Sprintf("method %s is there already (open and close always are)", m.Name)}
		}
		names[m.Name] = true
		it.Methods = append(it.Methods, m)
		if len(it.Methods) > maxMethod-firstMethod+1 {
			return &Error{m.pos, fmt.Sprintf("more than %d methods in one interface", maxMethod-firstMethod+1)}
		}
	}
	p.ifaces[n] = true
	p.add(root, it)
	if err := p.advance(); err != nil {
		return err
	}
	return p.expect(";", "after the interface")
}

func (p *parser) method() (Method, error) {
	at := p.tok.pos
	t, err := p.typ()
	if err != nil {
		return Method{}, err
	}
	if b, ok := underlying(t).(*Basic); !ok || b.Size != 4 || b.Name == "float" {
		return Method{}, &Error{at, "methods return AEEResult or long"}
	}
	m := Method{Result: t}
	if m.Name, m.pos, err = p.name("a method"); err != nil {
		return m, err
	}
	if err := p.expect("(", "after the method's name"); err != nil {
		return m, err
	}
	seen := map[string]bool{}
	for !p.is(")") {
		if len(m.Params) > 0 {
			if err := p.expect(",", "between parameters"); err != nil {
				return m, err
			}
		}
		a, err := p.param()
		if err != nil {
			return m, err
		}
		for _, c := range cNames(a) {
			if seen[c] {
				return m, &Error{a.pos, fmt.Sprintf("second parameter %s in C", c)}
			}
			seen[c] = true
		}
		m.Params = append(m.Params, a)
	}
	if w := plan(&m); w.nIn > 255 || w.nOut > 255 {
		return m, &Error{m.pos, "more than 255 buffers in one direction"}
	}
	if err := p.advance(); err != nil {
		return m, err
	}
	return m, p.expect(";", "after the method")
}

// cNames are the C parameters that an IDL parameter becomes.
func cNames(a Param) []string {
	if a.hasLen() {
		return []string{a.Name, a.Name + "Len"}
	}
	return []string{a.Name}
}

func (p *parser) param() (Param, error) {
	var a Param
	switch p.tok.text {
	case "in":
		a.Mode = In
	case "rout":
		a.Mode = Rout
	case "inrout":
		a.Mode = Inrout
	default:
		return a, p.errorf("expected in, rout or inrout before a parameter, found %v", p.tok)
	}
	if err := p.advance(); err != nil {
		return a, err
	}
	at := p.tok.pos
	var err error
	if a.Type, err = p.typ(); err != nil {
		return a, err
	}
	if _, ok := underlying(a.Type).(*Array); ok {
		return a, &Error{at, "arrays as parameters are not supported: put the array into a structure"}
	}
	if a.Name, a.pos, err = p.name("a parameter"); err != nil {
		return a, err
	}
	if p.is("[") {
		return a, p.errorf("arrays as parameters are not supported: put the array into a structure")
	}
	return a, nil
}

func (a *Param) sequence() (*Sequence, bool) {
	s, ok := underlying(a.Type).(*Sequence)
	return s, ok
}

func (a *Param) isString() bool {
	_, ok := underlying(a.Type).(*String)
	return ok
}

// isBuffer reports whether the parameter travels in a buffer of its own.
func (a *Param) isBuffer() bool {
	_, ok := a.sequence()
	return ok || a.isString()
}

// hasLen reports whether the parameter has a length beside it in C: all buffers but the strings that only go in.
func (a *Param) hasLen() bool {
	return a.isBuffer() && !(a.isString() && a.Mode == In)
}

func (a *Param) isStruct() bool {
	_, ok := underlying(a.Type).(*Struct)
	return ok
}
