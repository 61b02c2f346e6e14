package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"hexab/internal/proc"
)

// Local identifies a llama.cpp tree of the user's own, which is used as it is.
// In a git checkout the tracked files and the untracked ones that are not
// ignored count; elsewhere all files do.
func Local(ctx context.Context, dir string, opt Options) (Tree, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Tree{}, err
	}
	for _, needed := range []string{"CMakeLists.txt", "ggml/CMakeLists.txt", "tools/llama-bench/llama-bench.cpp"} {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(needed))); err != nil {
			return Tree{}, fmt.Errorf("LLAMA_CPP_DIR %s is not a llama.cpp tree: %w", dir, err)
		}
	}
	tree := Tree{Dir: dir, Local: true, Dirty: true, Origin: "LLAMA_CPP_DIR " + dir}
	var names []string
	head := ""
	// A folder above that happens to be a repository does not count.
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
		listed, err := gitOutput(ctx, opt, dir, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
		if err != nil {
			return Tree{}, fmt.Errorf("LLAMA_CPP_DIR: %w", err)
		}
		for name := range bytes.SplitSeq(bytes.TrimSuffix(listed, []byte{0}), []byte{0}) {
			names = append(names, string(name))
		}
		out, err := gitOutput(ctx, opt, dir, "rev-parse", "--verify", "--quiet", "HEAD^{tree}")
		var failed *proc.Error
		if err != nil && !errors.As(err, &failed) { // no commit yet is no error
			return Tree{}, err
		}
		head = strings.TrimSpace(string(out))
	}
	if tree.Hash, err = HashTree(dir, names); err != nil {
		return Tree{}, fmt.Errorf("LLAMA_CPP_DIR: %w", err)
	}
	tree.Dirty = tree.Hash != head
	return tree, nil
}

func gitOutput(ctx context.Context, opt Options, dir string, args ...string) ([]byte, error) {
	var out bytes.Buffer
	// The folder may belong to another user (a shared checkout); only its
	// file list is read and no hook or filter of it is run.
	args = append([]string{"-c", "safe.directory=" + dir, "-c", "core.fsmonitor=false"}, args...)
	_, err := proc.Run(ctx, proc.Command{Path: opt.git(), Args: args, Dir: dir, Env: gitEnv(), Stdout: &out})
	return out.Bytes(), err
}
