package inspect

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

func read(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func sample(t testing.TB, name string) *Library {
	t.Helper()
	symbols, err := ReadSymbols(read(t, name+".so"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := Analyse(string(read(t, name+".lst")), symbols, nil)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(filepath.Join("testdata", name), got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want := read(t, name); !bytes.Equal(got, want) {
		t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
	}
}

func function(t *testing.T, l *Library, name string) *Function {
	t.Helper()
	for _, f := range l.Functions {
		if f.Name == name {
			return f
		}
	}
	t.Fatalf("no function %s", name)
	return nil
}

func TestTable(t *testing.T) {
	var out bytes.Buffer
	if err := sample(t, "first").Table(&out, true); err != nil {
		t.Fatal(err)
	}
	golden(t, "table.golden", out.Bytes())
}

func TestDisassembly(t *testing.T) {
	l := sample(t, "first")
	var out bytes.Buffer
	for _, name := range []string{"add_rows", "call_in_loop", "promote"} {
		if err := l.Disassemble(&out, function(t, l, name)); err != nil {
			t.Fatal(err)
		}
	}
	golden(t, "disassembly.golden", out.Bytes())
}

func TestChanges(t *testing.T) {
	var out bytes.Buffer
	if err := WriteChanges(&out, Compare(sample(t, "first"), sample(t, "second"))); err != nil {
		t.Fatal(err)
	}
	golden(t, "changes.golden", out.Bytes())
	if same := Compare(sample(t, "first"), sample(t, "first")); same != nil {
		t.Errorf("a build differs from itself: %v", same)
	}
}

// TestSample holds what the sample was written to show.
func TestSample(t *testing.T) {
	l := sample(t, "first")
	if c := function(t, l, "spill_vectors").InHardware; c.VectorSpills() == 0 {
		t.Errorf("spill_vectors: %+v", c)
	}
	if c := function(t, l, "divide_rows").InLoops; c.Divisions == 0 || c.Calls < c.Divisions {
		t.Errorf("divide_rows: %+v", c)
	}
	if c := function(t, l, "promote").Counts; c.Promotions == 0 {
		t.Errorf("promote: %+v", c)
	}
	if c := function(t, l, "call_in_loop").InLoops; c.Calls == 0 || c.Divisions != 0 {
		t.Errorf("call_in_loop: %+v", c)
	}
	rows := function(t, l, "add_rows")
	if len(rows.Loops) == 0 || rows.Loops[0].Kind != Loop0 || rows.InHardware.VectorSpills() != 0 {
		t.Errorf("add_rows: %+v", rows.Loops)
	}
	found := l.Check(Limits{Workers: regexp.MustCompile("^add_rows$")})
	var names []string
	for _, v := range found {
		names = append(names, v.Function)
	}
	for _, want := range []string{"spill_vectors", "promote", "add_rows"} {
		if !slices.Contains(names, want) {
			t.Errorf("strict: %s is let pass: %v", want, found)
		}
	}
	if found := l.Check(Limits{VectorSpills: -1, Promotions: -1, DMAVector: -1}); found != nil {
		t.Errorf("no limits: %v", found)
	}
}

func TestDecode(t *testing.T) {
	for _, test := range []struct {
		text string
		want string
	}{
		{"r4 = memw(r2+#0x10)", "load base 2 defines 10"},
		{"memd(r29+#-0x10) = r17:16", "store base 29"},
		{"memw(r4+#0x0) += r7", "store base 4"},
		{"r17:16 = memd(r29+#0x80)", "load base 29 defines 30000"},
		{"v0.cur = vmem(r3+#0x2)", "vector load base 3"},
		{"vmem(r0++#0x1):nt = v1.new", "vector store base 0"},
		{"if (q2) vmem(r5+#0x0) = v9", "vector store base 5 conditional"},
		{"if (p0) jump:nt 0x6f8fc", "branch 6f8fc conditional"},
		{"if (!cmp.eq(r3.new,r4)) jump:t 0x57934", "branch 57934 conditional"},
		{"jumpr r31", "branch back"},
		{"dealloc_return", "branch back"},
		{"r31:30 = dealloc_return(r30):raw", "branch back defines c0000000"},
		{"call 0x2000", "call 2000"},
		{"callr r6", "call"},
		{"loop0(0x27a4,#0x10)", "loop0 27a4 times 0x10"},
		{"p3 = sp2loop0(0x27a4,r3)", "loop0 27a4 times r3"},
		{"loop1(0x37e4,r13)", "loop1 37e4 times r13"},
		{"r2 = add(r29,#0x14)", "sum 20000000 defines 4"},
		{"r2 = r29", "sum 20000000 defines 4"},
		{"r2 = addasl(r29,r3,#0x2)", "sum 20000000 defines 4"},
		{"if (p0) r2 = add(r29,#0x14)", "conditional sum 20000000 defines 4"},
		{"r2 = mux(p0,r29,r3)", "sum 20000008 defines 4"},
		{"r5:4 = combine(r6,r29)", "sum 20000000 upper 40 defines 30"},
		{"r5:4 = combine(#0x1,r29)", "sum 20000000 defines 30"},
		{"r5:4 = add(r29:28,r1:0)", "defines 30"},
		{"v27:26 = vshuff(v26,v23,r7)", "vector"},
		{"q3 = vcmp.gt(v6.sf,v23.sf)", "vector"},
		{"r1:0 = convert_sf2df(r3)", "double defines 3"},
		{"r4,p0 = sfrecipa(r3,r19)", "division defines 10"},
		{"r4 = dmpoll", "dma defines 10"},
		{"dmlink(r2,r3)", "dma"},
	} {
		var op operation
		op.decode(test.text)
		if got := describe(op); got != test.want {
			t.Errorf("%s: %s, want %s", test.text, got, test.want)
		}
	}
}

func describe(op operation) string {
	var words []string
	add := func(set bool, format string, args ...any) {
		if set {
			words = append(words, fmt.Sprintf(format, args...))
		}
	}
	add(op.vector, "vector")
	add(op.memory && op.store, "store")
	add(op.memory && !op.store, "load")
	add(op.memory, "base %d", op.base)
	add(op.branch && op.target != 0, "branch %x", op.target)
	add(op.branch && op.target == 0, "branch")
	add(op.back, "back")
	add(op.call && op.target != 0, "call %x", op.target)
	add(op.call && op.target == 0, "call")
	add(op.loop > 0, "loop%d %x times %s", op.loop-1, op.target, op.trips)
	add(op.conditional, "conditional")
	add(op.promotes, "double")
	add(op.divides, "division")
	add(op.dma, "dma")
	add(op.sum != 0, "sum %x", op.sum)
	add(op.upper != 0, "upper %x", op.upper)
	add(op.defined != 0, "defines %x", op.defined)
	return strings.Join(words, " ")
}

// TestNestedLoops holds bounds, nesting and the sets of spills on a listing
// written by hand: an inner hardware loop in a loop by branch, an unknown word,
// and a base register that is read before its packet overwrites it.
func TestNestedLoops(t *testing.T) {
	listing := "\n00000100 <nested>:\n" +
		"     100:\t00 00 00 00\t00004000 { \tr2 = add(r29,#0x40)\n" +
		"     104:\t00 c0 00 00\t0000c000   \tr5 = #0x0 } \n" +
		"     108:\t00 c0 00 00\t0000c000 { \tloop0(0x10c,#0x8) } \n" +
		"     10c:\t00 80 00 00\t00008000 { \tr2 = #0x0\n" +
		"     110:\t00 c0 00 00\t0000c000   \tv0 = vmem(r2+#0x1) }  :endloop0\n" +
		"     114:\t00 40 00 1f\t1f004000 \t<unknown>\n" +
		"     118:\t00 c0 00 00\t0000c000   \tr4 = memw(r29+#0x8) } \n" +
		"     11c:\t00 c0 00 00\t0000c000 { \tif (p0) jump:nt 0x108 } \n" +
		"     120:\t00 c0 00 00\t0000c000 { \tjumpr r31 } \n"
	listing = strings.ReplaceAll(listing, "100:\t00 00", "100:\t00 40")
	l, err := Analyse(listing, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	f := l.Functions[0]
	if len(f.Loops) != 2 || f.Unknown != 1 || f.Size != 0x24 {
		t.Fatalf("%+v", f)
	}
	outer, inner := f.Loops[0], f.Loops[1]
	if outer.Kind != BranchLoop || outer.Start != 0x108 || outer.End != 0x120 || outer.Depth != 1 || outer.ScalarLoads != 1 || outer.Vector != 2 {
		t.Errorf("outer: %+v", outer)
	}
	if inner.Kind != Loop0 || inner.Start != 0x10c || inner.End != 0x114 || inner.Depth != 2 || !reflect.DeepEqual(inner.Trips, []string{"0x8"}) || inner.VectorLoads != 1 {
		t.Errorf("inner: %+v", inner)
	}
}

func TestCuts(t *testing.T) {
	s := &Symbols{
		code:      []code{{0x10, make([]byte, 8)}, {0x100, make([]byte, 0x100)}},
		functions: []symbol{{addr: 0x10}, {addr: 0x100}, {addr: 0x120}, {addr: 0x120}, {addr: 0x1f0}, {addr: 0x200}},
	}
	for n, want := range map[int][]uint32{0: nil, 1: nil, 2: {0x1f0}, 8: {0x120, 0x1f0}} {
		if got := s.Cuts(n); !slices.Equal(got, want) {
			t.Errorf("%d parts: %#x, want %#x", n, got, want)
		}
	}
	if got := (&Symbols{}).Cuts(4); got != nil {
		t.Errorf("without code: %#x", got)
	}
}

// TestListingWithoutWords holds that a listing that leaves out the words tells as
// much as one with them, since the library has them.
func TestListingWithoutWords(t *testing.T) {
	words := regexp.MustCompile(`(?m)^( *[0-9a-f]+:)\t[0-9a-f ]{11}\t[0-9a-f]{8} `)
	whole := string(read(t, "first.lst"))
	short := words.ReplaceAllString(whole, "$1 ")
	if len(short) >= len(whole) || strings.Contains(short, "\t1f ") {
		t.Fatalf("%d of %d bytes", len(short), len(whole))
	}
	symbols, err := ReadSymbols(read(t, "first.so"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := Analyse(short, symbols, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := sample(t, "first"); !reflect.DeepEqual(l.Functions, want.Functions) {
		t.Errorf("%d functions differ from %d", len(l.Functions), len(want.Functions))
	}
	if _, err := Analyse("00000004 <f>:\n       4: { \tjumpr r31 } \n", symbols, nil); err == nil || !strings.Contains(err.Error(), "listing:2") {
		t.Errorf("a word outside the library's code: %v", err)
	}
}

func TestListingErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "holds no functions",
		"hello\n":                        "holds no functions",
		"00000100 <f>:\n     100:\tzz\n": "listing:2",
	} {
		if _, err := Analyse(text, nil, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := ReadSymbols([]byte("\x7fELF")); err == nil {
		t.Error("a torn ELF is read")
	}
	if program, err := os.ReadFile("/bin/true"); err == nil {
		if _, err := ReadSymbols(program); err == nil || !strings.Contains(err.Error(), "not for Hexagon") {
			t.Errorf("another machine's ELF: %v", err)
		}
	}
}

func TestResolve(t *testing.T) {
	l := sample(t, "first")
	symbols, err := ReadSymbols(read(t, "first.so"))
	if err != nil {
		t.Fatal(err)
	}
	f := function(t, l, "promote")
	place := symbols.Resolve(f.Addr + 4)
	if place.Function != "promote" || place.Offset != 4 || !strings.HasSuffix(place.File, "sample.c") || place.Line == 0 {
		t.Errorf("%+v", place)
	}
	if place := symbols.Resolve(3); place.Function != "" || place.String() != "0x3 is in no function" {
		t.Errorf("%v", place)
	}
}

func TestAddresses(t *testing.T) {
	for line, want := range map[string][]uint32{
		"11-30 09:00:00.0 1 2 E adsprpc : fault PC=0x51a30 LR: 0005ba54": {0x51a30, 0x5ba54},
		"#1 libggml-htp-v79.so+0x1f30 (op_x) 0xdeadbeef":                 {0x1f30},
		"at 0x51a30, then 0x51a30 and 0x5BA54":                           {0x51a30, 0x5ba54},
		"51a30":                                                          {0x51a30},
		"nothing 12 34":                                                  nil,
	} {
		if got := Addresses(line); !slices.Equal(got, want) {
			t.Errorf("%q: %x, want %x", line, got, want)
		}
	}
}

func FuzzAnalyse(f *testing.F) {
	f.Add(string(read(f, "first.lst")[:4000]))
	f.Add("00000100 <f>:\n     100:\t00 c0 00 00\t0000c000 { \tjump 0x100 } \n")
	f.Add("00000100 <f>:\n     100: { \tjump 0x100 } \n")
	f.Add("00000100 <f>:\n     100:\t00 80 00 00\t00008000 { \tloop0(0x100,r1)\n     104:\t00 c0 00 00\t0000c000   \tr2 = add(r29,r2) }  :endloop0\n")
	f.Fuzz(func(t *testing.T, listing string) {
		l, err := Analyse(listing, &Symbols{code: []code{{0x100, make([]byte, 64)}}}, nil)
		if err != nil {
			return
		}
		var out bytes.Buffer
		for _, f := range l.Functions {
			if f.InHardware.Packets > f.InLoops.Packets || f.InLoops.Packets > f.Counts.Packets {
				t.Errorf("%s: %+v of %+v of %+v", f.Name, f.InHardware, f.InLoops, f.Counts)
			}
			if err := l.Disassemble(&out, f); err != nil {
				t.Fatal(err)
			}
		}
		if len(Compare(l, l)) > len(l.Functions) {
			t.Error("more changes than functions")
		}
	})
}

func FuzzReadSymbols(f *testing.F) {
	f.Add(read(f, "first.so"))
	f.Fuzz(func(t *testing.T, library []byte) {
		if s, err := ReadSymbols(library); err == nil {
			_ = s.Resolve(0x102a4).String()
		}
	})
}

func FuzzAddresses(f *testing.F) {
	f.Add("pc 0x51a30")
	f.Fuzz(func(t *testing.T, line string) { Addresses(line) })
}

func BenchmarkAnalyse(b *testing.B) {
	listing := string(read(b, "first.lst"))
	b.SetBytes(int64(len(listing)))
	for b.Loop() {
		if _, err := Analyse(listing, nil, nil); err != nil {
			b.Fatal(err)
		}
	}
}
