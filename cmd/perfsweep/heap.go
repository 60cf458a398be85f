package main

import (
	"os"
	"runtime/debug"
)

// loadGCPercent is GOGC while a load runs. Streams keep their memory and
// allocate a few KiB a request, so an early collection is rare and cheap, and
// the memory of a thousand streams stays near what is in use.
const loadGCPercent = 25

// leanHeap keeps the heap small until its result is called, unless the user has
// set GOGC.
func leanHeap() (restore func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(loadGCPercent)
	return func() { debug.SetGCPercent(before) }
}
