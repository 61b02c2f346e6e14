//go:build ignore
// +build ignore

package main

import (
	_context "context"
	_flag "flag"
	_fmt "fmt"
	_io "io"
	_log "log"
	_os "os"
	_signal "os/signal"
	_filepath "path/filepath"
	_sort "sort"
	_strconv "strconv"
	_strings "strings"
	_syscall "syscall"
	_tabwriter "text/tabwriter"
	_time "time"
	
)

func main() {
	// Use local types and functions in order to avoid name conflicts with additional magefiles.
	type arguments struct {
		Verbose       bool          // print out log statements
		List          bool          // print out a list of targets
		Help          bool          // print out help for a specific target
		Timeout       _time.Duration // set a timeout to running the targets
		Args          []string      // args contain the non-flag command-line arguments
	}

	parseBool := func(env string) bool {
		val := _os.Getenv(env)
		if val == "" {
			return false
		}		
		b, err := _strconv.ParseBool(val)
		if err != nil {
			_log.Printf("warning: environment variable %s is not a valid bool value: %v", env, val)
			return false
		}
		return b
	}

	parseDuration := func(env string) _time.Duration {
		val := _os.Getenv(env)
		if val == "" {
			return 0
		}		
		d, err := _time.ParseDuration(val)
		if err != nil {
			_log.Printf("warning: environment variable %s is not a valid duration value: %v", env, val)
			return 0
		}
		return d
	}
	args := arguments{}
	fs := _flag.FlagSet{}
	fs.SetOutput(_os.Stdout)

	// default flag set with ExitOnError and auto generated PrintDefaults should be sufficient
	fs.BoolVar(&args.Verbose, "v", parseBool("MAGEFILE_VERBOSE"), "show verbose output when running targets")
	fs.BoolVar(&args.List, "l", parseBool("MAGEFILE_LIST"), "list targets for this binary")
	fs.BoolVar(&args.Help, "h", parseBool("MAGEFILE_HELP"), "print out help for a specific target")
	fs.DurationVar(&args.Timeout, "t", parseDuration("MAGEFILE_TIMEOUT"), "timeout in duration parsable format (e.g. 5m30s)")
	fs.Usage = func() {
		_fmt.Fprintf(_os.Stdout, `
%s [options] [target]

Commands:
  -l    list targets in this binary
  -h    show this help

Options:
  -h    show description of a target
  -t <string>
        timeout in duration parsable format (e.g. 5m30s)
  -v    show verbose output when running targets
 `[1:], _filepath.Base(_os.Args[0]))
	}
	if err := fs.Parse(_os.Args[1:]); err != nil {
		// flag will have printed out an error already.
		return
	}
	args.Args = fs.Args()
	if args.Help && len(args.Args) == 0 {
		fs.Usage()
		return
	}
		
	var printName = func(str string) string {
	// color is ANSI color type
	type color int

	// If you add/change/remove any items in this constant,
	// you will need to run "stringer -type=color" in this directory again.
	// NOTE: Please keep the list in an alphabetical order.
	const (
		black color = iota
		red
		green
		yellow
		blue
		magenta
		cyan
		white
		brightblack
		brightred
		brightgreen
		brightyellow
		brightblue
		brightmagenta
		brightcyan
		brightwhite
	)

	// AnsiColor are ANSI color codes for supported terminal colors.
	var ansiColor = map[color]string{
		black:         "\u001b[30m",
		red:           "\u001b[31m",
		green:         "\u001b[32m",
		yellow:        "\u001b[33m",
		blue:          "\u001b[34m",
		magenta:       "\u001b[35m",
		cyan:          "\u001b[36m",
		white:         "\u001b[37m",
		brightblack:   "\u001b[30;1m",
		brightred:     "\u001b[31;1m",
		brightgreen:   "\u001b[32;1m",
		brightyellow:  "\u001b[33;1m",
		brightblue:    "\u001b[34;1m",
		brightmagenta: "\u001b[35;1m",
		brightcyan:    "\u001b[36;1m",
		brightwhite:   "\u001b[37;1m",
	}

	const colorName = "blackredgreenyellowbluemagentacyanwhitebrightblackbrightredbrightgreenbrightyellowbrightbluebrightmagentabrightcyanbrightwhite"

	var colorIndex = [...]uint8{0, 5, 8, 13, 19, 23, 30, 34, 39, 50, 59, 70, 82, 92, 105, 115, 126}

	colorToLowerString := func(i color) string {
		if i < 0 || i >= color(len(colorIndex)-1) {
			return "color(" + _strconv.FormatInt(int64(i), 10) + ")"
		}
		return colorName[colorIndex[i]:colorIndex[i+1]]
	}

	// ansiColorReset is an ANSI color code to reset the terminal color.
	const ansiColorReset = "\033[0m"

	// defaultTargetAnsiColor is a default ANSI color for colorizing targets.
	// It is set to Cyan as an arbitrary color, because it has a neutral meaning
	var defaultTargetAnsiColor = ansiColor[cyan]

	getAnsiColor := func(color string) (string, bool) {
		colorLower := _strings.ToLower(color)
		for k, v := range ansiColor {
			colorConstLower := colorToLowerString(k)
			if colorConstLower == colorLower {
				return v, true
			}
		}
		return "", false
	}

	// Terminals which  don't support color:
	//
	//	TERM=vt100
	//	TERM=cygwin
	//	TERM=xterm-mono
	var noColorTerms = map[string]bool{
		"vt100":      false,
		"cygwin":     false,
		"xterm-mono": false,
	}

	// terminalSupportsColor checks if the current console supports color output
	//
	// Supported:
	//
	//	linux, mac, or windows's ConEmu, Cmder, putty, git-bash.exe, pwsh.exe
	//
	// Not supported:
	//
	//	windows cmd.exe, powerShell.exe
	terminalSupportsColor := func() bool {
		envTerm := _os.Getenv("TERM")
		if _, ok := noColorTerms[envTerm]; ok {
			return false
		}
		return true
	}

	// enableColor reports whether the user has requested to enable a color output.
	enableColor := func() bool {
		b, _ := _strconv.ParseBool(_os.Getenv("MAGEFILE_ENABLE_COLOR"))
		return b
	}

	// targetColor returns the ANSI color which should be used to colorize targets.
	targetColor := func() string {
		s, exists := _os.LookupEnv("MAGEFILE_TARGET_COLOR")
		if exists {
			if c, ok := getAnsiColor(s); ok {
				return c
			}
		}
		return defaultTargetAnsiColor
	}

	// store the color terminal variables, so that the detection isn't repeated for each target
	var enableColorValue = enableColor() && terminalSupportsColor()
	var targetColorValue = targetColor()

	if enableColorValue {
		return _fmt.Sprintf("%s%s%s", targetColorValue, str, ansiColorReset)
	}

	return str
}


	list := func() error {
		_fmt.Println(`The targets of hexab: one sentence and a few lines each. The work is done in internal/harness.
`)
		targets := map[string]string{
			"abtest": "compares arms on models (-arms=cpu,cpu:threads=1 -models=llama3 -rounds=6; see README.md).",
			"abtestAll": "compares the default arms on all eight models in ROUNDS rounds.",
			"alignMacros": "finds ragged multi-line macros (-mode=check, diff or fix; -path= of sources; -column=min, max or majority).",
			"build": "builds the FastRPC variant with its DSP libraries.",
			"buildCPU": "builds the CPU variant (-platform=linux-arm64; sim is this machine).",
			"buildDspqueue": "builds the official Hexagon backend with its DSP libraries.",
			"ciGate": "ends with status 3 when a run's artifacts fail a gate (-in=DIR -gate=tg:-2%).",
			"ciReport": "tells a pull request what a run's artifacts say (-in=DIR -gate= -dryRun; see docs/ci.md).",
			"ciRun": "compares the base and the head commit in one run (-base= -head= -repo= -arms= -models= -gate=; see docs/ci.md).",
			"ciSetup": "installs what this machine lacks, without asking.",
			"calibrate": "simulates drifting devices and shows how often each procedure errs.",
			"check": "runs vet, staticcheck, the format check and the unit tests.",
			"clean": "removes builds and the embedded phone's files; models and results stay.",
			"compare": "sets the archived runs A and B side by side; B may be published figures (fastrpc-fork).",
			"costs": "counts what arms ask of the simulated NPU, by prompt and by token (-arms= -models= -prompt= -depth=).",
			"devices": "lists what a run can take place on.",
			"doctor": "tells what this machine has and lacks.",
			"fetch": "gets llama.cpp, the models and the SDKs, or verifies them (-only=models|sdks|llama.cpp -from=DIR -offline -acceptLicences).",
			"inspect": "examines a DSP library (-skel=PATH or v73 to v81; -func= -disasm= -against= -addr= -strict -workers= -all; see README.md).",
			"knobs": "lists the environment variables of the Hexagon backend, checked against the llama.cpp tree in use.",
			"lint": "holds the backend's sources against its developer guide (-path=, -baseline=FILE of known findings, -all shows those too).",
			"llamaBench": "runs llama-bench once on the device (-model= -arm= -device=).",
			"llamaCLI": "completes a short prompt on the device (-model= -arm= -device=).",
			"llamaVersion": "shows the version of the programs on the device (-arm= -device=).",
			"models": "lists the eight models with size, family, licence and state.",
			"perfOp": "measures the operation OP on the device (-params=REGEX -arm= -device=).",
			"phone": "starts the embedded phone (-profile=hot) and shows how to connect to it.",
			"profile": "shows what operations took in profiled launches (-log=FILES -against=FILES -trace=FILE for Perfetto -simulated).",
			"report": "renders the archived run RUN again (-format=terminal|markdown|csv|json|html).",
			"test": "runs all tests, the heavy ones with real builds and real launches too.",
			"testOp": "tests the operation OP, such as MUL_MAT (-params=REGEX -arm= -device= -check=).",
			"testOps": "tests every operation on the device against the CPU reference (-arm= -device= -check=).",
			"tiles:show": "draws a format's layout (-svg=FILE draws it as a picture too).",
			"updateCPULibs": "builds the CPU variant and sends the device what it lacks.",
			"updateDspqueueLibs": "builds the dspqueue variant and sends the device what it lacks.",
			"updateFastrpcLibs": "builds the FastRPC variant and sends the device what it lacks.",
		}

		keys := make([]string, 0, len(targets))
		for name := range targets {
			keys = append(keys, name)
		}
		_sort.Strings(keys)

		_fmt.Println("Targets:")
		w := _tabwriter.NewWriter(_os.Stdout, 0, 4, 4, ' ', 0)
		for _, name := range keys {
			_fmt.Fprintf(w, "  %v\t%v\n", printName(name), targets[name])
		}
		err := w.Flush()
		return err
	}

	var ctx _context.Context
	ctxCancel := func(){}

	// by deferring in a closure, we let the cancel function get replaced
	// by the getContext function.
	defer func() {
		ctxCancel()
	}()

	getContext := func() (_context.Context, func()) {
		if ctx == nil {
			if args.Timeout != 0 {
				ctx, ctxCancel = _context.WithTimeout(_context.Background(), args.Timeout)
			} else {
				ctx, ctxCancel = _context.WithCancel(_context.Background())
			}
		}

		return ctx, ctxCancel
	}

	runTarget := func(logger *_log.Logger, fn func(_context.Context) error) interface{} {
		var err interface{}
		ctx, cancel := getContext()
		d := make(chan interface{})
		go func() {
			defer func() {
				err := recover()
				d <- err
			}()
			err := fn(ctx)
			d <- err
		}()
		sigCh := make(chan _os.Signal, 1)
		_signal.Notify(sigCh, _syscall.SIGINT)
		select {
		case <-sigCh:
			logger.Println("cancelling mage targets, waiting up to 5 seconds for cleanup...")
			cancel()
			cleanupCh := _time.After(5 * _time.Second)

			select {
			// target exited by itself
			case err = <-d:
				return err
			// cleanup timeout exceeded
			case <-cleanupCh:
				return _fmt.Errorf("cleanup timeout exceeded")
			// second SIGINT received
			case <-sigCh:
				logger.Println("exiting mage")
				return _fmt.Errorf("exit forced")
			}
		case <-ctx.Done():
			cancel()
			e := ctx.Err()
			_fmt.Printf("ctx err: %v\n", e)
			return e
		case err = <-d:
			// we intentionally don't cancel the context here, because
			// the next target will need to run with the same _context.
			return err
		}
	}
	// This is necessary in case there aren't any targets, to avoid an unused
	// variable error.
	_ = runTarget

	handleError := func(logger *_log.Logger, err interface{}) {
		if err != nil {
			logger.Printf("Error: %+v\n", err)
			type code interface {
				ExitStatus() int
			}
			if c, ok := err.(code); ok {
				_os.Exit(c.ExitStatus())
			}
			_os.Exit(1)
		}
	}
	_ = handleError

	// Set MAGEFILE_VERBOSE so mg.Verbose() reflects the flag value.
	if args.Verbose {
		_os.Setenv("MAGEFILE_VERBOSE", "1")
	} else {
		_os.Setenv("MAGEFILE_VERBOSE", "0")
	}

	_log.SetFlags(0)
	if !args.Verbose {
		_log.SetOutput(_io.Discard)
	}
	logger := _log.New(_os.Stderr, "", 0)
	if args.List {
		if err := list(); err != nil {
			_log.Println(err)
			_os.Exit(1)
		}
		return
	}

	if args.Help {
		if len(args.Args) < 1 {
			logger.Println("no target specified")
			_os.Exit(2)
		}
		switch _strings.ToLower(args.Args[0]) {
			case "abtest":
				_fmt.Println("Abtest compares arms on models (-arms=cpu,cpu:threads=1 -models=llama3 -rounds=6; see README.md).")
				_fmt.Println()
				
				_fmt.Print("Usage:\n\n\tmage abtest [<flags>]\n\n")
				_fmt.Print("Flags:\n\n\t-arms=<string>\n\t-sweep=<string>\n\t-models=<string>\n\t-tests=<string>\n\t-seed=<string>\n\t-device=<string>\n\t-threshold=<string>\n\t-out=<string>\n\t-resume=<string>\n\t-baseline=<string>\n\t-gate=<string>\n\t-base=<string>\n\t-head=<string>\n\t-repo=<string>\n\t-progress=<string>\n\t-cool=<string>\n\t-ceiling=<string>\n\t-busy=<string>\n\t-fixed=<string>\n\t-until=<string>\n\t-root=<string>\n\t-rounds=<int>\n\t-maxRounds=<int>\n\t-standIns=<bool>\n\n")
				var aliases []string
				if len(aliases) > 0 {
					_sort.Strings(aliases)
					_fmt.Printf("Aliases: %s\n\n", _strings.Join(aliases, ", "))
				}
				return
			case "abtestall":
				_fmt.Println("AbtestAll compares the default arms on all eight models in ROUNDS rounds.")
				_fmt.Println()
				
				_fmt.Print("Usage:\n\n\tmage abtestall <rounds>\n\n")
				var aliases []string
				if len(aliases) > 0 {
					_sort.Strings(aliases)
					_fmt.Printf("Aliases: %s\n\n", _strings.Join(aliases, ", "))
				}
				return
			case "alignmacros":
				_fmt.Println("AlignMacros finds ragged multi-line macros (-mode=check, diff or fix; -path= of sources; -column=min, max or majority).")
				_fmt.Println()
				
				_fmt.Print("Usage:\n\n\tmage alignmacros [<flags>]\n\n")
				_fmt.Print("Flags:\n\n\t-mode=<string>\n\t-path=<string>\n\t-column=<string>\n\n")
				var aliases []string
				if len(aliases) > 0 {
					_sort.Strings(aliases)
					_fmt.Printf("Aliases: %s\n\n", _strings.Join(aliases, ", "))
				}
				return
			case "build":
				_fmt.Println("Build builds the FastRPC variant with its DSP libraries.")
				_fmt.Println()
				
				_fmt.Print("Usage:\n\n\tmage build [-platform=<string>]\n\n")
				var aliases []string
				if len(aliases) > 0 {
					_sort.Strings(aliases)
					_fmt.Printf("Aliases: %s\n\n", _strings.Join(aliases, ", "))
				}
				return
			case "buildcpu":
				_fmt.Println("BuildCPU builds the CPU variant (-platform=linux-arm64; sim is this machine).")
				_fmt.Println()
				
				_fmt.Print("Usage:\n\n\tmage buildcpu [-platform=<string>]\n\n")
				var aliases []string
				if len(aliases) > 0 {
					_sort.Strings(aliases)
					_fmt.Printf("Aliases: %s\n\n", _strings.Join(aliases, ", "))
				}
				return
			case "builddspqueue":
				_fmt.Println("BuildDspqueue builds the official Hexagon backend with its DSP libraries.")
				_fmt.Println()
				
				_fmt.Print("Usage:\n\n\tmage builddspqueue [-platform=<string>]\n\n")
				var aliases []string
				if len(aliases) > 0 {
					_sort.Strings(aliases)
					_fmt.Printf("Aliases: %s\n\n", _strings.Join(aliases, ", "))
				}
				return
			case "cigate":
				_fmt.Println("CIGate ends with status 3 when a run's artifacts fail a gate (-in=DIR -gate=tg:-2%).")
				_fmt.Println()
				
				_fmt.Print("Usage:\n\n\tmage cigate [<flags>]\n\n")
				_fmt.Print("Flags:\n\n\t-in=<string>\n\t-gate=<string>\n\n")
				var aliases []string
				if len(aliases) > 0 {
					_sort.Strings(aliases)
					_fmt.Printf("Aliases: %s\n\n", _strings.Join(aliases, ", "))
				}
				return
			case "cireport":
				_fmt.Println("CIReport tells a pull request what a run's artifacts say (-in=DIR -gate= -dryRun; see docs/ci.md).")
				_fmt.Println()
				
				_fmt.Print("Usage:\n\n\tmage cireport [<flags>]\n\n")
				_fmt.Print("Flags:\n\n\t-in=<string>\n\t-event=<string>\n\t-repository=<string>\n\t-api=<string>\n\t-author=<string>\n\t-gate=<string>\n\t-dryRun=<bool>\n\n")
				var aliases []string
				if len(aliases) > 0 {
					_sort.Strings(aliases)
					_fmt.Printf("Aliases: %s\n\n", _strings.Join(aliases, ", "))
				}
				return
			case "cirun":
				_fmt.Println("CIRun compares the base and the head commit in one run (-base= -head= -repo= -arms= -models= -gate=; see docs/ci.md).")
				_fmt.Println()
				
				_fmt.Print("Usage:\n\n\tmage cirun [<flags>]\n\n")
				_fmt.Print("Flags:\n\n\t-arms=<string>\n\t-models=<string>\n\t-tests=<string>\n\t-seed=<string>\n\t-device=<string>\n\t-threshold=<string>\n\t-out=<string>\n\t-gate=<string>\n\t-base=<string>\n\t-head=<string>\n\t-repo=<string>\n\t-artifacts=<string>\n\t-rounds=<int>\n\n")
				var aliases []string
				if len(aliases) > 0 {
					_sort.Strings(aliases)
					_fmt.Printf("Aliases: %s\n\n", _strings.Join(aliases, ", "))
				}
				return
			case "cisetup":
				_fmt.Println("CISetup installs what this machine lacks, without asking.")
				_fmt.Println()
				
				_fmt.Print("Usage:\n\n\tmage cisetup\n\n")
				var aliases []string
				if len(aliases) > 0 {
					_sort.Strings(aliases)
					_fmt.Printf("Aliases: %s\n\n", _strings.Join(aliases, ", "))
				}
				return
			case "calibrate":
				_fmt.Println("Calibrate simulates drifting devices and shows how often each procedure errs.")
				_fmt.Println()
				
				_fmt.Print("Usage:\n\n\tmage calibrate\n\n")
				var aliases []string
				if len(aliases) > 0 {
					_sort.Strings(aliases)
					_fmt.Printf("Aliases: %s\n\n", _strings.Join(aliases, ", "))
				}
				return
			case "check":
				_fmt.Println("Check runs vet, staticcheck, the format check and the unit tests.")
				_fmt.Println()
				
				_fmt.Print("Usage:\n\n\tmage check\n\n")
				var aliases []string
				if len(aliases) > 0 {
					_sort.Strings(aliases)
					_fmt.Printf("Aliases: %s\n\n", _strings.Join(aliases, ", "))
				}
				return
			case "clean":
				_fmt.Println("Clean removes builds and the embedded phone's files; models and results stay.")
				_fmt.Println()
				
				_fmt.Print("Usage:\n\n\tmage clean\n\n")
				var aliases []string
				if len(aliases) > 0 {
					_sort.Strings(aliases)
					_fmt.Printf("Aliases: %s\n\n", _strings.Join(aliases, ", "))
				}
				return
			case "compare":
				_fmt.Println("Compare sets the archived runs A and B side by side; B may be published figures (fastrpc-fork).")
				_fmt.Println()
				
				_fmt.Print("Usage:\n\n\tmage compare <a> <b>\n\n")
				var aliases []string
				if len(aliases) > 0 {
					_sort.Strings(aliases)
					_fmt.Printf("Aliases: %s\n\n", _strings.Join(aliases, ", "))
				}
				return
			case "costs":
				_fmt.Println("Costs counts what arms ask of the simulated NPU, by prompt and by token (-arms= -models= -prompt= -depth=).")
				_fmt.Println()
				
				_fmt.Print("Usage:\n\n\tmage costs [<flags>]\n\n")
				_fmt.Print("Flags:\n\n\t-arms=<string>\n\t-models=<string>\n\t-prompt=<int>\n\t-depth=<int>\n\n")
				var aliases []string
				if len(aliases) > 0 {
					_sort.Strings(aliases)
					_fmt.Printf("Aliases: %s\n\n", _strings.Join(aliases, ", "))
				}
				return
			case "devices":
				_fmt.Println("Devices lists what a run can take place on.")
				_fmt.Println()
				
				_fmt.Print("Usage:\n\n\tmage devices\n\n")
				var aliases []string
				if len(aliases) > 0 {
					_sort.Strings(aliases)
					_fmt.Printf("Aliases: %s\n\n", _strings.Join(aliases, ", "))
				}
				return
			case "doctor":
				_fmt.Println("Doctor tells what this machine has and lacks.")
				_fmt.Println()
				
				_fmt.Print("Usage:\n\n\tmage doctor\n\n")
				var aliases []string
				if len(aliases) > 0 {
					_sort.Strings(aliases)
					_fmt.Printf("Aliases: %s\n\n", _strings.Join(aliases, ", "))
				}
				return
			case "fetch":
				_fmt.Println("Fetch gets llama.cpp, the models and the SDKs, or verifies them (-only=models|sdks|llama.cpp -from=DIR -offline -acceptLicences).")
				_fmt.Println()
				
				_fmt.Print("Usage:\n\n\tmage fetch [<flags>]\n\n")
				_fmt.Print("Flags:\n\n\t-only=<string>\n\t-from=<string>\n\t-offline=<bool>\n\t-acceptLicences=<bool>\n\n")
				var aliases []string
				if len(aliases) > 0 {
					_sort.Strings(aliases)
					_fmt.Printf("Aliases: %s\n\n", _strings.Join(aliases, ", "))
				}
				return
			case "inspect":
				_fmt.Println("Inspect examines a DSP library (-skel=PATH or v73 to v81; -func= -disasm= -against= -addr= -strict -workers= -all; see README.md).")
				_fmt.Println()
				
				_fmt.Print("Usage:\n\n\tmage inspect [<flags>]\n\n")
				_fmt.Print("Flags:\n\n\t-skel=<string>\n\t-function=<string>\n\t-disasm=<string>\n\t-against=<string>\n\t-addr=<string>\n\t-workers=<string>\n\t-strict=<bool>\n\t-all=<bool>\n\n")
				var aliases []string
				if len(aliases) > 0 {
					_sort.Strings(aliases)
					_fmt.Printf("Aliases: %s\n\n", _strings.Join(aliases, ", "))
				}
				return
			case "knobs":
				_fmt.Println("Knobs lists the environment variables of the Hexagon backend, checked against the llama.cpp tree in use.")
				_fmt.Println()
				
				_fmt.Print("Usage:\n\n\tmage knobs\n\n")
				var aliases []string
				if len(aliases) > 0 {
					_sort.Strings(aliases)
					_fmt.Printf("Aliases: %s\n\n", _strings.Join(aliases, ", "))
				}
				return
			case "lint":
				_fmt.Println("Lint holds the backend's sources against its developer guide (-path=, -baseline=FILE of known findings, -all shows those too).")
				_fmt.Println()
				
				_fmt.Print("Usage:\n\n\tmage lint [<flags>]\n\n")
				_fmt.Print("Flags:\n\n\t-path=<string>\n\t-baseline=<string>\n\t-all=<bool>\n\n")
				var aliases []string
				if len(aliases) > 0 {
					_sort.Strings(aliases)
					_fmt.Printf("Aliases: %s\n\n", _strings.Join(aliases, ", "))
				}
				return
			case "llamabench":
				_fmt.Println("LlamaBench runs llama-bench once on the device (-model= -arm= -device=).")
				_fmt.Println()
				
				_fmt.Print("Usage:\n\n\tmage llamabench [<flags>]\n\n")
				_fmt.Print("Flags:\n\n\t-model=<string>\n\t-arm=<string>\n\t-device=<string>\n\n")
				var aliases []string
				if len(aliases) > 0 {
					_sort.Strings(aliases)
					_fmt.Printf("Aliases: %s\n\n", _strings.Join(aliases, ", "))
				}
				return
			case "llamacli":
				_fmt.Println("LlamaCLI completes a short prompt on the device (-model= -arm= -device=).")
				_fmt.Println()
				
				_fmt.Print("Usage:\n\n\tmage llamacli [<flags>]\n\n")
				_fmt.Print("Flags:\n\n\t-model=<string>\n\t-arm=<string>\n\t-device=<string>\n\n")
				var aliases []string
				if len(aliases) > 0 {
					_sort.Strings(aliases)
					_fmt.Printf("Aliases: %s\n\n", _strings.Join(aliases, ", "))
				}
				return
			case "llamaversion":
				_fmt.Println("LlamaVersion shows the version of the programs on the device (-arm= -device=).")
				_fmt.Println()
				
				_fmt.Print("Usage:\n\n\tmage llamaversion [<flags>]\n\n")
				_fmt.Print("Flags:\n\n\t-arm=<string>\n\t-device=<string>\n\n")
				var aliases []string
				if len(aliases) > 0 {
					_sort.Strings(aliases)
					_fmt.Printf("Aliases: %s\n\n", _strings.Join(aliases, ", "))
				}
				return
			case "models":
				_fmt.Println("Models lists the eight models with size, family, licence and state.")
				_fmt.Println()
				
				_fmt.Print("Usage:\n\n\tmage models\n\n")
				var aliases []string
				if len(aliases) > 0 {
					_sort.Strings(aliases)
					_fmt.Printf("Aliases: %s\n\n", _strings.Join(aliases, ", "))
				}
				return
			case "perfop":
				_fmt.Println("PerfOp measures the operation OP on the device (-params=REGEX -arm= -device=).")
				_fmt.Println()
				
				_fmt.Print("Usage:\n\n\tmage perfop <op> [<flags>]\n\n")
				_fmt.Print("Flags:\n\n\t-params=<string>\n\t-arm=<string>\n\t-device=<string>\n\n")
				var aliases []string
				if len(aliases) > 0 {
					_sort.Strings(aliases)
					_fmt.Printf("Aliases: %s\n\n", _strings.Join(aliases, ", "))
				}
				return
			case "phone":
				_fmt.Println("Phone starts the embedded phone (-profile=hot) and shows how to connect to it.")
				_fmt.Println()
				
				_fmt.Print("Usage:\n\n\tmage phone [-profile=<string>]\n\n")
				var aliases []string
				if len(aliases) > 0 {
					_sort.Strings(aliases)
					_fmt.Printf("Aliases: %s\n\n", _strings.Join(aliases, ", "))
				}
				return
			case "profile":
				_fmt.Println("Profile shows what operations took in profiled launches (-log=FILES -against=FILES -trace=FILE for Perfetto -simulated).")
				_fmt.Println()
				
				_fmt.Print("Usage:\n\n\tmage profile [<flags>]\n\n")
				_fmt.Print("Flags:\n\n\t-log=<string>\n\t-against=<string>\n\t-trace=<string>\n\t-simulated=<bool>\n\n")
				var aliases []string
				if len(aliases) > 0 {
					_sort.Strings(aliases)
					_fmt.Printf("Aliases: %s\n\n", _strings.Join(aliases, ", "))
				}
				return
			case "report":
				_fmt.Println("Report renders the archived run RUN again (-format=terminal|markdown|csv|json|html).")
				_fmt.Println()
				
				_fmt.Print("Usage:\n\n\tmage report <run> [-format=<string>]\n\n")
				var aliases []string
				if len(aliases) > 0 {
					_sort.Strings(aliases)
					_fmt.Printf("Aliases: %s\n\n", _strings.Join(aliases, ", "))
				}
				return
			case "test":
				_fmt.Println("Test runs all tests, the heavy ones with real builds and real launches too.")
				_fmt.Println()
				
				_fmt.Print("Usage:\n\n\tmage test\n\n")
				var aliases []string
				if len(aliases) > 0 {
					_sort.Strings(aliases)
					_fmt.Printf("Aliases: %s\n\n", _strings.Join(aliases, ", "))
				}
				return
			case "testop":
				_fmt.Println("TestOp tests the operation OP, such as MUL_MAT (-params=REGEX -arm= -device= -check=).")
				_fmt.Println()
				
				_fmt.Print("Usage:\n\n\tmage testop <op> [<flags>]\n\n")
				_fmt.Print("Flags:\n\n\t-params=<string>\n\t-arm=<string>\n\t-device=<string>\n\t-check=<string>\n\n")
				var aliases []string
				if len(aliases) > 0 {
					_sort.Strings(aliases)
					_fmt.Printf("Aliases: %s\n\n", _strings.Join(aliases, ", "))
				}
				return
			case "testops":
				_fmt.Println("TestOps tests every operation on the device against the CPU reference (-arm= -device= -check=).")
				_fmt.Println()
				
				_fmt.Print("Usage:\n\n\tmage testops [<flags>]\n\n")
				_fmt.Print("Flags:\n\n\t-arm=<string>\n\t-device=<string>\n\t-check=<string>\n\n")
				var aliases []string
				if len(aliases) > 0 {
					_sort.Strings(aliases)
					_fmt.Printf("Aliases: %s\n\n", _strings.Join(aliases, ", "))
				}
				return
			case "tiles:show":
				_fmt.Println("Show draws a format's layout (-svg=FILE draws it as a picture too).")
				_fmt.Println()
				
				_fmt.Print("Usage:\n\n\tmage tiles:show <format> [-svg=<string>]\n\n")
				var aliases []string
				if len(aliases) > 0 {
					_sort.Strings(aliases)
					_fmt.Printf("Aliases: %s\n\n", _strings.Join(aliases, ", "))
				}
				return
			case "updatecpulibs":
				_fmt.Println("UpdateCPULibs builds the CPU variant and sends the device what it lacks.")
				_fmt.Println()
				
				_fmt.Print("Usage:\n\n\tmage updatecpulibs [-device=<string>]\n\n")
				var aliases []string
				if len(aliases) > 0 {
					_sort.Strings(aliases)
					_fmt.Printf("Aliases: %s\n\n", _strings.Join(aliases, ", "))
				}
				return
			case "updatedspqueuelibs":
				_fmt.Println("UpdateDspqueueLibs builds the dspqueue variant and sends the device what it lacks.")
				_fmt.Println()
				
				_fmt.Print("Usage:\n\n\tmage updatedspqueuelibs [-device=<string>]\n\n")
				var aliases []string
				if len(aliases) > 0 {
					_sort.Strings(aliases)
					_fmt.Printf("Aliases: %s\n\n", _strings.Join(aliases, ", "))
				}
				return
			case "updatefastrpclibs":
				_fmt.Println("UpdateFastrpcLibs builds the FastRPC variant and sends the device what it lacks.")
				_fmt.Println()
				
				_fmt.Print("Usage:\n\n\tmage updatefastrpclibs [-device=<string>]\n\n")
				var aliases []string
				if len(aliases) > 0 {
					_sort.Strings(aliases)
					_fmt.Printf("Aliases: %s\n\n", _strings.Join(aliases, ", "))
				}
				return
			default:
				logger.Printf("Unknown target: %q\n", args.Args[0])
				_os.Exit(2)
		}
	}
	if len(args.Args) < 1 {
		if err := list(); err != nil {
			logger.Println("Error:", err)
			_os.Exit(1)
		}
		return
	}
	for x := 0; x < len(args.Args); {
		target := args.Args[x]
		x++

		// resolve aliases
		switch _strings.ToLower(target) {
		
		}

		switch _strings.ToLower(target) {
		
			case "abtest":
				expected := x + 0
				if expected > len(args.Args) {
					// note that expected and args at this point include the arg for the target itself
					// so we subtract 1 here to show the number of args without the target.
					logger.Printf("not enough arguments for target \"Abtest\", expected %v, got %v\n", expected-1, len(args.Args)-1)
					_os.Exit(2)
				}
				if args.Verbose {
					logger.Println("Running target:", "Abtest")
				}
				
				var arg0 *string
				var arg1 *string
				var arg2 *string
				var arg3 *string
				var arg4 *string
				var arg5 *string
				var arg6 *string
				var arg7 *string
				var arg8 *string
				var arg9 *string
				var arg10 *string
				var arg11 *string
				var arg12 *string
				var arg13 *string
				var arg14 *string
				var arg15 *string
				var arg16 *string
				var arg17 *string
				var arg18 *string
				var arg19 *string
				var arg20 *string
				var arg21 *int
				var arg22 *int
				var arg23 *bool
				for x < len(args.Args) && _strings.HasPrefix(args.Args[x], "-") {
					_optArg := args.Args[x]
					_eqIdx := _strings.Index(_optArg, "=")
					var _optName, _optVal string
					if _eqIdx < 0 {
						_optName = _strings.ToLower(_optArg[1:])
						switch _optName {
						case "standins":
							_optVal = "true"
						default:
							logger.Printf("invalid option %q for target \"Abtest\", expected -name=value format\n", _optArg)
							_os.Exit(2)
						}
					} else {
						_optName = _strings.ToLower(_optArg[1:_eqIdx])
						_optVal = _optArg[_eqIdx+1:]
					}
					switch _optName {
					case "arms":
						_tmp0 := _optVal
						arg0 = &_tmp0
					case "sweep":
						_tmp1 := _optVal
						arg1 = &_tmp1
					case "models":
						_tmp2 := _optVal
						arg2 = &_tmp2
					case "tests":
						_tmp3 := _optVal
						arg3 = &_tmp3
					case "seed":
						_tmp4 := _optVal
						arg4 = &_tmp4
					case "device":
						_tmp5 := _optVal
						arg5 = &_tmp5
					case "threshold":
						_tmp6 := _optVal
						arg6 = &_tmp6
					case "out":
						_tmp7 := _optVal
						arg7 = &_tmp7
					case "resume":
						_tmp8 := _optVal
						arg8 = &_tmp8
					case "baseline":
						_tmp9 := _optVal
						arg9 = &_tmp9
					case "gate":
						_tmp10 := _optVal
						arg10 = &_tmp10
					case "base":
						_tmp11 := _optVal
						arg11 = &_tmp11
					case "head":
						_tmp12 := _optVal
						arg12 = &_tmp12
					case "repo":
						_tmp13 := _optVal
						arg13 = &_tmp13
					case "progress":
						_tmp14 := _optVal
						arg14 = &_tmp14
					case "cool":
						_tmp15 := _optVal
						arg15 = &_tmp15
					case "ceiling":
						_tmp16 := _optVal
						arg16 = &_tmp16
					case "busy":
						_tmp17 := _optVal
						arg17 = &_tmp17
					case "fixed":
						_tmp18 := _optVal
						arg18 = &_tmp18
					case "until":
						_tmp19 := _optVal
						arg19 = &_tmp19
					case "root":
						_tmp20 := _optVal
						arg20 = &_tmp20
					case "rounds":
						_tmp21, err := _strconv.Atoi(_optVal)
						if err != nil {
							logger.Printf("can't convert option %q value %q to int\n", _optName, _optVal)
							_os.Exit(2)
						}
						arg21 = &_tmp21
					case "maxrounds":
						_tmp22, err := _strconv.Atoi(_optVal)
						if err != nil {
							logger.Printf("can't convert option %q value %q to int\n", _optName, _optVal)
							_os.Exit(2)
						}
						arg22 = &_tmp22
					case "standins":
						_tmp23, err := _strconv.ParseBool(_optVal)
						if err != nil {
							logger.Printf("can't convert option %q value %q to bool\n", _optName, _optVal)
							_os.Exit(2)
						}
						arg23 = &_tmp23
					default:
						logger.Printf("unknown option %q for target \"Abtest\"\n", _optName)
						_os.Exit(2)
					}
					x++
				}
				wrapFn := func(ctx _context.Context) error {
					return Abtest(ctx, arg0, arg1, arg2, arg3, arg4, arg5, arg6, arg7, arg8, arg9, arg10, arg11, arg12, arg13, arg14, arg15, arg16, arg17, arg18, arg19, arg20, arg21, arg22, arg23)
				}
				ret := runTarget(logger, wrapFn)
				handleError(logger, ret)
			case "abtestall":
				expected := x + 1
				if expected > len(args.Args) {
					// note that expected and args at this point include the arg for the target itself
					// so we subtract 1 here to show the number of args without the target.
					logger.Printf("not enough arguments for target \"AbtestAll\", expected %v, got %v\n", expected-1, len(args.Args)-1)
					_os.Exit(2)
				}
				if args.Verbose {
					logger.Println("Running target:", "AbtestAll")
				}
				
				arg0, err := _strconv.Atoi(args.Args[x])
				if err != nil {
					logger.Printf("can't convert argument %q to int\n", args.Args[x])
					_os.Exit(2)
				}
				x++
				wrapFn := func(ctx _context.Context) error {
					return AbtestAll(ctx, arg0)
				}
				ret := runTarget(logger, wrapFn)
				handleError(logger, ret)
			case "alignmacros":
				expected := x + 0
				if expected > len(args.Args) {
					// note that expected and args at this point include the arg for the target itself
					// so we subtract 1 here to show the number of args without the target.
					logger.Printf("not enough arguments for target \"AlignMacros\", expected %v, got %v\n", expected-1, len(args.Args)-1)
					_os.Exit(2)
				}
				if args.Verbose {
					logger.Println("Running target:", "AlignMacros")
				}
				
				var arg0 *string
				var arg1 *string
				var arg2 *string
				for x < len(args.Args) && _strings.HasPrefix(args.Args[x], "-") {
					_optArg := args.Args[x]
					_eqIdx := _strings.Index(_optArg, "=")
					var _optName, _optVal string
					if _eqIdx < 0 {
						_optName = _strings.ToLower(_optArg[1:])
						switch _optName {
						default:
							logger.Printf("invalid option %q for target \"AlignMacros\", expected -name=value format\n", _optArg)
							_os.Exit(2)
						}
					} else {
						_optName = _strings.ToLower(_optArg[1:_eqIdx])
						_optVal = _optArg[_eqIdx+1:]
					}
					switch _optName {
					case "mode":
						_tmp0 := _optVal
						arg0 = &_tmp0
					case "path":
						_tmp1 := _optVal
						arg1 = &_tmp1
					case "column":
						_tmp2 := _optVal
						arg2 = &_tmp2
					default:
						logger.Printf("unknown option %q for target \"AlignMacros\"\n", _optName)
						_os.Exit(2)
					}
					x++
				}
				wrapFn := func(ctx _context.Context) error {
					return AlignMacros(ctx, arg0, arg1, arg2)
				}
				ret := runTarget(logger, wrapFn)
				handleError(logger, ret)
			case "build":
				expected := x + 0
				if expected > len(args.Args) {
					// note that expected and args at this point include the arg for the target itself
					// so we subtract 1 here to show the number of args without the target.
					logger.Printf("not enough arguments for target \"Build\", expected %v, got %v\n", expected-1, len(args.Args)-1)
					_os.Exit(2)
				}
				if args.Verbose {
					logger.Println("Running target:", "Build")
				}
				
				var arg0 *string
				for x < len(args.Args) && _strings.HasPrefix(args.Args[x], "-") {
					_optArg := args.Args[x]
					_eqIdx := _strings.Index(_optArg, "=")
					var _optName, _optVal string
					if _eqIdx < 0 {
						_optName = _strings.ToLower(_optArg[1:])
						switch _optName {
						default:
							logger.Printf("invalid option %q for target \"Build\", expected -name=value format\n", _optArg)
							_os.Exit(2)
						}
					} else {
						_optName = _strings.ToLower(_optArg[1:_eqIdx])
						_optVal = _optArg[_eqIdx+1:]
					}
					switch _optName {
					case "platform":
						_tmp0 := _optVal
						arg0 = &_tmp0
					default:
						logger.Printf("unknown option %q for target \"Build\"\n", _optName)
						_os.Exit(2)
					}
					x++
				}
				wrapFn := func(ctx _context.Context) error {
					return Build(ctx, arg0)
				}
				ret := runTarget(logger, wrapFn)
				handleError(logger, ret)
			case "buildcpu":
				expected := x + 0
				if expected > len(args.Args) {
					// note that expected and args at this point include the arg for the target itself
					// so we subtract 1 here to show the number of args without the target.
					logger.Printf("not enough arguments for target \"BuildCPU\", expected %v, got %v\n", expected-1, len(args.Args)-1)
					_os.Exit(2)
				}
				if args.Verbose {
					logger.Println("Running target:", "BuildCPU")
				}
				
				var arg0 *string
				for x < len(args.Args) && _strings.HasPrefix(args.Args[x], "-") {
					_optArg := args.Args[x]
					_eqIdx := _strings.Index(_optArg, "=")
					var _optName, _optVal string
					if _eqIdx < 0 {
						_optName = _strings.ToLower(_optArg[1:])
						switch _optName {
						default:
							logger.Printf("invalid option %q for target \"BuildCPU\", expected -name=value format\n", _optArg)
							_os.Exit(2)
						}
					} else {
						_optName = _strings.ToLower(_optArg[1:_eqIdx])
						_optVal = _optArg[_eqIdx+1:]
					}
					switch _optName {
					case "platform":
						_tmp0 := _optVal
						arg0 = &_tmp0
					default:
						logger.Printf("unknown option %q for target \"BuildCPU\"\n", _optName)
						_os.Exit(2)
					}
					x++
				}
				wrapFn := func(ctx _context.Context) error {
					return BuildCPU(ctx, arg0)
				}
				ret := runTarget(logger, wrapFn)
				handleError(logger, ret)
			case "builddspqueue":
				expected := x + 0
				if expected > len(args.Args) {
					// note that expected and args at this point include the arg for the target itself
					// so we subtract 1 here to show the number of args without the target.
					logger.Printf("not enough arguments for target \"BuildDspqueue\", expected %v, got %v\n", expected-1, len(args.Args)-1)
					_os.Exit(2)
				}
				if args.Verbose {
					logger.Println("Running target:", "BuildDspqueue")
				}
				
				var arg0 *string
				for x < len(args.Args) && _strings.HasPrefix(args.Args[x], "-") {
					_optArg := args.Args[x]
					_eqIdx := _strings.Index(_optArg, "=")
					var _optName, _optVal string
					if _eqIdx < 0 {
						_optName = _strings.ToLower(_optArg[1:])
						switch _optName {
						default:
							logger.Printf("invalid option %q for target \"BuildDspqueue\", expected -name=value format\n", _optArg)
							_os.Exit(2)
						}
					} else {
						_optName = _strings.ToLower(_optArg[1:_eqIdx])
						_optVal = _optArg[_eqIdx+1:]
					}
					switch _optName {
					case "platform":
						_tmp0 := _optVal
						arg0 = &_tmp0
					default:
						logger.Printf("unknown option %q for target \"BuildDspqueue\"\n", _optName)
						_os.Exit(2)
					}
					x++
				}
				wrapFn := func(ctx _context.Context) error {
					return BuildDspqueue(ctx, arg0)
				}
				ret := runTarget(logger, wrapFn)
				handleError(logger, ret)
			case "cigate":
				expected := x + 0
				if expected > len(args.Args) {
					// note that expected and args at this point include the arg for the target itself
					// so we subtract 1 here to show the number of args without the target.
					logger.Printf("not enough arguments for target \"CIGate\", expected %v, got %v\n", expected-1, len(args.Args)-1)
					_os.Exit(2)
				}
				if args.Verbose {
					logger.Println("Running target:", "CIGate")
				}
				
				var arg0 *string
				var arg1 *string
				for x < len(args.Args) && _strings.HasPrefix(args.Args[x], "-") {
					_optArg := args.Args[x]
					_eqIdx := _strings.Index(_optArg, "=")
					var _optName, _optVal string
					if _eqIdx < 0 {
						_optName = _strings.ToLower(_optArg[1:])
						switch _optName {
						default:
							logger.Printf("invalid option %q for target \"CIGate\", expected -name=value format\n", _optArg)
							_os.Exit(2)
						}
					} else {
						_optName = _strings.ToLower(_optArg[1:_eqIdx])
						_optVal = _optArg[_eqIdx+1:]
					}
					switch _optName {
					case "in":
						_tmp0 := _optVal
						arg0 = &_tmp0
					case "gate":
						_tmp1 := _optVal
						arg1 = &_tmp1
					default:
						logger.Printf("unknown option %q for target \"CIGate\"\n", _optName)
						_os.Exit(2)
					}
					x++
				}
				wrapFn := func(ctx _context.Context) error {
					return CIGate(arg0, arg1)
				}
				ret := runTarget(logger, wrapFn)
				handleError(logger, ret)
			case "cireport":
				expected := x + 0
				if expected > len(args.Args) {
					// note that expected and args at this point include the arg for the target itself
					// so we subtract 1 here to show the number of args without the target.
					logger.Printf("not enough arguments for target \"CIReport\", expected %v, got %v\n", expected-1, len(args.Args)-1)
					_os.Exit(2)
				}
				if args.Verbose {
					logger.Println("Running target:", "CIReport")
				}
				
				var arg0 *string
				var arg1 *string
				var arg2 *string
				var arg3 *string
				var arg4 *string
				var arg5 *string
				var arg6 *bool
				for x < len(args.Args) && _strings.HasPrefix(args.Args[x], "-") {
					_optArg := args.Args[x]
					_eqIdx := _strings.Index(_optArg, "=")
					var _optName, _optVal string
					if _eqIdx < 0 {
						_optName = _strings.ToLower(_optArg[1:])
						switch _optName {
						case "dryrun":
							_optVal = "true"
						default:
							logger.Printf("invalid option %q for target \"CIReport\", expected -name=value format\n", _optArg)
							_os.Exit(2)
						}
					} else {
						_optName = _strings.ToLower(_optArg[1:_eqIdx])
						_optVal = _optArg[_eqIdx+1:]
					}
					switch _optName {
					case "in":
						_tmp0 := _optVal
						arg0 = &_tmp0
					case "event":
						_tmp1 := _optVal
						arg1 = &_tmp1
					case "repository":
						_tmp2 := _optVal
						arg2 = &_tmp2
					case "api":
						_tmp3 := _optVal
						arg3 = &_tmp3
					case "author":
						_tmp4 := _optVal
						arg4 = &_tmp4
					case "gate":
						_tmp5 := _optVal
						arg5 = &_tmp5
					case "dryrun":
						_tmp6, err := _strconv.ParseBool(_optVal)
						if err != nil {
							logger.Printf("can't convert option %q value %q to bool\n", _optName, _optVal)
							_os.Exit(2)
						}
						arg6 = &_tmp6
					default:
						logger.Printf("unknown option %q for target \"CIReport\"\n", _optName)
						_os.Exit(2)
					}
					x++
				}
				wrapFn := func(ctx _context.Context) error {
					return CIReport(ctx, arg0, arg1, arg2, arg3, arg4, arg5, arg6)
				}
				ret := runTarget(logger, wrapFn)
				handleError(logger, ret)
			case "cirun":
				expected := x + 0
				if expected > len(args.Args) {
					// note that expected and args at this point include the arg for the target itself
					// so we subtract 1 here to show the number of args without the target.
					logger.Printf("not enough arguments for target \"CIRun\", expected %v, got %v\n", expected-1, len(args.Args)-1)
					_os.Exit(2)
				}
				if args.Verbose {
					logger.Println("Running target:", "CIRun")
				}
				
				var arg0 *string
				var arg1 *string
				var arg2 *string
				var arg3 *string
				var arg4 *string
				var arg5 *string
				var arg6 *string
				var arg7 *string
				var arg8 *string
				var arg9 *string
				var arg10 *string
				var arg11 *string
				var arg12 *int
				for x < len(args.Args) && _strings.HasPrefix(args.Args[x], "-") {
					_optArg := args.Args[x]
					_eqIdx := _strings.Index(_optArg, "=")
					var _optName, _optVal string
					if _eqIdx < 0 {
						_optName = _strings.ToLower(_optArg[1:])
						switch _optName {
						default:
							logger.Printf("invalid option %q for target \"CIRun\", expected -name=value format\n", _optArg)
							_os.Exit(2)
						}
					} else {
						_optName = _strings.ToLower(_optArg[1:_eqIdx])
						_optVal = _optArg[_eqIdx+1:]
					}
					switch _optName {
					case "arms":
						_tmp0 := _optVal
						arg0 = &_tmp0
					case "models":
						_tmp1 := _optVal
						arg1 = &_tmp1
					case "tests":
						_tmp2 := _optVal
						arg2 = &_tmp2
					case "seed":
						_tmp3 := _optVal
						arg3 = &_tmp3
					case "device":
						_tmp4 := _optVal
						arg4 = &_tmp4
					case "threshold":
						_tmp5 := _optVal
						arg5 = &_tmp5
					case "out":
						_tmp6 := _optVal
						arg6 = &_tmp6
					case "gate":
						_tmp7 := _optVal
						arg7 = &_tmp7
					case "base":
						_tmp8 := _optVal
						arg8 = &_tmp8
					case "head":
						_tmp9 := _optVal
						arg9 = &_tmp9
					case "repo":
						_tmp10 := _optVal
						arg10 = &_tmp10
					case "artifacts":
						_tmp11 := _optVal
						arg11 = &_tmp11
					case "rounds":
						_tmp12, err := _strconv.Atoi(_optVal)
						if err != nil {
							logger.Printf("can't convert option %q value %q to int\n", _optName, _optVal)
							_os.Exit(2)
						}
						arg12 = &_tmp12
					default:
						logger.Printf("unknown option %q for target \"CIRun\"\n", _optName)
						_os.Exit(2)
					}
					x++
				}
				wrapFn := func(ctx _context.Context) error {
					return CIRun(ctx, arg0, arg1, arg2, arg3, arg4, arg5, arg6, arg7, arg8, arg9, arg10, arg11, arg12)
				}
				ret := runTarget(logger, wrapFn)
				handleError(logger, ret)
			case "cisetup":
				expected := x + 0
				if expected > len(args.Args) {
					// note that expected and args at this point include the arg for the target itself
					// so we subtract 1 here to show the number of args without the target.
					logger.Printf("not enough arguments for target \"CISetup\", expected %v, got %v\n", expected-1, len(args.Args)-1)
					_os.Exit(2)
				}
				if args.Verbose {
					logger.Println("Running target:", "CISetup")
				}
				
				wrapFn := func(ctx _context.Context) error {
					return CISetup(ctx)
				}
				ret := runTarget(logger, wrapFn)
				handleError(logger, ret)
			case "calibrate":
				expected := x + 0
				if expected > len(args.Args) {
					// note that expected and args at this point include the arg for the target itself
					// so we subtract 1 here to show the number of args without the target.
					logger.Printf("not enough arguments for target \"Calibrate\", expected %v, got %v\n", expected-1, len(args.Args)-1)
					_os.Exit(2)
				}
				if args.Verbose {
					logger.Println("Running target:", "Calibrate")
				}
				
				wrapFn := func(ctx _context.Context) error {
					return Calibrate(ctx)
				}
				ret := runTarget(logger, wrapFn)
				handleError(logger, ret)
			case "check":
				expected := x + 0
				if expected > len(args.Args) {
					// note that expected and args at this point include the arg for the target itself
					// so we subtract 1 here to show the number of args without the target.
					logger.Printf("not enough arguments for target \"Check\", expected %v, got %v\n", expected-1, len(args.Args)-1)
					_os.Exit(2)
				}
				if args.Verbose {
					logger.Println("Running target:", "Check")
				}
				
				wrapFn := func(ctx _context.Context) error {
					return Check(ctx)
				}
				ret := runTarget(logger, wrapFn)
				handleError(logger, ret)
			case "clean":
				expected := x + 0
				if expected > len(args.Args) {
					// note that expected and args at this point include the arg for the target itself
					// so we subtract 1 here to show the number of args without the target.
					logger.Printf("not enough arguments for target \"Clean\", expected %v, got %v\n", expected-1, len(args.Args)-1)
					_os.Exit(2)
				}
				if args.Verbose {
					logger.Println("Running target:", "Clean")
				}
				
				wrapFn := func(ctx _context.Context) error {
					return Clean()
				}
				ret := runTarget(logger, wrapFn)
				handleError(logger, ret)
			case "compare":
				expected := x + 2
				if expected > len(args.Args) {
					// note that expected and args at this point include the arg for the target itself
					// so we subtract 1 here to show the number of args without the target.
					logger.Printf("not enough arguments for target \"Compare\", expected %v, got %v\n", expected-1, len(args.Args)-1)
					_os.Exit(2)
				}
				if args.Verbose {
					logger.Println("Running target:", "Compare")
				}
				
			arg0 := args.Args[x]
			x++
			arg1 := args.Args[x]
			x++
				wrapFn := func(ctx _context.Context) error {
					return Compare(arg0, arg1)
				}
				ret := runTarget(logger, wrapFn)
				handleError(logger, ret)
			case "costs":
				expected := x + 0
				if expected > len(args.Args) {
					// note that expected and args at this point include the arg for the target itself
					// so we subtract 1 here to show the number of args without the target.
					logger.Printf("not enough arguments for target \"Costs\", expected %v, got %v\n", expected-1, len(args.Args)-1)
					_os.Exit(2)
				}
				if args.Verbose {
					logger.Println("Running target:", "Costs")
				}
				
				var arg0 *string
				var arg1 *string
				var arg2 *int
				var arg3 *int
				for x < len(args.Args) && _strings.HasPrefix(args.Args[x], "-") {
					_optArg := args.Args[x]
					_eqIdx := _strings.Index(_optArg, "=")
					var _optName, _optVal string
					if _eqIdx < 0 {
						_optName = _strings.ToLower(_optArg[1:])
						switch _optName {
						default:
							logger.Printf("invalid option %q for target \"Costs\", expected -name=value format\n", _optArg)
							_os.Exit(2)
						}
					} else {
						_optName = _strings.ToLower(_optArg[1:_eqIdx])
						_optVal = _optArg[_eqIdx+1:]
					}
					switch _optName {
					case "arms":
						_tmp0 := _optVal
						arg0 = &_tmp0
					case "models":
						_tmp1 := _optVal
						arg1 = &_tmp1
					case "prompt":
						_tmp2, err := _strconv.Atoi(_optVal)
						if err != nil {
							logger.Printf("can't convert option %q value %q to int\n", _optName, _optVal)
							_os.Exit(2)
						}
						arg2 = &_tmp2
					case "depth":
						_tmp3, err := _strconv.Atoi(_optVal)
						if err != nil {
							logger.Printf("can't convert option %q value %q to int\n", _optName, _optVal)
							_os.Exit(2)
						}
						arg3 = &_tmp3
					default:
						logger.Printf("unknown option %q for target \"Costs\"\n", _optName)
						_os.Exit(2)
					}
					x++
				}
				wrapFn := func(ctx _context.Context) error {
					return Costs(ctx, arg0, arg1, arg2, arg3)
				}
				ret := runTarget(logger, wrapFn)
				handleError(logger, ret)
			case "devices":
				expected := x + 0
				if expected > len(args.Args) {
					// note that expected and args at this point include the arg for the target itself
					// so we subtract 1 here to show the number of args without the target.
					logger.Printf("not enough arguments for target \"Devices\", expected %v, got %v\n", expected-1, len(args.Args)-1)
					_os.Exit(2)
				}
				if args.Verbose {
					logger.Println("Running target:", "Devices")
				}
				
				wrapFn := func(ctx _context.Context) error {
					return Devices(ctx)
				}
				ret := runTarget(logger, wrapFn)
				handleError(logger, ret)
			case "doctor":
				expected := x + 0
				if expected > len(args.Args) {
					// note that expected and args at this point include the arg for the target itself
					// so we subtract 1 here to show the number of args without the target.
					logger.Printf("not enough arguments for target \"Doctor\", expected %v, got %v\n", expected-1, len(args.Args)-1)
					_os.Exit(2)
				}
				if args.Verbose {
					logger.Println("Running target:", "Doctor")
				}
				
				wrapFn := func(ctx _context.Context) error {
					return Doctor(ctx)
				}
				ret := runTarget(logger, wrapFn)
				handleError(logger, ret)
			case "fetch":
				expected := x + 0
				if expected > len(args.Args) {
					// note that expected and args at this point include the arg for the target itself
					// so we subtract 1 here to show the number of args without the target.
					logger.Printf("not enough arguments for target \"Fetch\", expected %v, got %v\n", expected-1, len(args.Args)-1)
					_os.Exit(2)
				}
				if args.Verbose {
					logger.Println("Running target:", "Fetch")
				}
				
				var arg0 *string
				var arg1 *string
				var arg2 *bool
				var arg3 *bool
				for x < len(args.Args) && _strings.HasPrefix(args.Args[x], "-") {
					_optArg := args.Args[x]
					_eqIdx := _strings.Index(_optArg, "=")
					var _optName, _optVal string
					if _eqIdx < 0 {
						_optName = _strings.ToLower(_optArg[1:])
						switch _optName {
						case "offline":
							_optVal = "true"
						case "acceptlicences":
							_optVal = "true"
						default:
							logger.Printf("invalid option %q for target \"Fetch\", expected -name=value format\n", _optArg)
							_os.Exit(2)
						}
					} else {
						_optName = _strings.ToLower(_optArg[1:_eqIdx])
						_optVal = _optArg[_eqIdx+1:]
					}
					switch _optName {
					case "only":
						_tmp0 := _optVal
						arg0 = &_tmp0
					case "from":
						_tmp1 := _optVal
						arg1 = &_tmp1
					case "offline":
						_tmp2, err := _strconv.ParseBool(_optVal)
						if err != nil {
							logger.Printf("can't convert option %q value %q to bool\n", _optName, _optVal)
							_os.Exit(2)
						}
						arg2 = &_tmp2
					case "acceptlicences":
						_tmp3, err := _strconv.ParseBool(_optVal)
						if err != nil {
							logger.Printf("can't convert option %q value %q to bool\n", _optName, _optVal)
							_os.Exit(2)
						}
						arg3 = &_tmp3
					default:
						logger.Printf("unknown option %q for target \"Fetch\"\n", _optName)
						_os.Exit(2)
					}
					x++
				}
				wrapFn := func(ctx _context.Context) error {
					return Fetch(ctx, arg0, arg1, arg2, arg3)
				}
				ret := runTarget(logger, wrapFn)
				handleError(logger, ret)
			case "inspect":
				expected := x + 0
				if expected > len(args.Args) {
					// note that expected and args at this point include the arg for the target itself
					// so we subtract 1 here to show the number of args without the target.
					logger.Printf("not enough arguments for target \"Inspect\", expected %v, got %v\n", expected-1, len(args.Args)-1)
					_os.Exit(2)
				}
				if args.Verbose {
					logger.Println("Running target:", "Inspect")
				}
				
				var arg0 *string
				var arg1 *string
				var arg2 *string
				var arg3 *string
				var arg4 *string
				var arg5 *string
				var arg6 *bool
				var arg7 *bool
				for x < len(args.Args) && _strings.HasPrefix(args.Args[x], "-") {
					_optArg := args.Args[x]
					_eqIdx := _strings.Index(_optArg, "=")
					var _optName, _optVal string
					if _eqIdx < 0 {
						_optName = _strings.ToLower(_optArg[1:])
						switch _optName {
						case "strict":
							_optVal = "true"
						case "all":
							_optVal = "true"
						default:
							logger.Printf("invalid option %q for target \"Inspect\", expected -name=value format\n", _optArg)
							_os.Exit(2)
						}
					} else {
						_optName = _strings.ToLower(_optArg[1:_eqIdx])
						_optVal = _optArg[_eqIdx+1:]
					}
					switch _optName {
					case "skel":
						_tmp0 := _optVal
						arg0 = &_tmp0
					case "function":
						_tmp1 := _optVal
						arg1 = &_tmp1
					case "disasm":
						_tmp2 := _optVal
						arg2 = &_tmp2
					case "against":
						_tmp3 := _optVal
						arg3 = &_tmp3
					case "addr":
						_tmp4 := _optVal
						arg4 = &_tmp4
					case "workers":
						_tmp5 := _optVal
						arg5 = &_tmp5
					case "strict":
						_tmp6, err := _strconv.ParseBool(_optVal)
						if err != nil {
							logger.Printf("can't convert option %q value %q to bool\n", _optName, _optVal)
							_os.Exit(2)
						}
						arg6 = &_tmp6
					case "all":
						_tmp7, err := _strconv.ParseBool(_optVal)
						if err != nil {
							logger.Printf("can't convert option %q value %q to bool\n", _optName, _optVal)
							_os.Exit(2)
						}
						arg7 = &_tmp7
					default:
						logger.Printf("unknown option %q for target \"Inspect\"\n", _optName)
						_os.Exit(2)
					}
					x++
				}
				wrapFn := func(ctx _context.Context) error {
					return Inspect(ctx, arg0, arg1, arg2, arg3, arg4, arg5, arg6, arg7)
				}
				ret := runTarget(logger, wrapFn)
				handleError(logger, ret)
			case "knobs":
				expected := x + 0
				if expected > len(args.Args) {
					// note that expected and args at this point include the arg for the target itself
					// so we subtract 1 here to show the number of args without the target.
					logger.Printf("not enough arguments for target \"Knobs\", expected %v, got %v\n", expected-1, len(args.Args)-1)
					_os.Exit(2)
				}
				if args.Verbose {
					logger.Println("Running target:", "Knobs")
				}
				
				wrapFn := func(ctx _context.Context) error {
					return Knobs(ctx)
				}
				ret := runTarget(logger, wrapFn)
				handleError(logger, ret)
			case "lint":
				expected := x + 0
				if expected > len(args.Args) {
					// note that expected and args at this point include the arg for the target itself
					// so we subtract 1 here to show the number of args without the target.
					logger.Printf("not enough arguments for target \"Lint\", expected %v, got %v\n", expected-1, len(args.Args)-1)
					_os.Exit(2)
				}
				if args.Verbose {
					logger.Println("Running target:", "Lint")
				}
				
				var arg0 *string
				var arg1 *string
				var arg2 *bool
				for x < len(args.Args) && _strings.HasPrefix(args.Args[x], "-") {
					_optArg := args.Args[x]
					_eqIdx := _strings.Index(_optArg, "=")
					var _optName, _optVal string
					if _eqIdx < 0 {
						_optName = _strings.ToLower(_optArg[1:])
						switch _optName {
						case "all":
							_optVal = "true"
						default:
							logger.Printf("invalid option %q for target \"Lint\", expected -name=value format\n", _optArg)
							_os.Exit(2)
						}
					} else {
						_optName = _strings.ToLower(_optArg[1:_eqIdx])
						_optVal = _optArg[_eqIdx+1:]
					}
					switch _optName {
					case "path":
						_tmp0 := _optVal
						arg0 = &_tmp0
					case "baseline":
						_tmp1 := _optVal
						arg1 = &_tmp1
					case "all":
						_tmp2, err := _strconv.ParseBool(_optVal)
						if err != nil {
							logger.Printf("can't convert option %q value %q to bool\n", _optName, _optVal)
							_os.Exit(2)
						}
						arg2 = &_tmp2
					default:
						logger.Printf("unknown option %q for target \"Lint\"\n", _optName)
						_os.Exit(2)
					}
					x++
				}
				wrapFn := func(ctx _context.Context) error {
					return Lint(ctx, arg0, arg1, arg2)
				}
				ret := runTarget(logger, wrapFn)
				handleError(logger, ret)
			case "llamabench":
				expected := x + 0
				if expected > len(args.Args) {
					// note that expected and args at this point include the arg for the target itself
					// so we subtract 1 here to show the number of args without the target.
					logger.Printf("not enough arguments for target \"LlamaBench\", expected %v, got %v\n", expected-1, len(args.Args)-1)
					_os.Exit(2)
				}
				if args.Verbose {
					logger.Println("Running target:", "LlamaBench")
				}
				
				var arg0 *string
				var arg1 *string
				var arg2 *string
				for x < len(args.Args) && _strings.HasPrefix(args.Args[x], "-") {
					_optArg := args.Args[x]
					_eqIdx := _strings.Index(_optArg, "=")
					var _optName, _optVal string
					if _eqIdx < 0 {
						_optName = _strings.ToLower(_optArg[1:])
						switch _optName {
						default:
							logger.Printf("invalid option %q for target \"LlamaBench\", expected -name=value format\n", _optArg)
							_os.Exit(2)
						}
					} else {
						_optName = _strings.ToLower(_optArg[1:_eqIdx])
						_optVal = _optArg[_eqIdx+1:]
					}
					switch _optName {
					case "model":
						_tmp0 := _optVal
						arg0 = &_tmp0
					case "arm":
						_tmp1 := _optVal
						arg1 = &_tmp1
					case "device":
						_tmp2 := _optVal
						arg2 = &_tmp2
					default:
						logger.Printf("unknown option %q for target \"LlamaBench\"\n", _optName)
						_os.Exit(2)
					}
					x++
				}
				wrapFn := func(ctx _context.Context) error {
					return LlamaBench(ctx, arg0, arg1, arg2)
				}
				ret := runTarget(logger, wrapFn)
				handleError(logger, ret)
			case "llamacli":
				expected := x + 0
				if expected > len(args.Args) {
					// note that expected and args at this point include the arg for the target itself
					// so we subtract 1 here to show the number of args without the target.
					logger.Printf("not enough arguments for target \"LlamaCLI\", expected %v, got %v\n", expected-1, len(args.Args)-1)
					_os.Exit(2)
				}
				if args.Verbose {
					logger.Println("Running target:", "LlamaCLI")
				}
				
				var arg0 *string
				var arg1 *string
				var arg2 *string
				for x < len(args.Args) && _strings.HasPrefix(args.Args[x], "-") {
					_optArg := args.Args[x]
					_eqIdx := _strings.Index(_optArg, "=")
					var _optName, _optVal string
					if _eqIdx < 0 {
						_optName = _strings.ToLower(_optArg[1:])
						switch _optName {
						default:
							logger.Printf("invalid option %q for target \"LlamaCLI\", expected -name=value format\n", _optArg)
							_os.Exit(2)
						}
					} else {
						_optName = _strings.ToLower(_optArg[1:_eqIdx])
						_optVal = _optArg[_eqIdx+1:]
					}
					switch _optName {
					case "model":
						_tmp0 := _optVal
						arg0 = &_tmp0
					case "arm":
						_tmp1 := _optVal
						arg1 = &_tmp1
					case "device":
						_tmp2 := _optVal
						arg2 = &_tmp2
					default:
						logger.Printf("unknown option %q for target \"LlamaCLI\"\n", _optName)
						_os.Exit(2)
					}
					x++
				}
				wrapFn := func(ctx _context.Context) error {
					return LlamaCLI(ctx, arg0, arg1, arg2)
				}
				ret := runTarget(logger, wrapFn)
				handleError(logger, ret)
			case "llamaversion":
				expected := x + 0
				if expected > len(args.Args) {
					// note that expected and args at this point include the arg for the target itself
					// so we subtract 1 here to show the number of args without the target.
					logger.Printf("not enough arguments for target \"LlamaVersion\", expected %v, got %v\n", expected-1, len(args.Args)-1)
					_os.Exit(2)
				}
				if args.Verbose {
					logger.Println("Running target:", "LlamaVersion")
				}
				
				var arg0 *string
				var arg1 *string
				for x < len(args.Args) && _strings.HasPrefix(args.Args[x], "-") {
					_optArg := args.Args[x]
					_eqIdx := _strings.Index(_optArg, "=")
					var _optName, _optVal string
					if _eqIdx < 0 {
						_optName = _strings.ToLower(_optArg[1:])
						switch _optName {
						default:
							logger.Printf("invalid option %q for target \"LlamaVersion\", expected -name=value format\n", _optArg)
							_os.Exit(2)
						}
					} else {
						_optName = _strings.ToLower(_optArg[1:_eqIdx])
						_optVal = _optArg[_eqIdx+1:]
					}
					switch _optName {
					case "arm":
						_tmp0 := _optVal
						arg0 = &_tmp0
					case "device":
						_tmp1 := _optVal
						arg1 = &_tmp1
					default:
						logger.Printf("unknown option %q for target \"LlamaVersion\"\n", _optName)
						_os.Exit(2)
					}
					x++
				}
				wrapFn := func(ctx _context.Context) error {
					return LlamaVersion(ctx, arg0, arg1)
				}
				ret := runTarget(logger, wrapFn)
				handleError(logger, ret)
			case "models":
				expected := x + 0
				if expected > len(args.Args) {
					// note that expected and args at this point include the arg for the target itself
					// so we subtract 1 here to show the number of args without the target.
					logger.Printf("not enough arguments for target \"Models\", expected %v, got %v\n", expected-1, len(args.Args)-1)
					_os.Exit(2)
				}
				if args.Verbose {
					logger.Println("Running target:", "Models")
				}
				
				wrapFn := func(ctx _context.Context) error {
					return Models()
				}
				ret := runTarget(logger, wrapFn)
				handleError(logger, ret)
			case "perfop":
				expected := x + 1
				if expected > len(args.Args) {
					// note that expected and args at this point include the arg for the target itself
					// so we subtract 1 here to show the number of args without the target.
					logger.Printf("not enough arguments for target \"PerfOp\", expected %v, got %v\n", expected-1, len(args.Args)-1)
					_os.Exit(2)
				}
				if args.Verbose {
					logger.Println("Running target:", "PerfOp")
				}
				
			arg0 := args.Args[x]
			x++
				var arg1 *string
				var arg2 *string
				var arg3 *string
				for x < len(args.Args) && _strings.HasPrefix(args.Args[x], "-") {
					_optArg := args.Args[x]
					_eqIdx := _strings.Index(_optArg, "=")
					var _optName, _optVal string
					if _eqIdx < 0 {
						_optName = _strings.ToLower(_optArg[1:])
						switch _optName {
						default:
							logger.Printf("invalid option %q for target \"PerfOp\", expected -name=value format\n", _optArg)
							_os.Exit(2)
						}
					} else {
						_optName = _strings.ToLower(_optArg[1:_eqIdx])
						_optVal = _optArg[_eqIdx+1:]
					}
					switch _optName {
					case "params":
						_tmp1 := _optVal
						arg1 = &_tmp1
					case "arm":
						_tmp2 := _optVal
						arg2 = &_tmp2
					case "device":
						_tmp3 := _optVal
						arg3 = &_tmp3
					default:
						logger.Printf("unknown option %q for target \"PerfOp\"\n", _optName)
						_os.Exit(2)
					}
					x++
				}
				wrapFn := func(ctx _context.Context) error {
					return PerfOp(ctx, arg0, arg1, arg2, arg3)
				}
				ret := runTarget(logger, wrapFn)
				handleError(logger, ret)
			case "phone":
				expected := x + 0
				if expected > len(args.Args) {
					// note that expected and args at this point include the arg for the target itself
					// so we subtract 1 here to show the number of args without the target.
					logger.Printf("not enough arguments for target \"Phone\", expected %v, got %v\n", expected-1, len(args.Args)-1)
					_os.Exit(2)
				}
				if args.Verbose {
					logger.Println("Running target:", "Phone")
				}
				
				var arg0 *string
				for x < len(args.Args) && _strings.HasPrefix(args.Args[x], "-") {
					_optArg := args.Args[x]
					_eqIdx := _strings.Index(_optArg, "=")
					var _optName, _optVal string
					if _eqIdx < 0 {
						_optName = _strings.ToLower(_optArg[1:])
						switch _optName {
						default:
							logger.Printf("invalid option %q for target \"Phone\", expected -name=value format\n", _optArg)
							_os.Exit(2)
						}
					} else {
						_optName = _strings.ToLower(_optArg[1:_eqIdx])
						_optVal = _optArg[_eqIdx+1:]
					}
					switch _optName {
					case "profile":
						_tmp0 := _optVal
						arg0 = &_tmp0
					default:
						logger.Printf("unknown option %q for target \"Phone\"\n", _optName)
						_os.Exit(2)
					}
					x++
				}
				wrapFn := func(ctx _context.Context) error {
					return Phone(ctx, arg0)
				}
				ret := runTarget(logger, wrapFn)
				handleError(logger, ret)
			case "profile":
				expected := x + 0
				if expected > len(args.Args) {
					// note that expected and args at this point include the arg for the target itself
					// so we subtract 1 here to show the number of args without the target.
					logger.Printf("not enough arguments for target \"Profile\", expected %v, got %v\n", expected-1, len(args.Args)-1)
					_os.Exit(2)
				}
				if args.Verbose {
					logger.Println("Running target:", "Profile")
				}
				
				var arg0 *string
				var arg1 *string
				var arg2 *string
				var arg3 *bool
				for x < len(args.Args) && _strings.HasPrefix(args.Args[x], "-") {
					_optArg := args.Args[x]
					_eqIdx := _strings.Index(_optArg, "=")
					var _optName, _optVal string
					if _eqIdx < 0 {
						_optName = _strings.ToLower(_optArg[1:])
						switch _optName {
						case "simulated":
							_optVal = "true"
						default:
							logger.Printf("invalid option %q for target \"Profile\", expected -name=value format\n", _optArg)
							_os.Exit(2)
						}
					} else {
						_optName = _strings.ToLower(_optArg[1:_eqIdx])
						_optVal = _optArg[_eqIdx+1:]
					}
					switch _optName {
					case "log":
						_tmp0 := _optVal
						arg0 = &_tmp0
					case "against":
						_tmp1 := _optVal
						arg1 = &_tmp1
					case "trace":
						_tmp2 := _optVal
						arg2 = &_tmp2
					case "simulated":
						_tmp3, err := _strconv.ParseBool(_optVal)
						if err != nil {
							logger.Printf("can't convert option %q value %q to bool\n", _optName, _optVal)
							_os.Exit(2)
						}
						arg3 = &_tmp3
					default:
						logger.Printf("unknown option %q for target \"Profile\"\n", _optName)
						_os.Exit(2)
					}
					x++
				}
				wrapFn := func(ctx _context.Context) error {
					return Profile(arg0, arg1, arg2, arg3)
				}
				ret := runTarget(logger, wrapFn)
				handleError(logger, ret)
			case "report":
				expected := x + 1
				if expected > len(args.Args) {
					// note that expected and args at this point include the arg for the target itself
					// so we subtract 1 here to show the number of args without the target.
					logger.Printf("not enough arguments for target \"Report\", expected %v, got %v\n", expected-1, len(args.Args)-1)
					_os.Exit(2)
				}
				if args.Verbose {
					logger.Println("Running target:", "Report")
				}
				
			arg0 := args.Args[x]
			x++
				var arg1 *string
				for x < len(args.Args) && _strings.HasPrefix(args.Args[x], "-") {
					_optArg := args.Args[x]
					_eqIdx := _strings.Index(_optArg, "=")
					var _optName, _optVal string
					if _eqIdx < 0 {
						_optName = _strings.ToLower(_optArg[1:])
						switch _optName {
						default:
							logger.Printf("invalid option %q for target \"Report\", expected -name=value format\n", _optArg)
							_os.Exit(2)
						}
					} else {
						_optName = _strings.ToLower(_optArg[1:_eqIdx])
						_optVal = _optArg[_eqIdx+1:]
					}
					switch _optName {
					case "format":
						_tmp1 := _optVal
						arg1 = &_tmp1
					default:
						logger.Printf("unknown option %q for target \"Report\"\n", _optName)
						_os.Exit(2)
					}
					x++
				}
				wrapFn := func(ctx _context.Context) error {
					return Report(arg0, arg1)
				}
				ret := runTarget(logger, wrapFn)
				handleError(logger, ret)
			case "test":
				expected := x + 0
				if expected > len(args.Args) {
					// note that expected and args at this point include the arg for the target itself
					// so we subtract 1 here to show the number of args without the target.
					logger.Printf("not enough arguments for target \"Test\", expected %v, got %v\n", expected-1, len(args.Args)-1)
					_os.Exit(2)
				}
				if args.Verbose {
					logger.Println("Running target:", "Test")
				}
				
				wrapFn := func(ctx _context.Context) error {
					return Test(ctx)
				}
				ret := runTarget(logger, wrapFn)
				handleError(logger, ret)
			case "testop":
				expected := x + 1
				if expected > len(args.Args) {
					// note that expected and args at this point include the arg for the target itself
					// so we subtract 1 here to show the number of args without the target.
					logger.Printf("not enough arguments for target \"TestOp\", expected %v, got %v\n", expected-1, len(args.Args)-1)
					_os.Exit(2)
				}
				if args.Verbose {
					logger.Println("Running target:", "TestOp")
				}
				
			arg0 := args.Args[x]
			x++
				var arg1 *string
				var arg2 *string
				var arg3 *string
				var arg4 *string
				for x < len(args.Args) && _strings.HasPrefix(args.Args[x], "-") {
					_optArg := args.Args[x]
					_eqIdx := _strings.Index(_optArg, "=")
					var _optName, _optVal string
					if _eqIdx < 0 {
						_optName = _strings.ToLower(_optArg[1:])
						switch _optName {
						default:
							logger.Printf("invalid option %q for target \"TestOp\", expected -name=value format\n", _optArg)
							_os.Exit(2)
						}
					} else {
						_optName = _strings.ToLower(_optArg[1:_eqIdx])
						_optVal = _optArg[_eqIdx+1:]
					}
					switch _optName {
					case "params":
						_tmp1 := _optVal
						arg1 = &_tmp1
					case "arm":
						_tmp2 := _optVal
						arg2 = &_tmp2
					case "device":
						_tmp3 := _optVal
						arg3 = &_tmp3
					case "check":
						_tmp4 := _optVal
						arg4 = &_tmp4
					default:
						logger.Printf("unknown option %q for target \"TestOp\"\n", _optName)
						_os.Exit(2)
					}
					x++
				}
				wrapFn := func(ctx _context.Context) error {
					return TestOp(ctx, arg0, arg1, arg2, arg3, arg4)
				}
				ret := runTarget(logger, wrapFn)
				handleError(logger, ret)
			case "testops":
				expected := x + 0
				if expected > len(args.Args) {
					// note that expected and args at this point include the arg for the target itself
					// so we subtract 1 here to show the number of args without the target.
					logger.Printf("not enough arguments for target \"TestOps\", expected %v, got %v\n", expected-1, len(args.Args)-1)
					_os.Exit(2)
				}
				if args.Verbose {
					logger.Println("Running target:", "TestOps")
				}
				
				var arg0 *string
				var arg1 *string
				var arg2 *string
				for x < len(args.Args) && _strings.HasPrefix(args.Args[x], "-") {
					_optArg := args.Args[x]
					_eqIdx := _strings.Index(_optArg, "=")
					var _optName, _optVal string
					if _eqIdx < 0 {
						_optName = _strings.ToLower(_optArg[1:])
						switch _optName {
						default:
							logger.Printf("invalid option %q for target \"TestOps\", expected -name=value format\n", _optArg)
							_os.Exit(2)
						}
					} else {
						_optName = _strings.ToLower(_optArg[1:_eqIdx])
						_optVal = _optArg[_eqIdx+1:]
					}
					switch _optName {
					case "arm":
						_tmp0 := _optVal
						arg0 = &_tmp0
					case "device":
						_tmp1 := _optVal
						arg1 = &_tmp1
					case "check":
						_tmp2 := _optVal
						arg2 = &_tmp2
					default:
						logger.Printf("unknown option %q for target \"TestOps\"\n", _optName)
						_os.Exit(2)
					}
					x++
				}
				wrapFn := func(ctx _context.Context) error {
					return TestOps(ctx, arg0, arg1, arg2)
				}
				ret := runTarget(logger, wrapFn)
				handleError(logger, ret)
			case "tiles:show":
				expected := x + 1
				if expected > len(args.Args) {
					// note that expected and args at this point include the arg for the target itself
					// so we subtract 1 here to show the number of args without the target.
					logger.Printf("not enough arguments for target \"Tiles:Show\", expected %v, got %v\n", expected-1, len(args.Args)-1)
					_os.Exit(2)
				}
				if args.Verbose {
					logger.Println("Running target:", "Tiles:Show")
				}
				
			arg0 := args.Args[x]
			x++
				var arg1 *string
				for x < len(args.Args) && _strings.HasPrefix(args.Args[x], "-") {
					_optArg := args.Args[x]
					_eqIdx := _strings.Index(_optArg, "=")
					var _optName, _optVal string
					if _eqIdx < 0 {
						_optName = _strings.ToLower(_optArg[1:])
						switch _optName {
						default:
							logger.Printf("invalid option %q for target \"Tiles:Show\", expected -name=value format\n", _optArg)
							_os.Exit(2)
						}
					} else {
						_optName = _strings.ToLower(_optArg[1:_eqIdx])
						_optVal = _optArg[_eqIdx+1:]
					}
					switch _optName {
					case "svg":
						_tmp1 := _optVal
						arg1 = &_tmp1
					default:
						logger.Printf("unknown option %q for target \"Tiles:Show\"\n", _optName)
						_os.Exit(2)
					}
					x++
				}
				wrapFn := func(ctx _context.Context) error {
					return Tiles{}.Show(arg0, arg1)
				}
				ret := runTarget(logger, wrapFn)
				handleError(logger, ret)
			case "updatecpulibs":
				expected := x + 0
				if expected > len(args.Args) {
					// note that expected and args at this point include the arg for the target itself
					// so we subtract 1 here to show the number of args without the target.
					logger.Printf("not enough arguments for target \"UpdateCPULibs\", expected %v, got %v\n", expected-1, len(args.Args)-1)
					_os.Exit(2)
				}
				if args.Verbose {
					logger.Println("Running target:", "UpdateCPULibs")
				}
				
				var arg0 *string
				for x < len(args.Args) && _strings.HasPrefix(args.Args[x], "-") {
					_optArg := args.Args[x]
					_eqIdx := _strings.Index(_optArg, "=")
					var _optName, _optVal string
					if _eqIdx < 0 {
						_optName = _strings.ToLower(_optArg[1:])
						switch _optName {
						default:
							logger.Printf("invalid option %q for target \"UpdateCPULibs\", expected -name=value format\n", _optArg)
							_os.Exit(2)
						}
					} else {
						_optName = _strings.ToLower(_optArg[1:_eqIdx])
						_optVal = _optArg[_eqIdx+1:]
					}
					switch _optName {
					case "device":
						_tmp0 := _optVal
						arg0 = &_tmp0
					default:
						logger.Printf("unknown option %q for target \"UpdateCPULibs\"\n", _optName)
						_os.Exit(2)
					}
					x++
				}
				wrapFn := func(ctx _context.Context) error {
					return UpdateCPULibs(ctx, arg0)
				}
				ret := runTarget(logger, wrapFn)
				handleError(logger, ret)
			case "updatedspqueuelibs":
				expected := x + 0
				if expected > len(args.Args) {
					// note that expected and args at this point include the arg for the target itself
					// so we subtract 1 here to show the number of args without the target.
					logger.Printf("not enough arguments for target \"UpdateDspqueueLibs\", expected %v, got %v\n", expected-1, len(args.Args)-1)
					_os.Exit(2)
				}
				if args.Verbose {
					logger.Println("Running target:", "UpdateDspqueueLibs")
				}
				
				var arg0 *string
				for x < len(args.Args) && _strings.HasPrefix(args.Args[x], "-") {
					_optArg := args.Args[x]
					_eqIdx := _strings.Index(_optArg, "=")
					var _optName, _optVal string
					if _eqIdx < 0 {
						_optName = _strings.ToLower(_optArg[1:])
						switch _optName {
						default:
							logger.Printf("invalid option %q for target \"UpdateDspqueueLibs\", expected -name=value format\n", _optArg)
							_os.Exit(2)
						}
					} else {
						_optName = _strings.ToLower(_optArg[1:_eqIdx])
						_optVal = _optArg[_eqIdx+1:]
					}
					switch _optName {
					case "device":
						_tmp0 := _optVal
						arg0 = &_tmp0
					default:
						logger.Printf("unknown option %q for target \"UpdateDspqueueLibs\"\n", _optName)
						_os.Exit(2)
					}
					x++
				}
				wrapFn := func(ctx _context.Context) error {
					return UpdateDspqueueLibs(ctx, arg0)
				}
				ret := runTarget(logger, wrapFn)
				handleError(logger, ret)
			case "updatefastrpclibs":
				expected := x + 0
				if expected > len(args.Args) {
					// note that expected and args at this point include the arg for the target itself
					// so we subtract 1 here to show the number of args without the target.
					logger.Printf("not enough arguments for target \"UpdateFastrpcLibs\", expected %v, got %v\n", expected-1, len(args.Args)-1)
					_os.Exit(2)
				}
				if args.Verbose {
					logger.Println("Running target:", "UpdateFastrpcLibs")
				}
				
				var arg0 *string
				for x < len(args.Args) && _strings.HasPrefix(args.Args[x], "-") {
					_optArg := args.Args[x]
					_eqIdx := _strings.Index(_optArg, "=")
					var _optName, _optVal string
					if _eqIdx < 0 {
						_optName = _strings.ToLower(_optArg[1:])
						switch _optName {
						default:
							logger.Printf("invalid option %q for target \"UpdateFastrpcLibs\", expected -name=value format\n", _optArg)
							_os.Exit(2)
						}
					} else {
						_optName = _strings.ToLower(_optArg[1:_eqIdx])
						_optVal = _optArg[_eqIdx+1:]
					}
					switch _optName {
					case "device":
						_tmp0 := _optVal
						arg0 = &_tmp0
					default:
						logger.Printf("unknown option %q for target \"UpdateFastrpcLibs\"\n", _optName)
						_os.Exit(2)
					}
					x++
				}
				wrapFn := func(ctx _context.Context) error {
					return UpdateFastrpcLibs(ctx, arg0)
				}
				ret := runTarget(logger, wrapFn)
				handleError(logger, ret)
		
		default:
			logger.Printf("Unknown target specified: %q\n", target)
			_os.Exit(2)
		}
	}
}




