// Command perfsweep measures where an LLM deployment stops gaining throughput
// from concurrency, and turns that into gates that a reviewer can defend.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// version is stamped by the Makefile.
var version = "dev"

func main() { os.Exit(realMain()) }

func realMain() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}
