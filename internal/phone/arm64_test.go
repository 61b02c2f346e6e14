package phone

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestArm64 runs a program for arm64 on a phone whose processor is another,
// by the interpreter that the phone names.
func TestArm64(t *testing.T) {
	for _, tool := range []string{"aarch64-linux-gnu-g++", "qemu-aarch64"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	r := newRig(t)
	p := startPhone(t, "arm64")
	if err := r.server.Connect(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	source, program := filepath.Join(dir, "hello.cpp"), filepath.Join(dir, "hello")
	const text = "#include <iostream>\n#ifndef __aarch64__\n#error other machine\n#endif\nint main(int n, char **v) { std::cout << \"arm64 \" << v[n - 1] << std::endl; return 7; }\n"
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "aarch64-linux-gnu-g++", "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	serial := p.Serial()
	if out, err := r.server.Command(t.Context(), "-s", serial, "push", program, "/data/local/tmp/hello").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	out, err := r.server.Command(t.Context(), "-s", serial, "shell",
		"getprop ro.product.cpu.abi; cd /data/local/tmp && LD_LIBRARY_PATH=/data/local/tmp $(getprop ro.hexab.interpreter) ./hello there; echo $?").Output()
	if err != nil || strings.TrimSpace(string(out)) != "arm64-v8a\narm64 there\n7" {
		t.Errorf("%q, %v", out, err)
	}
}
