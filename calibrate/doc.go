// Package calibrate turns a fitted curve into a defensible gate, and judges
// fresh results against one.
//
// It is pure. A gate that is not met, or not yet built, is unmet; nothing here
// relaxes a default, and missing data is never a pass. Floors are one-sided
// tolerance limits over deployments on a log-normal scale, so they say nothing
// of a deployment whose healthy runs are not log-normal; with few runs the
// guarantee rests on that assumption and the comment says so.
package calibrate
