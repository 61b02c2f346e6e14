package main

import (
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"qaic": main})
}

func TestScripts(t *testing.T) {
	incs, err := filepath.Abs(filepath.Join("..", "..", "sdk", "incs"))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:   "testdata",
		Setup: func(e *testscript.Env) error { e.Setenv("INCS", incs); return nil },
	})
}
