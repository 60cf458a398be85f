//go:build accept

package main

import (
	"os"
	"testing"

	"github.com/perfsweep/perfsweep/knee/kneetest"
)

const (
	seeds       = 20
	everySystem = true
)

// newSeeds are those of the engines that a gate is held against: those that make
// accept was given, or 20 that are the same in every run.
func newSeeds(t *testing.T) []uint64 {
	text := os.Getenv(kneetest.SeedsVar)
	if text == "" {
		var out []uint64
		for i := range uint64(seeds) {
			out = append(out, 2+i)
		}
		return out
	}
	out, err := kneetest.ParseSeeds(text)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
