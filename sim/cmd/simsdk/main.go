// Command simsdk lays out the simulated Hexagon SDK and prints the two variables that a build of llama.cpp reads:
//
//	eval "$(go run ./sim/cmd/simsdk)"
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"

	"hexab/internal/simsdk"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	repository := flag.String("repository", ".", "folder of hexab's go.mod")
	vectors := flag.String("hvx", "", "folder of the HVX headers (default: the repository's sim/npu/hvx)")
	flag.Parse()
	cache := os.Getenv("HEXAB_CACHE")
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return err
		}
		cache = filepath.Join(user, "hexab")
	}
	abs, err := filepath.Abs(*repository)
	if err != nil {
		return err
	}
	sdk, err := simsdk.Materialise(ctx, filepath.Join(cache, "simsdk"), simsdk.Options{Repository: abs, Vectors: *vectors})
	if err != nil {
		return err
	}
	for _, e := range sdk.Env() {
		fmt.Printf("export %s\n", e)
	}
	return nil
}
