// Package stat holds the statistics that turn measured speeds into verdicts:
// pure functions on numbers. It reads no clock and no file, and draws random
// numbers only from a seed that the caller gives, so equal input gives equal
// output.
//
// # The model
//
// A block holds one launch of each arm, close in time. The observation of a
// launch is the median of its samples. A block gives one number for a pair of
// arms, the log ratio d = ln(B/A), where A is the baseline's speed: d > 0 means
// that B is faster. What is slow and common to both (heat, other work) cancels
// in d; what is left of it is as often for B as against it, because the order
// within blocks is drawn and balanced. All statistics are on d.
//
// # The verdict
//
// Let theta = ln(1 + threshold), alpha = 0.05 unless set otherwise, n blocks.
//
// A comparison is faster (slower, mirrored) when all of these hold:
//
//  1. The (1-alpha) Student t interval of d lies wholly above theta, and so
//     does the Hodges-Lehmann estimate that is shown.
//  2. The t test's q value, adjusted over the table, is at most alpha.
//  3. The sign-flip test, which assumes no distribution, agrees as far as it
//     is able to: where its q could have reached alpha in this table at this n
//     (Reachable), q must be at most alpha; where it could not, its raw p must
//     be at most alpha or the smallest value that n blocks can give.
//
// It is equivalent when the two one-sided t tests place d within (-theta,
// theta) with an adjusted q of at most alpha, and the estimate lies there too.
// Otherwise it is inconclusive, for a stated Reason.
//
// A verdict is indicative when it rests on the assumption that d is normally
// distributed: with fewer than [MinBlocks] blocks always (three blocks have
// eight sign patterns, so that their smallest p is 0.25), and for faster or
// slower also where the table is so long that the sign-flip q could not reach
// alpha. More rounds lift it.
//
// # Why the whole interval, and not only the estimate, must pass the threshold
//
// The other reading (interval clear of zero, estimate beyond the threshold)
// has more power, but its word says less than a reader takes from it: with a
// true difference of half the threshold it says "faster" in just those runs
// whose noise exaggerates. Here every verdict is true of every value that the
// data leave open: all of them are a gain worth having, or none of them is.
// That is the interval rule of minimum-effect and equivalence testing
// (Murphy and Myors 1999; Lakens, Scheel and Isager 2018). A difference that
// is real but may be smaller than the threshold is not lost: Reason is then
// [ReasonNearThreshold], and [Decision.Differs] tells its direction. A
// threshold of zero turns the rule into a plain test for any difference.
package stat
