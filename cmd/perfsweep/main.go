// Command perfsweep measures where an LLM deployment stops gaining throughput
// from concurrency, and turns that into gates that a reviewer can defend.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

// version is stamped by the Makefile.
var version = "dev"

func main() { os.Exit(realMain()) }

// gcPercent trades memory, of which a run needs little, for fewer collections:
// each one delays the reading of tokens.
const gcPercent = 400

func realMain() int {
	debug.SetGCPercent(gcPercent)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}
