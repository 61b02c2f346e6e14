// The table is the architecture: do not change it to make a build pass.
package layers

import (
	"encoding/json"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// allowed lists for each package the packages of this module that it may
// import, test files left out.
var allowed = map[string]string{
	// L0: nouns and numbers.
	"bench": "", "stat": "", "gguf": "", "idl": "", "hexclang": "", "csource": "",
	// L1: pure; no I/O beyond what is handed in.
	"plan":       "bench",
	"arm":        "bench knobs",
	"knobs":      "csource",
	"macros":     "csource",
	"lint":       "csource",
	"inspect":    "",
	"tiles":      "gguf",
	"opprofile":  "stat",
	"llamabench": "bench",
	"diagnose":   "bench llamabench",
	"findings":   "backendops hexclang",
	"counters":   "",
	"models":     "",
	"standin":    "gguf",
	"calibrate":  "stat",
	"compare":    "bench stat arm",
	"gate":       "bench stat compare",
	"artifact":   "bench arm",
	"history":    "bench compare",
	"backendops": "",
	"across":     "bench stat compare",
	"report":     "bench stat compare gate backendops across",
	// L2: the machine and the device.
	"proc":   "",
	"shell":  "",
	"ssh":    "bench proc shell",
	"fetch":  "",
	"host":   "proc",
	"source": "proc fetch",
	"build":  "bench proc source",
	"adb":    "bench proc shell",
	"phone":  "proc",
	"device": "bench shell adb ssh",
	"deploy": "bench device",
	"store":  "bench",
	"github": "",
	"simsdk": "hexclang",
	// L3: joins them.
	"harness": "across bench stat plan arm llamabench diagnose models standin calibrate compare report " +
		"gate github artifact history " +
		"backendops counters findings " +
		"knobs macros lint inspect tiles opprofile " +
		"proc fetch host source build adb ssh phone device deploy store simsdk",
}

func TestImports(t *testing.T) {
	command := exec.Command("go", "list", "-json=ImportPath,Imports", "hexab/internal/...")
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := decoder.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		name, _, nested := strings.Cut(strings.TrimPrefix(p.ImportPath, "hexab/internal/"), "/")
		list, known := allowed[name]
		if !known && name != "layers" && name != "simtest" {
			t.Errorf("%s stands in no layer", p.ImportPath)
		}
		for _, imported := range p.Imports {
			inner, ours := strings.CutPrefix(imported, "hexab/internal/")
			base, _, _ := strings.Cut(inner, "/")
			if ours && base != name && !slices.Contains(strings.Fields(list), base) {
				t.Errorf("%s must not import %s", p.ImportPath, imported)
			}
		}
		if !nested {
			seen++
		}
	}
	if seen < len(allowed) {
		t.Errorf("%d packages seen of %d in the table", seen, len(allowed))
	}
}
