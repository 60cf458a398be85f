package loadgen

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/textproto"
	"strings"

	"github.com/perfsweep/perfsweep/loadgen/internal/http1"
)

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
	var protocol textproto.ProtocolError
	var malformed *http1.Error
	if errors.As(err, &protocol) || errors.As(err, &malformed) || strings.Contains(err.Error(), "malformed") {
		return Protocol, "the answer is not HTTP: " + err.Error()
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
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
