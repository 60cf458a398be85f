package selftest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/perfsweep/perfsweep/loadgen/pacer"
)

// Serve runs the paced server until ctx ends or stdin does. It prints its URL
// on a line, and at the end the truth without the first skip requests as one
// line of JSON.
func Serve(ctx context.Context, addr string, p pacer.Params, skip int, stdin io.Reader, stdout io.Writer) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("listening on %s: %w; choose another --listen", addr, err)
	}
	s, err := pacer.New(p)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	if _, err := fmt.Fprintf(stdout, "http://%s\n", l.Addr()); err != nil {
		return errors.Join(fmt.Errorf("printing the URL: %w", err), s.Close())
	}
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, stdin) // whatever ends it, the other side has gone
		close(ended)
	}()
	select {
	case <-ctx.Done():
	case <-ended:
	case err = <-served:
		return errors.Join(err, s.Close())
	}
	if err := s.Close(); err != nil {
		return fmt.Errorf("closing the paced server: %w", err)
	}
	if err := json.NewEncoder(stdout).Encode(s.Truth(skip)); err != nil {
		return fmt.Errorf("printing what the server saw: %w", err)
	}
	return nil
}
