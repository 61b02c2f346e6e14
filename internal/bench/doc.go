// Package bench holds the nouns of a benchmark: variants, arms, workloads,
// plans, launches, samples and outcomes, with the base units they are counted
// in. It has no behaviour beyond parsing and printing those nouns, reads no
// clock and touches no file, so that every other package may import it.
//
// The words are used as follows:
//
//   - a variant is one build of the backend under test (cpu, dspqueue, fastrpc);
//   - an arm is a variant with settings (cpu:threads=1);
//   - a workload is a model file, a test (pp512, tg128) and settings;
//   - a plan is the seeded order of launches, in blocks;
//   - a block holds each arm once, adjacent in time, for one model;
//   - a launch is one llama-bench process;
//   - a sample is one repetition of one test inside a launch.
package bench
