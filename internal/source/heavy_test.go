package source

import (
	"os"
	"os/exec"
	"testing"
)

// release is the pinned release as models.yaml has it.
var release = Pin{
	Tag: "v0.5.0", Tree: "fd570ef54b10ec5fecb739e7e04c8ce44a6f415a",
	GitURL:     "https://github.com/ggml-org/llama.cpp",
	NPMPackage: "node-llama-cpp", NPMVersion: "3.22.1",
	NPMIntegrity: "sha512-bltIipuWmc123H7tMIgDGKSsSrhmhlQYeVUC48XTjVW7XGJJiJJyCdlTMzQ/LiWoPkGDpcL4FviDpgw7qfTiDw==",
	BundlePath:   "llama/gitRelease.bundle",
	BundleSHA256: "5f5d1105d5df040738d87b8290e5d17e7362131cdcfdb0831618e0ea528b4a51",
}

// TestReleaseFromNPM gets the real release by the npm client.
func TestReleaseFromNPM(t *testing.T) {
	if os.Getenv("HEXAB_HEAVY") != "1" {
		t.Skip("downloads 36 MB; set HEXAB_HEAVY=1")
	}
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("npm is not installed")
	}
	pin := release
	pin.GitURL = ""
	opt := Options{Cache: t.TempDir(), Note: func(l string) { t.Log(l) }}
	tree, err := Get(t.Context(), pin, opt)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := HashTree(tree.Dir, nil); err != nil || got != pin.Tree {
		t.Fatalf("tree %s, %v", got, err)
	}
	again, err := Get(t.Context(), pin, opt)
	if err != nil || again.Origin != "cache" {
		t.Fatalf("second call: %+v, %v", again, err)
	}
}
