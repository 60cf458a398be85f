package main

import (
	"os"
	"runtime/debug"

	"github.com/perfsweep/perfsweep/loadgen"
)

// loadGCPercent is GOGC while a load runs. Streams keep their memory and
// allocate a few KiB a request, so an early collection is rare and cheap, and
// the memory of a thousand streams stays near what is in use.
const loadGCPercent = 25

// leanHeap keeps the heap small until its result is called, unless the user has
// set GOGC. A simulator in this process is left as it is: its garbage is its own.
func leanHeap(cfg *loadgen.Config) (restore func()) {
	if cfg.Dial != nil || os.Getenv("GOGC") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(loadGCPercent)
	return func() { debug.SetGCPercent(before) }
}
