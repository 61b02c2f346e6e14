// Package simtest holds the heavy tests of the simulated NPU: they build C with
// CMake and run whole suites, so they wait for HEXAB_HEAVY=1.
package simtest
