//go:build !accept

package main

import "testing"

const (
	// seeds is how many seeds the short suite tries; with the tag accept, which
	// .ci/run gives as well, it is 20.
	seeds = 1
	// everySystem adds the presets that have the law of rtx-pro-6000 with other
	// numbers; they are the dearest of all.
	everySystem = false
)

// newSeeds are those of the engines that a gate is held against.
func newSeeds(*testing.T) []uint64 { return []uint64{2} }
