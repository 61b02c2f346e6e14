// Command hexagon-clang is the compiler of the simulated Hexagon SDK. By the name it is called by it is the C compiler,
// the C++ compiler (hexagon-clang++), or the archiver (hexagon-ar).
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"hexab/internal/hexclang"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, filepath.Base(os.Args[0]), os.Args[1:]); err != nil {
		if !errors.Is(err, hexclang.ErrFailed) {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(1)
	}
}

func run(ctx context.Context, name string, args []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	config, err := hexclang.LoadConfig(filepath.Dir(self))
	if err != nil {
		return err
	}
	d := &hexclang.Driver{Config: config, Stdout: os.Stdout, Stderr: os.Stderr}
	if name == "hexagon-ar" {
		return d.Archive(ctx, args)
	}
	return d.Run(ctx, args, name == "hexagon-clang++")
}
