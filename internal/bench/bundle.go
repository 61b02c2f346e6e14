package bench

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"sort"
	"strings"
)

// Variant names one build of the backend under test: it differs from another
// variant only in its backend plug-ins and DSP libraries.
type Variant string

// The variants that hexab builds itself.
const (
	CPU      Variant = "cpu"
	DSPQueue Variant = "dspqueue"
	FastRPC  Variant = "fastrpc"
)

// Platform is what a bundle is built for.
type Platform string

// The platforms that hexab builds for.
const (
	// Sim is this machine, with a simulated NPU.
	Sim          Platform = "sim"
	LinuxArm64   Platform = "linux-arm64"
	AndroidArm64 Platform = "android-arm64"
)

// BundleID is the lower-case hex SHA-256 of a bundle's canonical manifest.
type BundleID string

// Short is the id's first twelve digits, for people.
func (id BundleID) Short() string {
	if len(id) > 12 {
		return string(id[:12])
	}
	return string(id)
}

// File is one file of a bundle.
type File struct {
	// Path is slash-separated, relative to the bundle's folder.
	Path string `json:"path"`
	// SHA256 is the content's lower-case hex SHA-256.
	SHA256 string `json:"sha256"`
	// Size is the content's length in bytes.
	Size Bytes `json:"size"`
	// Executable tells whether the file is a program.
	Executable bool `json:"executable,omitempty"`
}

// Bundle is the manifest of one variant built for one platform: what it was
// made from and every file that it consists of.
type Bundle struct {
	Variant  Variant  `json:"variant"`
	Platform Platform `json:"platform"`
	// Source is the git tree hash of the llama.cpp sources, or
	// "local:<hash>" for a tree of the user's own that is not a clean checkout.
	Source string `json:"source"`
	// Compiler is the compiler's own version line.
	Compiler string `json:"compiler"`
	// Flags are the CMake definitions that the build was configured with,
	// sorted, without paths of this machine.
	Flags []string `json:"flags"`
	// SDK names the Hexagon SDK of the DSP libraries; empty without one.
	SDK string `json:"sdk,omitempty"`
	// Files are sorted by path.
	Files []File `json:"files"`
}

// ID is the SHA-256 of the canonical manifest: the JSON of the bundle with
// files and flags sorted.
func (b Bundle) ID() (BundleID, error) {
	b.Files = append([]File(nil), b.Files...)
	sort.Slice(b.Files, func(i, j int) bool { return b.Files[i].Path < b.Files[j].Path })
	b.Flags = append([]string(nil), b.Flags...)
	sort.Strings(b.Flags)
	canonical, err := json.Marshal(b)
	if err != nil {
		return "", fmt.Errorf("bundle manifest: %w", err)
	}
	sum := sha256.Sum256(canonical)
	return BundleID(hex.EncodeToString(sum[:])), nil
}

// Check reports the first entry that can not be trusted: a path out of the
// bundle's folder, a repeated path, a malformed hash or a negative size.
func (b Bundle) Check() error {
	seen := make(map[string]bool, len(b.Files))
	for _, f := range b.Files {
		switch {
		case f.Path == "" || path.IsAbs(f.Path) || path.Clean(f.Path) != f.Path || f.Path == "." || strings.HasPrefix(f.Path, "../") || f.Path == "..":
			return fmt.Errorf("bundle manifest: %q is not a path inside the bundle", f.Path)
		case seen[f.Path]:
			return fmt.Errorf("bundle manifest: %q is listed twice", f.Path)
		case !IsSHA256(f.SHA256):
			return fmt.Errorf("bundle manifest: %s: %q is not a SHA-256", f.Path, f.SHA256)
		case f.Size < 0:
			return fmt.Errorf("bundle manifest: %s: size %d", f.Path, f.Size)
		}
		seen[f.Path] = true
	}
	return nil
}

// Size is the sum of the files' sizes.
func (b Bundle) Size() Bytes {
	var sum Bytes
	for _, f := range b.Files {
		sum += f.Size
	}
	return sum
}

// IsSHA256 tells whether s is a lower-case hex SHA-256.
func IsSHA256(s string) bool {
	if len(s) != 2*sha256.Size || strings.ToLower(s) != s {
		return false
	}
	_, err := hex.DecodeString(s)
	return err == nil
}
