package phone

import (
	"path"
	"regexp"
	"strings"
)

// programs lists the base names of the programs that a shell command starts,
// in order, as far as its text shows: after assignments, reserved words and
// prefixes such as nice, timeout or taskset, and inside `sh -c '...'`. Faults
// count launches of a program by it.
func programs(command string) []string { return scanPrograms(command, 3) }

var (
	assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)
	amount     = regexp.MustCompile(`^(0x)?[0-9a-fA-F.]+[smhd]?$`)
)

// prefixes run the program named further on in their arguments.
var prefixes = map[string]bool{
	"!": true, "builtin": true, "chrt": true, "command": true, "do": true, "elif": true, "else": true, "env": true,
	"exec": true, "if": true, "ionice": true, "nice": true, "nohup": true, "setsid": true, "stdbuf": true,
	"taskset": true, "then": true, "time": true, "timeout": true, "until": true, "while": true, "{": true,
}

func scanPrograms(command string, depth int) []string {
	if depth == 0 {
		return nil
	}
	var list []string
	for _, words := range simpleCommands(command) {
		list = append(list, programOf(words, depth)...)
	}
	return list
}

// programOf finds the program in the words of one simple command.
func programOf(words []string, depth int) []string {
	prefixed, emulator := false, false
	for i := 0; i < len(words); i++ {
		w := words[i]
		name := path.Base(w)
		switch {
		case w == "" || assignment.MatchString(w):
		case prefixes[w]:
			prefixed = true
		case w == "run-as":
			i++ // the app
		case emulator && (w == "-L" || w == "-E" || w == "-cpu"):
			i++ // the option's argument
		case prefixed && (strings.HasPrefix(w, "-") || amount.MatchString(w)):
		case strings.HasPrefix(name, "qemu-"):
			prefixed, emulator = true, true
		case name == "sh" || name == "bash" || name == "dash":
			for j, o := range words[i+1:] {
				if strings.HasPrefix(o, "-") && strings.HasSuffix(o, "c") && i+j+2 < len(words) {
					return append([]string{name}, scanPrograms(words[i+j+2], depth-1)...)
				}
			}
			return []string{name}
		default:
			return []string{name}
		}
	}
	return nil
}

// simpleCommands splits a command line at the shell's operators and its words
// at blanks, with quotes removed. Redirections and comments are not told
// apart: their words come after the program's name and do no harm.
func simpleCommands(line string) (commands [][]string) {
	var words []string
	var word strings.Builder
	inWord := false
	endWord := func() {
		if inWord {
			words = append(words, word.String())
		}
		word.Reset()
		inWord = false
	}
	endCommand := func() {
		endWord()
		if len(words) > 0 {
			commands = append(commands, words)
		}
		words = nil
	}
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch c {
		case ' ', '\t':
			endWord()
		case ';', '|', '\n', '(', ')', '`':
			endCommand()
		case '&':
			if i > 0 && (line[i-1] == '>' || line[i-1] == '<') {
				inWord = true // 2>&1 is a redirection
				word.WriteByte(c)
				continue
			}
			endCommand()
		case '\\':
			inWord = true
			if i++; i < len(line) {
				word.WriteByte(line[i])
			}
		case '\'':
			inWord = true
			for i++; i < len(line) && line[i] != '\''; i++ {
				word.WriteByte(line[i])
			}
		case '"':
			inWord = true
			for i++; i < len(line) && line[i] != '"'; i++ {
				if line[i] == '\\' && i+1 < len(line) && strings.IndexByte("$`\"\\", line[i+1]) >= 0 {
					i++
				}
				word.WriteByte(line[i])
			}
		default:
			inWord = true
			word.WriteByte(c)
		}
	}
	endCommand()
	return commands
}
