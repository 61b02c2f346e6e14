package hexclang

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestArm64 compiles every assembly form for arm64 machines.
func TestArm64(t *testing.T) {
	clang, err := exec.LookPath("clang-19")
	if err != nil {
		t.Skip("clang-19 is not installed")
	}
	text, err := os.ReadFile("testdata/forms.i")
	if err != nil {
		t.Fatal(err)
	}
	// The source before it was preprocessed: without the line markers.
	var src []byte
	for _, line := range bytes.SplitAfter(text, []byte("\n")) {
		if !bytes.HasPrefix(line, []byte("#")) && !bytes.Contains(line, []byte("cpuid")) {
			src = append(src, line...)
		}
	}
	dir := t.TempDir()
	name, object := filepath.Join(dir, "forms.c"), filepath.Join(dir, "forms.o")
	if err := os.WriteFile(name, src, 0o644); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	d := &Driver{Config: &Config{Clang: clang, TargetFlags: []string{"--target=aarch64-linux-gnu"}}, Stdout: &out, Stderr: &out}
	if err := d.Run(t.Context(), []string{"-mv79", "-mhvx", "-O2", "-Wall", "-fpic", "-c", name, "-o", object}, false); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	if out.Len() > 0 {
		t.Errorf("messages:\n%s", &out)
	}
	f, err := elf.Open(object)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Machine != elf.EM_AARCH64 {
		t.Errorf("object for %v", f.Machine)
	}
}

// TestSameBytesElsewhere: where sources lie and where they are compiled is no
// part of an object whose folder is mapped.
func TestSameBytesElsewhere(t *testing.T) {
	clang, err := exec.LookPath("clang-19")
	if err != nil {
		t.Skip("clang-19 is not installed")
	}
	var objects [2][]byte
	for i := range objects {
		dir := t.TempDir()
		t.Chdir(t.TempDir())
		if err := os.WriteFile(filepath.Join(dir, "name.c"), []byte("const char * name(void) { return __FILE__; }\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		d := &Driver{Config: &Config{Clang: clang}, Stdout: os.Stderr, Stderr: os.Stderr}
		args := []string{"-mv79", "-O2", "-ffile-prefix-map=" + dir + "=htp", "-c", filepath.Join(dir, "name.c"), "-o", "name.o"}
		if err := d.Run(t.Context(), args, false); err != nil {
			t.Fatal(err)
		}
		if objects[i], err = os.ReadFile("name.o"); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(objects[0], objects[1]) || !bytes.Contains(objects[0], []byte("htp/name.c")) {
		t.Error("the objects differ, or do not name their source")
	}
}
