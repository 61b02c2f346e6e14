// Package findings reads the list of test-backend-ops cases that are known to
// fail on the simulated NPU (sim/findings/expected.yaml), and compares runs
// with it: a case that fails without a finding and a finding's case that
// passes are both differences.
package findings
