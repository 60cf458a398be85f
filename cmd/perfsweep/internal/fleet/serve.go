package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
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
	// Alone is how long the generator stays when nobody calls it: whoever started
	// it may be gone. 0: for ever.
	Alone time.Duration
	// Out takes the lines with what was recorded, Say remarks for a human.
	Out io.Writer
	Say func(format string, args ...any)

	// dial replaces TCP in virtual time.
	dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

// minToken is the length below which a token can be guessed.
const minToken = 16

// Serve is a generator: it takes orders until ctx ends, or nobody has given any
// for o.Alone, and ends cleanly then.
func Serve(ctx context.Context, o WorkerOptions) error {
	if len(o.Token) < minToken {
		return &loadgen.BadInputError{Msg: fmt.Sprintf("a generator needs a token of at least %d characters", minToken)}
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.Listen)
	if err != nil {
		return fmt.Errorf("listening for orders: %w", err)
	}
	tasks, cancel := context.WithCancel(ctx)
	defer cancel()
	w := newWorker(tasks, o)
	s := &http.Server{Handler: w.handler(), ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10}
	o.Say("a generator takes orders on %s", l.Addr())
	stopped := make(chan error, 1)
	go func() { stopped <- s.Serve(l) }()
	left := w.alone(ctx)
	select {
	case err := <-stopped:
		return fmt.Errorf("taking orders: %w", err)
	case <-left:
		o.Say("nobody has called for %s: the generator ends", o.Alone)
	case <-ctx.Done():
	}
	cancel()
	rest, done := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer done()
	err = s.Shutdown(rest)
	w.mu.Lock()
	t := w.task
	w.mu.Unlock()
	if t != nil {
		select {
		case <-t.ended:
		case <-rest.Done():
		}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return s.Close()
	}
	return err
}
