package fleet

import (
	"encoding/json"

	"github.com/perfsweep/perfsweep/loadgen"
)

// protocolVersion changes with what the two sides say to each other: they are
// the same binary, or nothing is measured.
const protocolVersion = 2

// The calls of a control server. Each takes and gives JSON.
const (
	pathClock     = "/v1/clock"
	pathPrepare   = "/v1/prepare"
	pathPreflight = "/v1/preflight"
	pathAwait     = "/v1/await"
	pathGo        = "/v1/go"
	pathStop      = "/v1/stop"
	pathPrint     = "/v1/print"
	pathPart      = "/v1/part"
	pathGet       = "/v1/get"
)

// order is a run, or a preflight, as a generator is told of it. It holds no
// secret: the API key is the generator's own.
type order struct {
	Version int    `json:"version"`
	Run     string `json:"run"` // names it, here and in the printed lines

	BaseURL      string                     `json:"base_url"`
	Model        string                     `json:"model,omitempty"`
	Concurrency  int                        `json:"concurrency,omitempty"`
	Kind         loadgen.RunKind            `json:"kind,omitempty"`
	Limits       loadgen.Limits             `json:"limits"`
	Objective    loadgen.Objective          `json:"objective"`
	Share        loadgen.Share              `json:"share"`
	FirstRequest uint64                     `json:"first_request"`
	Endpoint     loadgen.Endpoint           `json:"endpoint,omitempty"`
	Transport    loadgen.TransportKind      `json:"transport,omitempty"`
	HTTP2        bool                       `json:"http2,omitempty"`
	Body         map[string]json.RawMessage `json:"body,omitempty"`
	Spec         loadgen.WorkloadSpec       `json:"spec"`
	// Preflight is what the workload is calibrated with.
	Preflight loadgen.Preflight `json:"preflight"`
}

// call is what the smaller calls say.
type call struct {
	Run string `json:"run,omitempty"`
	// Step is the one to go on from, or the last one that was seen.
	Step     loadgen.Step `json:"step,omitempty"`
	AtUnixNS int64        `json:"at_unix_ns,omitempty"`
	WaitMS   int64        `json:"wait_ms,omitempty"`
	Abort    bool         `json:"abort,omitempty"`
	Frames   []int        `json:"frames,omitempty"`
	Offset   int          `json:"offset,omitempty"`
	URL      string       `json:"url,omitempty"`
}

// reply is what every call gives.
type reply struct {
	Error    string `json:"error,omitempty"`
	BadInput bool   `json:"bad_input,omitempty"`
	// Unknown says that the run is not one of this process, Busy that another
	// one is in progress.
	Unknown bool `json:"unknown,omitempty"`
	Busy    bool `json:"busy,omitempty"`

	NowUnixNS int64   `json:"now_unix_ns,omitempty"`
	Process   string  `json:"process,omitempty"`
	Status    *status `json:"status,omitempty"`
	Data      []byte  `json:"data,omitempty"`
	// Of a relayed answer.
	Code        int    `json:"code,omitempty"`
	ContentType string `json:"content_type,omitempty"`
}

// status is where a run or a preflight stands.
type status struct {
	Step     loadgen.Step `json:"step,omitempty"` // the last one that it came to
	Finished bool         `json:"finished,omitempty"`
	// Why it could not be made or was interrupted, of a finished one.
	Error    string `json:"error,omitempty"`
	BadInput bool   `json:"bad_input,omitempty"`
	// NotYet says that the server may only have to become ready.
	NotYet bool `json:"not_yet,omitempty"`
	// Interrupted says that it was ended from outside.
	Interrupted bool `json:"interrupted,omitempty"`

	InFlight  int64   `json:"in_flight,omitempty"`
	Completed int64   `json:"completed,omitempty"`
	Errors    int64   `json:"errors,omitempty"`
	Fraction  float64 `json:"fraction,omitempty"`
	// Waiting is what a preflight waits for, for so long.
	Waiting   string `json:"waiting,omitempty"`
	WaitingMS int64  `json:"waiting_ms,omitempty"`

	// Of what a finished run recorded: its size, compressed, and its SHA-256.
	Bytes int    `json:"bytes,omitempty"`
	Sum   string `json:"sum,omitempty"`

	Preflight *loadgen.Preflight `json:"preflight,omitempty"`
}
