// Package github posts results where the work is reviewed: one comment on the
// pull request, a check run on its head commit, and the step summary of the
// job that posts them.
//
// A comment is found again by a hidden marker and its author. It holds a
// section for each workflow that measures (the embedded phone, a phone on a
// shelf), and each section says which run made it, so that a run that finishes
// late never overwrites a newer one. GitHub has no compare-and-swap on
// comments; who writes takes a lock first (lock.go), reads, writes and reads
// back. Should there be several comments all the same, the newest of their
// sections go into the oldest of them and the others are deleted.
//
// Requests go to the API's base and to nothing else. The token is in the
// requests' header and nowhere else.
package github
