package kube

import (
	"errors"
	"net"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// How long an API server that was there may be away, as one is that is upgraded,
// and how often it is asked meanwhile.
const (
	outage     = 2 * time.Minute
	askedAgain = time.Second
)

// patient asks an API server again that has answered before and does not now:
// what was brought up and measured until then need not be lost. A first contact
// is not repeated, so that a wrong address is told at once.
type patient struct {
	next http.RoundTripper
	met  *atomic.Bool // shared by all transports of a client
}

// RoundTrip implements http.RoundTripper.
func (p patient) RoundTrip(req *http.Request) (*http.Response, error) {
	for began := time.Now(); ; {
		resp, err := p.next.RoundTrip(req)
		full := err == nil && resp.StatusCode == http.StatusTooManyRequests && resendable(req)
		away := full || err != nil && repeatable(req, err) || err == nil && harmless(req) && slices.Contains(awayCodes[:], resp.StatusCode)
		if err == nil && (full || !away) { // its queue is full, so it is there
			p.met.Store(true)
		}
		if !away || !p.met.Load() || time.Since(began) >= outage || req.Context().Err() != nil {
			if err == nil && away {
				resp.Header.Del("Retry-After") // or the library begins anew
			}
			return resp, err
		}
		if err == nil {
			_ = resp.Body.Close() // an answer takes its place
		}
		timer := time.NewTimer(askedAgain)
		select {
		case <-timer.C:
		case <-req.Context().Done():
			timer.Stop()
			return nil, errors.Join(err, req.Context().Err())
		}
		req = req.Clone(req.Context())
		if req.GetBody != nil {
			if req.Body, err = req.GetBody(); err != nil {
				return nil, err
			}
		}
	}
}

// awayCodes are what stands before an API server says while that is away.
var awayCodes = [...]int{http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}

// harmless reports whether it does no harm to ask twice: what is removed is named by
// its UID.
func harmless(req *http.Request) bool {
	return req.Method == http.MethodGet || req.Method == http.MethodDelete
}

// repeatable reports whether a request that failed may be made again: one that
// was never sent may, whatever it is.
func repeatable(req *http.Request, err error) bool {
	if req.Context().Err() != nil || !resendable(req) {
		return false
	}
	var op *net.OpError
	return harmless(req) || errors.As(err, &op) && op.Op == "dial"
}

// resendable reports whether the body of a request is there a second time. What was
// refused for a full queue (429) was not done, whatever it is.
func resendable(req *http.Request) bool {
	return req.Body == nil || req.Body == http.NoBody || req.GetBody != nil
}

// passing reports whether an error of the API server may be gone a minute later:
// it does not answer, or says that the fault is its own, as where a webhook of
// the operator is being restarted.
func passing(err error) bool {
	status := apierrors.APIStatus(nil)
	if errors.As(err, &status) {
		code := status.Status().Code
		return code == http.StatusTooManyRequests || code >= http.StatusInternalServerError
	}
	var ours *apiError // without a status: no answer
	return errors.As(err, &ours)
}
