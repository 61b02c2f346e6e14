package knobs

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Variable is one environment variable of the Hexagon backend.
type Variable struct {
	// Name is the variable's, Short the same without GGML_HEXAGON_ as a
	// setting's name.
	Name, Short string
	// Meaning says what it does, Values what it takes, Default what holds when
	// it is unset.
	Meaning, Values, Default string
	// Deprecated names what to use instead; empty for a current variable.
	Deprecated string
	// Initial and Assigned are what the pinned sources do with it: the
	// option's initialiser and every assignment to it, as Extract gives them.
	// They are how a test knows that the other columns are still true.
	Initial  string
	Assigned []string

	check func(string) error
}

// Prefix begins every variable's name.
const Prefix = "GGML_HEXAGON_"

// Table lists the variables of the pinned llama.cpp, sorted by name.
var Table = []Variable{
	{Name: "GGML_HEXAGON_ARCH", Meaning: "Hexagon architecture to load kernels for, with or without a v before it",
		Values: "73 to 81", Default: "asked of the device; 73 if it does not answer, 81 at most", check: matches(`^[vV]?(73|75|79|81)$`, "73, 75, 79 or 81"),
		Initial: "0", Assigned: []string{"opt_arch = 73", "opt_arch = 73", "opt_arch = 81", "opt_arch = strtoul(str_arch, NULL, 0)"}},
	{Name: "GGML_HEXAGON_AR_SELECT", Meaning: "how sums over several devices are made: 2 fused with the addition after it, 1 by DMA alone, 0 by copies and fences",
		Values: "0, 1, 2", Default: "2", check: integer(0, 2),
		Initial: "2", Assigned: []string{"opt_ar_select = str_ar_select ? atoi(str_ar_select) : opt_ar_select"}},
	{Name: "GGML_HEXAGON_DEVICES", Meaning: "sessions to open: a number of them on NPU 0, or a list such as HTP0:0,HTP1:0 (NPU:session) or HTP0[0-1] (rows split over NPUs)",
		Values: "number or list of devices", Default: "HTP0", check: devices},
	{Name: "GGML_HEXAGON_DMA64", Meaning: "0 turns off 64-bit DMA of weights; can not turn it on below v81",
		Values: "0, 1", Default: "1 on v81 and later, else 0", check: integer(0, 1),
		Initial: "false", Assigned: []string{"opt_dma64 = opt_arch > 79 && (!str_dma64 || atoi(str_dma64) != 0)"}},
	{Name: "GGML_HEXAGON_ETM", Meaning: "1 enables the embedded trace macrocell of the DSP",
		Values: "0, 1", Default: "0", check: integer(0, 1),
		Initial: "0", Assigned: []string{"opt_etm = str_etm ? atoi(str_etm) : 0"}},
	{Name: "GGML_HEXAGON_FA_SELECT", Meaning: "highest kernel for flash attention: 2 HMX, 1 HVX, 0 leaves it to the CPU",
		Values: "0, 1, 2", Default: "2", check: integer(0, 2),
		Initial: "2", Assigned: []string{"opt_fa_select = str_fa_select ? atoi(str_fa_select) : opt_fa_select"}},
	{Name: "GGML_HEXAGON_GDN_SELECT", Meaning: "highest kernel for the gated delta net: 2 HMX, 1 HVX, 0 leaves it to the CPU",
		Values: "0, 1, 2", Default: "2", check: integer(0, 2),
		Initial: "2", Assigned: []string{"opt_gdn_select = str_gdn_select ? atoi(str_gdn_select) : opt_gdn_select"}},
	{Name: "GGML_HEXAGON_HOSTBUF", Meaning: "1 offers host buffers, for debugging",
		Values: "0, 1", Default: "0", check: integer(0, 1),
		Initial: "false", Assigned: []string{"opt_hostbuf = str_hostbuf ? atoi(str_hostbuf) != 0 : opt_hostbuf"}},
	{Name: "GGML_HEXAGON_MBUF", Meaning: "size in MiB that one buffer may have",
		Values: "MiB", Default: "1024", check: integer(1, 1<<20),
		Initial: "1ul * 1024 * 1024 * 1024", Assigned: []string{"opt_mbuf = str_mbuf ? strtoul(str_mbuf, NULL, 0) * MiB : opt_mbuf"}},
	{Name: "GGML_HEXAGON_MM_SELECT", Meaning: "highest kernel for matrix products: 2 HMX, 1 HVX, 0 leaves them to the CPU",
		Values: "0, 1, 2", Default: "2", check: integer(0, 2),
		Initial: "2", Assigned: []string{"opt_mm_select = str_mm_select ? atoi(str_mm_select) : opt_mm_select"}},
	{Name: "GGML_HEXAGON_NDEV", Meaning: "number of sessions on NPU 0; not looked at when GGML_HEXAGON_DEVICES is set",
		Values: "1 to 16", Default: "1", Deprecated: "GGML_HEXAGON_DEVICES", check: integer(1, 16)},
	{Name: "GGML_HEXAGON_NHMX", Meaning: "0 leaves the matrix unit off: HVX kernels only",
		Values: "0, 1", Default: "1", check: integer(0, 1),
		Initial: "1", Assigned: []string{"opt_nhmx = str_nhmx ? atoi(str_nhmx) : opt_nhmx"}},
	{Name: "GGML_HEXAGON_NHVX", Meaning: "number of HVX threads, cut to what the DSP has; 0 is all",
		Values: "0 to 16", Default: "0", check: integer(0, 16),
		Initial: "0", Assigned: []string{"opt_nhvx = str_nhvx ? strtoul(str_nhvx, NULL, 0) : opt_nhvx"}},
	{Name: "GGML_HEXAGON_OPBATCH", Meaning: "most operations in one message to the DSP",
		Values: "number", Default: "1280", check: integer(1, 1<<16),
		Initial: "1280", Assigned: []string{"opt_opbatch = str_opbatch ? strtoul(str_opbatch, NULL, 0) : opt_opbatch"}},
	{Name: "GGML_HEXAGON_OPFILTER", Meaning: "operations whose whole name matches are left to the CPU; letter case does not matter",
		Values: "ECMAScript regular expression", Default: "none", check: filter,
		Initial: "NULL", Assigned: []string{"opt_opfilter = str_opfilter ? new std::regex(str_opfilter, RE_ICASE) : NULL"}},
	{Name: "GGML_HEXAGON_OPFUSION", Meaning: "0 fuses nothing, 1 everything, else the sum of: 2 all-reduce and add, 4 norm and multiply, 8 product and add, 16 products of one input, 32 the same of experts, 64 delta net and copy",
		Values: "0, 1, sum of 2 to 64", Default: "1", check: integer(0, 127),
		Initial: "1", Assigned: []string{"opt_opfusion = str_opfusion ? atoi(str_opfusion) : opt_opfusion"}},
	{Name: "GGML_HEXAGON_OPPOLL", Meaning: "1 waits for the DSP's answers by polling, which costs a CPU core and saves the wake-up",
		Values: "0, 1", Default: "0", check: integer(0, 1),
		Initial: "0", Assigned: []string{"opt_oppoll = str_oppoll ? strtoul(str_oppoll, NULL, 0) : opt_oppoll"}},
	{Name: "GGML_HEXAGON_OPQUEUE", Meaning: "most messages on their way to the DSP",
		Values: "number", Default: "32", check: integer(1, 1<<12),
		Initial: "32", Assigned: []string{"opt_opqueue = str_opqueue ? strtoul(str_opqueue, NULL, 0) : opt_opqueue"}},
	{Name: "GGML_HEXAGON_OPTRACE", Meaning: "trace events kept per thread and message, with GGML_HEXAGON_PROFILE=3; later ones are lost",
		Values: "number", Default: "256 times GGML_HEXAGON_OPBATCH", check: integer(1, 1<<24),
		Initial: "0", Assigned: []string{"opt_optrace = str_optrace ? strtoul(str_optrace, NULL, 0) : (opt_opbatch * 256)"}},
	{Name: "GGML_HEXAGON_PROFILE", Meaning: "1 logs time and cycles of each operation, 2 performance counters too (eight event numbers choose them), 3 a trace of every thread",
		Values: "0, 1, 2, 3 or eight event numbers", Default: "0", check: matches(`^([0-3]|(0[xX][0-9a-fA-F]{1,4}|[0-9]{1,5})(,(0[xX][0-9a-fA-F]{1,4}|[0-9]{1,5})){7})$`, "0, 1, 2, 3 or eight event numbers"),
		Initial: "0", Assigned: []string{
			"opt_profile = str_profile ? atoi(str_profile) : 0", "opt_profile = v[0]", "opt_profile = 2", "opt_profile = 0"}},
	{Name: "GGML_HEXAGON_VERBOSE", Meaning: "1 logs each operation, 2 each buffer and tensor too",
		Values: "0, 1, 2", Default: "0", check: integer(0, 2),
		Initial: "0", Assigned: []string{"opt_verbose = str_verbose ? atoi(str_verbose) : 0"}},
	{Name: "GGML_HEXAGON_VMEM", Meaning: "address space in MiB that a session may map at once; 0 measures it",
		Values: "MiB", Default: "3200; 3000 below v75", check: integer(0, 1<<20),
		Initial: "HTP_OP_MAX_VMEM_DEFAULT", Assigned: []string{
			"opt_vmem = ggml_hexagon_measure_max_vmem(this)",
			"opt_vmem = opt_arch >= 75 ? HTP_OP_MAX_VMEM_DEFAULT : 3000 * MiB",
			"opt_vmem = str_vmem ? strtoul(str_vmem, NULL, 0) * MiB : opt_vmem"}},
}

func init() {
	for i := range Table {
		Table[i].Short = strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(Table[i].Name, Prefix)), "_", "-")
	}
}

// Find gives the variable of a name, or of a short name such as mm-select.
func Find(name string) (Variable, bool) {
	for _, v := range Table {
		if v.Name == name || v.Short == name {
			return v, true
		}
	}
	return Variable{}, false
}

// Check tells why a value will not do. The backend itself takes anything: it
// reads what is no number as 0 and says nothing.
func (v Variable) Check(value string) error {
	if err := v.check(value); err != nil {
		return fmt.Errorf("%s=%s: %w", v.Name, value, err)
	}
	return nil
}

// Nearest gives the known name that a wrong one most likely means; empty when
// none is near.
func Nearest(name string) string {
	if len(name) > 64 {
		return ""
	}
	best, distance := "", 4
	for _, v := range Table {
		if d := edits(strings.TrimPrefix(name, Prefix), strings.TrimPrefix(v.Name, Prefix)); d < distance {
			best, distance = v.Name, d
		}
	}
	return best
}

// edits is the optimal string alignment distance of two short names: insert,
// delete, replace, or swap two neighbours.
func edits(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			change := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			rows[i][j] = min(change, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}

func integer(low, high int) func(string) error {
	return func(value string) error {
		n, err := strconv.Atoi(value)
		if err != nil || n < low || n > high || strconv.Itoa(n) != value {
			return fmt.Errorf("want a whole number from %d to %d", low, high)
		}
		return nil
	}
}

func matches(pattern, what string) func(string) error {
	compiled := regexp.MustCompile(pattern)
	return func(value string) error {
		if !compiled.MatchString(value) {
			return fmt.Errorf("want %s", what)
		}
		return nil
	}
}

var deviceItem = regexp.MustCompile(`^HTP[0-9]{1,2}(:[0-9]{1,2})?(\[[0-9]{1,2}([-,][0-9]{1,2}){0,15}(:[0-9]{1,2})?\])?$`)

// devices checks a list whose commas separate devices outside brackets.
func devices(value string) error {
	if integer(1, 16)(value) == nil {
		return nil
	}
	depth, items := 0, []string{""}
	for _, r := range value {
		switch {
		case r == '[':
			depth++
		case r == ']':
			depth--
		case r == ',' && depth == 0:
			items = append(items, "")
			continue
		}
		items[len(items)-1] += string(r)
	}
	if len(items) > 16 || slices.ContainsFunc(items, func(item string) bool { return !deviceItem.MatchString(item) }) {
		return fmt.Errorf("want a number from 1 to 16, or devices such as HTP0:0,HTP1:0 or HTP0[0-1]")
	}
	return nil
}

func filter(value string) error {
	if value == "" {
		return fmt.Errorf("want a regular expression such as ADD|SUB")
	}
	if _, err := regexp.Compile(value); err != nil {
		return fmt.Errorf("no regular expression: %w", err)
	}
	return nil
}
