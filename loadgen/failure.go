package loadgen

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/textproto"
	"strings"
	"time"

	"github.com/perfsweep/perfsweep/loadgen/internal/http1"
)

var errConnectTimeout = errors.New("the time for a connection passed")

// connectTimeout is a connection that was not made in time. It names the step
// that took it: the name, or the connection itself.
type connectTimeout struct {
	addr  string
	after time.Duration
	err   error
}

func (e *connectTimeout) Error() string {
	var name *net.DNSError
	if errors.As(e.err, &name) {
		return fmt.Sprintf("the name server did not tell the address of %s within %v: %v", name.Name, e.after, e.err)
	}
	return fmt.Sprintf("no connection to %s within %v", e.addr, e.after)
}

func (e *connectTimeout) Unwrap() error { return e.err }

var errDrainTimeout = errors.New("the drain timeout passed with the request in flight")

// byCause replaces a failure by the reason for which this side gave up.
func byCause(ctx context.Context, o Outcome, text string) (Outcome, string) {
	switch cause := context.Cause(ctx); {
	case cause == nil:
		return o, text
	case errors.Is(cause, errRequestTimeout), errors.Is(cause, errDrainTimeout),
		errors.Is(cause, errFirstTokenTimeout), errors.Is(cause, errIdleTimeout):
		return Timeout, cause.Error()
	}
	return Cancelled, "the run was cancelled with the request in flight"
}

// sendFailure classifies a request that got no answer.
func sendFailure(err error) (Outcome, string) {
	var record tls.RecordHeaderError
	if errors.As(err, &record) {
		return Connect, "the server speaks plain HTTP, and its URL begins with https://: " + err.Error()
	}
	var protocol textproto.ProtocolError
	var malformed *http1.Error
	if errors.As(err, &protocol) || errors.As(err, &malformed) || strings.Contains(err.Error(), "malformed") {
		return Protocol, "the answer is not HTTP: " + err.Error()
	}
	var op *net.OpError
	var late *connectTimeout
	if errors.As(err, &op) && op.Op == "dial" || errors.As(err, &late) {
		return Connect, err.Error()
	}
	return Connect, "the connection broke before an answer: " + err.Error()
}

// statusOutcome classifies a status that is not 200.
func statusOutcome(status int) Outcome {
	switch status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, 529:
		return Shed
	}
	return HTTPStatus
}
