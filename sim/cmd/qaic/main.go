// Command qaic compiles FastRPC interface definitions into C. It takes the vendor's place in a simulated Hexagon SDK,
// where hexagon_fun.cmake calls it:
//
//	qaic [-mdll] [-I folder]... [-o folder] file.idl
package main

import (
	"fmt"
	"os"
	"strings"

	"hexab/internal/idl"
)

const usage = "usage: qaic [-mdll] [-I folder]... [-o folder] file.idl"

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	var file string
	var dirs []string
	out := "."
	for len(args) > 0 {
		a := args[0]
		args = args[1:]
		// -I and -o take their value in the same word or in the next.
		value := func() (string, error) {
			if len(a) > 2 {
				return a[2:], nil
			}
			if len(args) == 0 {
				return "", fmt.Errorf("qaic: %s needs a value\n%s", a, usage)
			}
			v := args[0]
			args = args[1:]
			return v, nil
		}
		switch {
		case a == "-mdll": // stub and skel for libraries: all that there is
		case a == "-h" || a == "--help":
			fmt.Println(usage)
			return nil
		case strings.HasPrefix(a, "-I"):
			v, err := value()
			if err != nil {
				return err
			}
			dirs = append(dirs, v)
		case strings.HasPrefix(a, "-o"):
			v, err := value()
			if err != nil {
				return err
			}
			out = v
		case strings.HasPrefix(a, "-"):
			return fmt.Errorf("qaic: unknown option %s\n%s", a, usage)
		case file != "":
			return fmt.Errorf("qaic: one file at a time, has %s and %s\n%s", file, a, usage)
		default:
			file = a
		}
	}
	if file == "" {
		return fmt.Errorf("qaic: no file\n%s", usage)
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	return idl.Compile(file, dirs, out)
}
