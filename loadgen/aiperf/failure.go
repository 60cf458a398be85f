package aiperf

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/perfsweep/perfsweep/loadgen"
)

// failure is the error of a request in AIPerf's form.
type failure struct {
	Code    int    `json:"code,omitempty"`
	Type    string `json:"type"`
	Message string `json:"message"`
}

// statusCancelled is what AIPerf gives a request that it cancelled itself.
const statusCancelled = 499

// failureOf puts the outcome of a failed request into AIPerf's form: an HTTP
// status with its reason, or a type and what happened.
func failureOf(o loadgen.Outcome, text string) failure {
	switch o {
	case loadgen.HTTPStatus, loadgen.Shed:
		if f, ok := statusFailure(text); ok {
			return f
		}
	case loadgen.Cancelled:
		return failure{statusCancelled, "RequestCancellationError", text}
	}
	return failure{Type: failureTypes()[o], Message: text}
}

func failureTypes() map[loadgen.Outcome]string {
	return map[loadgen.Outcome]string{
		loadgen.HTTPStatus: "HTTPError", loadgen.Shed: "HTTPError",
		loadgen.Truncated: "TruncatedStreamError", loadgen.InBand: "InBandError", loadgen.Unfinished: "UnfinishedAnswerError",
		loadgen.Connect: "ConnectionError",
		loadgen.Timeout: "TimeoutError", loadgen.Protocol: "ProtocolError",
	}
}

// statusFailure takes the status from a text that begins "status 503 …: words",
// or with a Retry-After before the words.
func statusFailure(text string) (failure, bool) {
	rest, ok := strings.CutPrefix(text, "status ")
	head, words, _ := strings.Cut(rest, ": ")
	digits, reason, _ := strings.Cut(head, " ")
	code, err := strconv.Atoi(digits)
	if !ok || err != nil || code < 100 || code > 999 {
		return failure{}, false
	}
	if reason == "" {
		reason = cmp.Or(http.StatusText(code), "HTTPError")
	}
	return failure{code, reason, words}, true
}

// maxFailures bounds the different errors that a summary lists.
const maxFailures = 100

// failures count errors that are alike.
type failures map[failure]int64

func (fs failures) add(f failure) {
	if _, known := fs[f]; !known && len(fs) >= maxFailures {
		f.Message = "and others like it"
	}
	fs[f]++
}

// failureCount is one line of error_summary.
type failureCount struct {
	Details failure `json:"error_details"`
	Count   int64   `json:"count"`
}

// list puts the most frequent first.
func (fs failures) list() []failureCount {
	out := []failureCount{}
	for f, n := range fs {
		out = append(out, failureCount{f, n})
	}
	slices.SortFunc(out, func(a, b failureCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Details.Code, b.Details.Code),
			cmp.Compare(a.Details.Type, b.Details.Type), cmp.Compare(a.Details.Message, b.Details.Message))
	})
	return out
}
