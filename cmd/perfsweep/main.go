// Command perfsweep measures where an LLM deployment stops gaining throughput
// from concurrency, and turns that into gates that a reviewer can defend.
package main

import (
	"context"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/kube"
)

// version is stamped by the Makefile.
var version = "dev"

func main() { os.Exit(realMain()) }

func realMain() int {
	// A reader that goes away ("2>&1 | head") must not end a measurement:
	// without this the first line written to a closed pipe kills the process.
	signal.Ignore(syscall.SIGPIPE)
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	// A terminal that closes must leave neither AIPerf of --bridge nor pods behind; under
	// nohup the campaign is to go on.
	if !signal.Ignored(syscall.SIGHUP) {
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	defer stop()
	// The first signal ends a run in order, the second one ends the process.
	context.AfterFunc(ctx, stop)
	// net/http logs bytes that a server sent unasked, which may echo a secret.
	log.SetOutput(io.Discard)
	kube.SilenceLibrary()
	return run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}
