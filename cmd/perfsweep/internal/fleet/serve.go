package fleet

import (
	"context"
	"io"
)

// WorkerOptions say how a generator serves.
type WorkerOptions struct {
	// Listen is the address of the control server.
	Listen string
	// Token must come with every call (TokenHeader).
	Token string
	// APIKey goes with every request to the target; it is never sent to or from
	// the control server.
	APIKey string
	// Allow lists what this generator may be told to reach, as HOST:PORT, or
	// as HOST for all of its ports: targets, and where metrics are relayed from.
	Allow []string
	// Out takes the lines with what was recorded, Say remarks for a human.
	Out io.Writer
	Say func(format string, args ...any)
}

// Serve is a generator: it takes orders until ctx ends, and ends cleanly then.
func Serve(ctx context.Context, o WorkerOptions) error { return errSoon }
