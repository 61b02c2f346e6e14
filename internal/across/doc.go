// Package across sets two archived runs, or a run and published figures, side
// by side. Unlike the arms of one run such figures were not measured in turn
// on one device: what differs between the two is listed, a difference is only
// given where both measured the same thing, and never a verdict.
package across
