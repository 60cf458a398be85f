//go:build !unix

package main

import "github.com/perfsweep/perfsweep/cmd/perfsweep/internal/live"

// watchTerminal has nothing to hear here: the size is asked for at each drawing.
func watchTerminal(*live.Screen) (end func()) { return func() {} }
