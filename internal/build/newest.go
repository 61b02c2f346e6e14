package build

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"hexab/internal/bench"
)

// Newest gives the manifests of the bundles that were built last in a cache,
// one for each variant and platform. What can not be read there is left out.
func Newest(cache string) ([]bench.Bundle, error) {
	names, err := filepath.Glob(filepath.Join(cache, "bundles", "*.json"))
	if err != nil {
		return nil, err
	}
	type kind struct {
		variant  bench.Variant
		platform bench.Platform
	}
	type dated struct {
		bundle bench.Bundle
		when   int64
	}
	newest := map[kind]dated{}
	for _, name := range names {
		info, statErr := os.Stat(name)
		text, readErr := os.ReadFile(name)
		var b bench.Bundle
		if errors.Join(statErr, readErr) != nil || json.Unmarshal(text, &b) != nil || b.Check() != nil {
			continue
		}
		k, when := kind{b.Variant, b.Platform}, info.ModTime().UnixNano()
		if before, ok := newest[k]; !ok || when > before.when {
			newest[k] = dated{b, when}
		}
	}
	var list []bench.Bundle
	for _, d := range newest {
		list = append(list, d.bundle)
	}
	return list, nil
}
