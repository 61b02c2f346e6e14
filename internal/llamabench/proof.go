package llamabench

import (
	"regexp"
	"strings"
)

// What llama.cpp logs while it loads (verbose) tells where the work is done;
// the list of registered backends does not.
var (
	bufferSize  = regexp.MustCompile(`(\S+) (model|compute|KV|RS|output) buffer size = +([0-9]+\.[0-9]+ MiB)`)
	graphSplits = regexp.MustCompile(`graph splits = ([0-9]+(?: \(with bs=[0-9]+\), [0-9]+ \(with bs=[0-9]+\))?)`)
)

// MaxProof bounds the facts kept of one launch.
const MaxProof = 64

// Proof gathers from a launch's log where the work was done: the buffer sizes
// by device, and the number of graph splits. The last value of each is kept:
// llama-bench makes a context for each test.
func Proof(log string) map[string]string {
	proof := map[string]string{}
	for _, text := range strings.Split(log, "\n") {
		if len(proof) >= MaxProof {
			break
		}
		if m := bufferSize.FindStringSubmatch(text); m != nil {
			proof[m[1]+" "+m[2]+" buffer"] = m[3]
		} else if m := graphSplits.FindStringSubmatch(text); m != nil {
			proof["graph splits"] = m[1]
		}
	}
	return proof
}
