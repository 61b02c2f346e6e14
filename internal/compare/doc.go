// Package compare turns the records of a run into comparisons: what each arm
// did on each model and test, how it differs from the baseline and how sure
// that is, what is missing, and what to be careful about. It is pure: equal
// records give equal comparisons.
//
// The observation of a launch is the median of its samples, in tokens a
// second. A pair is the baseline's and another arm's observation of one block,
// both of outcome ok; its log ratio is ln(arm/baseline). All comparisons of a
// run are judged as one table (stat.DecideTable), so that a long table does
// not make chance differences look real.
//
// Nothing is dropped for being slow. What does not count is listed as a hole
// with its outcome and reason, and what counts but deserves a second look is a
// warning.
package compare
