package loadgen

import (
	"errors"
	"net/http"
	"slices"
	"strings"
)

// NotYetError is the failure of a preflight that a server gives which is about
// to be ready: nothing takes connections, no model is listed, or the one that is
// has no worker behind it (404, then 500 for a minute: ai-dynamo/dynamo issue
// 2296). A preflight that is made again later may succeed.
type NotYetError struct{ Err error }

func (e *NotYetError) Error() string { return e.Err.Error() }
func (e *NotYetError) Unwrap() error { return e.Err }

// early are the statuses of a server that is starting, or of what stands before
// one that is not there yet. 404 is one only of a model that was listed.
var early = [...]int{
	http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout,
}

// lastAnswer remembers what became of the last request for the list of models.
type lastAnswer struct {
	next   http.RoundTripper
	status int // 0 without an answer
	err    error
}

// RoundTrip implements http.RoundTripper.
func (l *lastAnswer) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := l.next.RoundTrip(r)
	l.status, l.err = 0, err
	if err == nil {
		l.status = resp.StatusCode
	}
	return resp, err
}

// judge makes a failure one of a server that is about to be ready, if it is.
func (l *lastAnswer) judge(err error) error {
	var bad *BadInputError
	if err == nil || errors.As(err, &bad) {
		return err
	}
	refused := false
	if l.err != nil && !certificate(l.err) {
		o, _ := sendFailure(l.err)
		refused = o == Connect
	}
	if refused || slices.Contains(early[:], l.status) {
		return &NotYetError{err}
	}
	return err
}

// notYet reports whether a probe failed as one of a model that was listed before
// its workers can serve.
func (r reply) notYet() bool {
	return r.outcome == Connect || r.outcome == Shed || r.outcome == HTTPStatus &&
		slices.ContainsFunc([]string{"404", "500", "502", "504"}, func(s string) bool { return strings.HasPrefix(r.text, "status "+s) })
}
