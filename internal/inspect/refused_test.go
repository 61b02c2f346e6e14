package inspect

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
)

// TestConditionalWrites holds which writes make a register forget that it
// points into the frame: those under a condition do not, two that exclude each
// other do, calls do for what they may overwrite.
func TestConditionalWrites(t *testing.T) {
	for _, test := range []struct {
		packet string
		spills int
	}{
		{"r7 = r5", 0},
		{"if (p0) r7 = r5", 1},
		{"if (!p0.new) r7 = memw(r5+#0x0)", 1},
		{"if (p0) r7 = r5; if (!p0) r7 = r6", 0},
		{"if (p0) r7 = r5; if (!p0) r6 = r5", 1},
		{"r7:6 = combine(r5,r29)", 0},
		{"r7:6 = combine(r29,r5)", 1},
		{"r9:8 = combine(r7,r5); r7 = r5", 0},
		{"if (p0) r7 = r5; if (!p0) jump:nt 0x200", 0},
		{"if (!p0.new) r7 = add(r5,#0x8); if (p0.new) jump:t 0x200", 0},
		{"if (p0) r7 = r5; if (!p0) jump:nt 0x108", 1}, // the jump leads to what follows
		{"if (p0) r7 = r5; if (p0) jump:nt 0x200", 1},
		{"if (p1) r7 = r5; if (!p0) jump:nt 0x200", 1},
		{"if (p0) r7 = r29; if (!p0) jump:nt 0x200", 1},
		{"call 0x4000", 0},
		{"if (p0) call 0x4000", 1},
		{"call 0x4000; r7 = add(r29,#0x8)", 0},
		{"vmem(r7++#0x1) = v3", 2},
	} {
		listing := "00000100 <f>:\n" +
			"     100:\t00 c0 00 00\t0000c000 { \tr7 = add(r29,#0x10) } \n" +
			"     104:\t00 c0 00 00\t0000c000 { \t" + test.packet + " } \n" +
			"     108:\t00 c0 00 00\t0000c000 { \tr1 = memw(r7+#0x0) } \n"
		l, err := Analyse(listing, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c := l.Functions[0].Counts; c.ScalarSpills()+c.VectorSpills() != test.spills {
			t.Errorf("%s: %+v, want %d spills", test.packet, c, test.spills)
		}
	}
}

// TestRefusedPackets holds that the words of a packet that the disassembler
// refuses are not lost: neither the end of a loop nor a spill nor a jump.
func TestRefusedPackets(t *testing.T) {
	symbols := &Symbols{code: []code{{0x100, nil}}}
	for _, w := range []uint32{
		0x6000c000,             // loop0(0x104,#4)
		0x1f008000, 0x9d1dc000, // unknown vector word, a load of the frame, end of loop0
		0x00004001, 0x58004000, 0x1f00c001, // extender, jump, unknown vector word
		0x5800c000, // jumpr r31
	} {
		symbols.code[0].data = binary.LittleEndian.AppendUint32(symbols.code[0].data, w)
	}
	listing := "00000100 <f>:\n" +
		"     100:\t00 c0 00 60\t6000c000 { \tloop0(0x104,#0x4) } \n" +
		"     104:\t00 80 00 1f\t1f008000 <unknown>\n" +
		"     10c:\t01 40 00 00\t00004001 <unknown>\n" +
		"     118:\t00 c0 00 58\t5800c000 { \tjumpr r31 } \n"
	again := func(library []byte) (string, error) {
		f, err := elf.NewFile(bytes.NewReader(library))
		if err != nil || f.Machine != elf.EM_QDSP6 {
			t.Fatalf("%v, %+v", err, f)
		}
		text, err := f.Section(".text").Data()
		if err != nil {
			t.Fatal(err)
		}
		var words []string
		for ; len(text) >= 4; text = text[4:] {
			words = append(words, fmt.Sprintf("%08x", binary.LittleEndian.Uint32(text)))
		}
		if got := strings.Join(words, " "); got != "1f00c000 9d1dc000 00004001 5800c000 1f00c001" {
			t.Errorf("shown once more: %s", got)
		}
		return "00000000 <.text>:\n" +
			"       0:\t00 c0 00 1f\t1f00c000 <unknown>\n" +
			"       4:\t00 c0 1d 9d\t9d1dc000 { \tr3 = memw(r29+#0x8) } \n" +
			"       8:\t01 40 00 00\t00004001 { \timmext(#0x100)\n" +
			"       c:\t00 c0 00 58\t5800c000   \tjump 0x0 } \n" +
			"      10:\t01 c0 00 1f\t1f00c001 <unknown>\n", nil
	}
	l, err := Analyse(listing, symbols, again)
	if err != nil {
		t.Fatal(err)
	}
	f := l.Functions[0]
	if f.Counts.Packets != 4 || f.Counts.Vector != 2 || f.Unknown != 2 || f.InHardware.ScalarLoads != 1 {
		t.Errorf("%+v, %d unknown", f.Counts, f.Unknown)
	}
	// The jump is 8 bytes back from its packet's begin, 0x10c: into the loop.
	if len(f.Loops) != 1 || f.Loops[0].Kind != Loop0 || f.Loops[0].Start != 0x104 || f.Loops[0].End != 0x118 {
		t.Errorf("%+v", f.Loops)
	}
	if _, err := Analyse(listing, symbols, func([]byte) (string, error) { return "", fmt.Errorf("no disassembler") }); err == nil {
		t.Error("a failing disassembler is not told of")
	}
}

func TestMoved(t *testing.T) {
	for text, want := range map[string]string{
		"jump 0x10":                          "jump 0x110",
		"if (p1) jump:nt 0x8":                "if (p1) jump:nt 0x108",
		"call 0xfffffff0":                    "call 0xf0",
		"loop0(0x4,#0x10)":                   "loop0(0x104,#0x10)",
		"r2 = add(r29,##0x10)":               "r2 = add(r29,##0x10)",
		"jumpr r31":                          "jumpr r31",
		"p0 = cmp.eq(r2,#0x0); jump:t 0x20":  "p0 = cmp.eq(r2,#0x0); jump:t 0x120",
		"if (cmp.eq(r0.new,#0x1)) jump:t 0x": "if (cmp.eq(r0.new,#0x1)) jump:t 0x",
	} {
		if got := moved(text, 0x100); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func FuzzMoved(f *testing.F) {
	f.Add("loop0(0x4,#0x10)", uint32(8))
	f.Fuzz(func(t *testing.T, text string, distance uint32) { moved(text, distance) })
}
