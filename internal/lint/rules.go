package lint

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"hexab/internal/csource"
)

// traces finds workers that trace nothing, and events that never stop.
func traces(t *tree) []Finding {
	var findings []Finding
	for _, s := range t.files {
		all, made := index(s)
		for _, f := range s.functions {
			if !s.operation() {
				continue // a queue starts an event in one function and stops it in another
			}
			findings = append(findings, unstopped(f)...)
			if !f.worker() {
				continue
			}
			traced := slices.ContainsFunc(reach(f, all, made), func(r *function) bool {
				return mentions(r.body, "htp_trace_event_start") || mentions(r.body, "htp_trace_event")
			})
			if !traced {
				findings = append(findings, Finding{File: s.path, Line: f.line, Where: f.name, Subject: "worker",
					Text: fmt.Sprintf("worker %s traces nothing", f.name)})
			}
		}
	}
	return findings
}

// unstopped compares what a function starts and stops.
func unstopped(f *function) []Finding {
	type event struct{ starts, stops, line int }
	events := map[string]*event{}
	var order []string
	for i, t := range f.body {
		start := t.Is("htp_trace_event_start")
		if !start && !t.Is("htp_trace_event_stop") || i+1 >= len(f.body) || !f.body[i+1].Is("(") {
			continue
		}
		args := arguments(f.body, i+1)
		if len(args) < 2 || len(args[1]) != 1 {
			continue
		}
		name := args[1][0].Text
		if events[name] == nil {
			events[name] = &event{line: t.Line}
			order = append(order, name)
		}
		if start {
			events[name].starts++
		} else {
			events[name].stops++
		}
	}
	var findings []Finding
	for _, name := range order {
		if e := events[name]; (e.starts == 0) != (e.stops == 0) {
			findings = append(findings, Finding{File: f.file.path, Line: e.line, Where: f.name, Subject: name,
				Text: fmt.Sprintf("%s starts %s %d times and stops it %d times", f.name, name, e.starts, e.stops)})
		}
	}
	return findings
}

var invariants = []string{"ctx", "octx", "kparams", "data"}

// nullChecks finds comparisons of invariants with NULL on the DSP's side.
func nullChecks(t *tree) []Finding {
	var findings []Finding
	for _, s := range t.files {
		if !s.operation() && !s.header() || path.Base(s.path) == "main.c" {
			continue // what main.c gets comes from another process
		}
		for _, f := range s.functions {
			for i, token := range f.body {
				if token.Kind != csource.Identifier || !slices.Contains(invariants, token.Text) || !compared(f.body, i) {
					continue
				}
				if token.Is("data") && !f.worker() || tensorData(f.body, i) {
					continue
				}
				findings = append(findings, Finding{File: s.path, Line: token.Line, Where: f.name, Subject: token.Text,
					Text: fmt.Sprintf("%s checks %s, which is never NULL", f.name, token.Text)})
			}
		}
	}
	return findings
}

// tensorData tells whether data is a tensor's field.
func tensorData(body []csource.Token, i int) bool {
	return body[i].Is("data") && i > 0 && (body[i-1].Is("->") || body[i-1].Is("."))
}

// compared tells whether the name at i, with what is before it in a chain of
// fields, is tested for being NULL.
func compared(body []csource.Token, i int) bool {
	next := func(n int) csource.Token {
		if i+n >= 0 && i+n < len(body) {
			return body[i+n]
		}
		return csource.Token{}
	}
	null := func(t csource.Token) bool { return t.Is("NULL") || t.Is("nullptr") || t.Text == "0" }
	if (next(1).Is("==") || next(1).Is("!=")) && null(next(2)) {
		return true
	}
	end := next(1).Is(")") || next(1).Is("||") || next(1).Is("&&")
	first := i
	for first >= 2 && (body[first-1].Is("->") || body[first-1].Is(".")) && body[first-2].Kind == csource.Identifier {
		first -= 2
	}
	if !end || first == 0 {
		return false
	}
	before := body[first-1]
	if before.Is("!") || before.Is("||") || before.Is("&&") {
		return true
	}
	return before.Is("(") && first >= 2 && (body[first-2].Is("if") || body[first-2].Is("assert")) && next(1).Is(")")
}

// supportsOp finds what supports_op and its helpers see of buffers.
func supportsOp(t *tree) []Finding {
	var findings []Finding
	for _, s := range t.files {
		if s.kernel() || s.header() {
			continue
		}
		all, made := index(s)
		seen := map[*function]bool{}
		for _, root := range s.functions {
			if root.macro || !strings.HasSuffix(root.name, "supports_op") && !strings.Contains(root.name, "supported_") {
				continue
			}
			for _, f := range reach(root, all, made) {
				if !seen[f] && !f.macro {
					seen[f] = true
					findings = append(findings, bufferLooks(f, root)...)
				}
			}
		}
	}
	return findings
}

func bufferLooks(f, root *function) []Finding {
	var findings []Finding
	for i, token := range f.body {
		field := i > 0 && (f.body[i-1].Is("->") || f.body[i-1].Is("."))
		fields := []string{"buffer", "data", "extra", "usage", "is_tiled"}
		call := i+1 < len(f.body) && f.body[i+1].Is("(")
		switch {
		case field && !call && slices.Contains(fields, token.Text):
		case token.Is("is_tiled"), strings.HasPrefix(token.Text, "GGML_HEXAGON_TENSOR_") && token.Kind == csource.Identifier:
		case call && strings.HasPrefix(token.Text, "ggml_backend_buffer_"), call && token.Is("ggml_backend_buft_is_host"):
		default:
			continue
		}
		text := fmt.Sprintf("%s looks at %s", f.name, token.Text)
		if f != root {
			text += ", called by " + root.name
		}
		findings = append(findings, Finding{File: f.file.path, Line: token.Line, Where: f.name, Subject: token.Text, Text: text})
	}
	return findings
}

// partitions finds operations that do not know of other devices.
func partitions(t *tree) []Finding {
	var findings []Finding
	for _, s := range t.files {
		if !s.operation() || path.Base(s.path) == "main.c" {
			continue
		}
		all, made := index(s)
		for _, f := range s.functions {
			if !f.entry() {
				continue
			}
			shared := slices.ContainsFunc(reach(f, all, made), func(r *function) bool {
				return mentions(r.body, "htp_tensor_mdev_partition") || mentions(r.body, "mdev")
			})
			if !shared {
				findings = append(findings, Finding{File: s.path, Line: f.line, Where: f.name, Subject: "partition",
					Text: fmt.Sprintf("%s writes all rows on every device", f.name)})
			}
		}
	}
	return findings
}

// flattened finds partitions over one dimension.
func flattened(t *tree) []Finding {
	var findings []Finding
	for _, s := range t.files {
		for _, f := range s.functions {
			for i, token := range f.body {
				if !token.Is("htp_tensor_mdev_partition") || i+2 >= len(f.body) || !f.body[i+1].Is("(") {
					continue
				}
				args := arguments(f.body, i+1)
				if len(args) > 0 && len(args[0]) == 1 && (args[0][0].Is("ne01") || args[0][0].Is("ne1")) {
					findings = append(findings, Finding{File: s.path, Line: token.Line, Where: f.name, Subject: args[0][0].Text,
						Text: fmt.Sprintf("%s divides %s alone between devices", f.name, args[0][0].Text)})
				}
			}
		}
	}
	return findings
}

// sliceState finds coordinates that a worker counts from 0.
func sliceState(t *tree) []Finding {
	var findings []Finding
	for _, s := range t.files {
		for _, f := range s.functions {
			if f.worker() {
				findings = append(findings, counted(f)...)
			}
		}
	}
	return findings
}

// counted finds locals that start as 0 and are stepped and set back to 0 in a
// loop that itself does not start at 0: the loop begins at the worker's first
// row, the local does not.
func counted(f *function) []Finding {
	type local struct {
		line, declared      int
		zeros, others, late bool
	}
	locals := map[string]*local{}
	var order []string
	loops := loopsFromElsewhere(f.body)
	for i := 1; i+1 < len(f.body); i++ {
		t, before, after := f.body[i], f.body[i-1], f.body[i+1]
		if before.Is("for") && t.Is("(") {
			i = closing(f.body, i) // a loop's own variable is no state
			continue
		}
		if t.Kind != csource.Identifier {
			continue
		}
		l := locals[t.Text]
		if after.Is("=") && i+3 < len(f.body) {
			zero := f.body[i+2].Text == "0" && (f.body[i+3].Is(";") || f.body[i+3].Is(","))
			switch {
			case l != nil && zero:
				l.zeros = true
			case l != nil:
				l.others = true
			case zero && (before.Kind == csource.Identifier || before.Is(",")):
				locals[t.Text] = &local{line: t.Line, declared: i}
				order = append(order, t.Text)
			}
		}
		if l != nil && (before.Is("++") || after.Is("++")) {
			l.late = l.late || slices.ContainsFunc(loops, func(r [2]int) bool { return l.declared < r[0] && r[0] <= i && i < r[1] })
		}
	}
	var findings []Finding
	for _, name := range order {
		if l := locals[name]; l.zeros && l.late && !l.others {
			findings = append(findings, Finding{File: f.file.path, Line: l.line, Where: f.name, Subject: name,
				Text: fmt.Sprintf("%s counts %s from 0 in a loop that does not start at 0", f.name, name)})
		}
	}
	return findings
}

// loopsFromElsewhere gives the extents of the for loops whose variable starts
// at anything but a literal 0.
func loopsFromElsewhere(body []csource.Token) [][2]int {
	var loops [][2]int
	for i := range body {
		if !body[i].Is("for") || i+1 >= len(body) || !body[i+1].Is("(") {
			continue
		}
		head := closing(body, i+1)
		first := splitAt(body[i+2:min(head, len(body))], ";")
		if len(first) == 0 || len(first[0]) < 3 {
			continue
		}
		start := first[0]
		assigned := slices.IndexFunc(start, func(t csource.Token) bool { return t.Is("=") })
		if assigned < 0 || assigned+1 >= len(start) || start[assigned+1].Text == "0" {
			continue
		}
		end := head + 1
		if end < len(body) && body[end].Is("{") {
			end = closing(body, end)
		}
		loops = append(loops, [2]int{i, end})
	}
	return loops
}

// mdevPrefix finds mdev_ in workers and in the structures of operation files.
func mdevPrefix(t *tree) []Finding {
	var findings []Finding
	for _, s := range t.files {
		if !s.operation() || path.Base(s.path) == "main.c" {
			continue
		}
		report := func(where string, tokens []csource.Token) {
			for _, token := range tokens {
				if token.Kind == csource.Identifier && strings.HasPrefix(token.Text, "mdev_") {
					findings = append(findings, Finding{File: s.path, Line: token.Line, Where: where, Subject: token.Text,
						Text: fmt.Sprintf("%s knows %s", where, token.Text)})
				}
			}
		}
		for _, st := range s.structures {
			report(st.name, st.body)
		}
		for _, f := range s.functions {
			if f.worker() {
				report(f.name, append(slices.Clone(f.params), f.body...))
			}
		}
	}
	return findings
}
