package sweep

import (
	"encoding/json"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
)

// SchemaVersion is the version of the journal's lines.
const SchemaVersion = 1

// Effort trades time for certainty; it is part of the fingerprint.
type Effort string

// The efforts of knee.md §17.
const (
	Quick    Effort = "quick"
	Standard Effort = "standard"
	Full     Effort = "full"
)

// Fingerprint identifies what was measured. Two different fingerprints are
// never pooled or compared silently. An empty field is unknown; unknown equals
// unknown only within one journal.
type Fingerprint struct {
	Target      string               `json:"target"` // userinfo removed; fault keys of a simulator removed
	Simulated   bool                 `json:"simulated"`
	Model       string               `json:"model"`
	GPUs        int                  `json:"gpus"`
	Workload    loadgen.WorkloadSpec `json:"workload"`
	Effort      Effort               `json:"effort"`
	RoutingMode string               `json:"routing_mode,omitempty"`
	StartMode   string               `json:"start_mode,omitempty"`
	Deployment  string               `json:"deployment_id,omitempty"`
	ToolVersion string               `json:"tool_version"`
	// How requests were made, where it was not the usual way: the API, the
	// client, the protocol, the way to the server, and what was added to
	// requests. Of headers only the names are kept, of a proxy only its host.
	Endpoint     loadgen.Endpoint           `json:"endpoint,omitempty"`
	Transport    loadgen.TransportKind      `json:"transport,omitempty"`
	HTTP2        bool                       `json:"http2,omitempty"`
	UnixSocket   string                     `json:"unix_socket,omitempty"`
	Proxy        string                     `json:"proxy,omitempty"`
	ExtraHeaders []string                   `json:"extra_headers,omitempty"`
	ExtraBody    map[string]json.RawMessage `json:"extra_body,omitempty"`
	// Labels hold what a URL cannot tell: image digest, precision, GPU
	// product, GPUs per worker, workers, frontends, driver.
	Labels map[string]string `json:"labels,omitempty"`
}

// Purpose says why a run was made.
type Purpose string

// The purposes, in the order in which a campaign comes to them.
const (
	Coarse  Purpose = "coarse"  // ascending powers of two
	Recheck Purpose = "recheck" // reproduces a stop, or the best level between
	Extend  Purpose = "extend"  // downwards, for enough levels below a stop
	Second  Purpose = "second"  // second pass in random order
	Split   Purpose = "split"   // more runs where a pair disagreed
	Refine  Purpose = "refine"  // half-octave neighbours of the knee
	Next    Purpose = "next"    // the ladder value above the operating point
	Confirm Purpose = "confirm" // gate + steady attempts at the operating point
	Prove   Purpose = "prove"   // O-4: a given point, its half and the next
	Check   Purpose = "check"   // a regression check at a fixed point
	Pulse   Purpose = "pulse"   // near the knee, for the capacity pulse of checks only
)

// Step is one run to make.
type Step struct {
	ConcurrencyPerGPU int             `json:"concurrency_per_gpu"`
	Kind              loadgen.RunKind `json:"kind"`
	Purpose           Purpose         `json:"purpose"`
	// Why is one sentence for a human.
	Why string `json:"why"`
}

// Run is one journal entry: a step, what it measured, and which run gates it
// failed. A run with violations is INVALID: kept, never used, never "slow".
// Whoever reads a journal judges its runs again (see ReadJournal).
type Run struct {
	Seq  int  `json:"seq"` // from 1, in the order of the journal
	Step Step `json:"step"`
	// Window numbers the windows of a campaign from 1; lines written before
	// windows were recorded have none, and belong to the first. Deployment is
	// what was measured in it, where it was stated.
	Window     int    `json:"window,omitempty"`
	Deployment string `json:"deployment_id,omitempty"`
	// Target is where that deployment is found, if not where the campaign began.
	Target  string    `json:"target,omitempty"`
	Started time.Time `json:"started"`
	// Workers were counted around the run, nil where the server lists none;
	// Servers were heard during it, nil where nothing was.
	Workers    *Workers       `json:"workers,omitempty"`
	Servers    *Servers       `json:"servers,omitempty"`
	Result     loadgen.Result `json:"result"`
	Violations []Violation    `json:"violations,omitempty"`
}

// Valid reports whether the run passed every run gate.
func (r Run) Valid() bool { return len(r.Violations) == 0 }

// Violation is a run gate (V1–V9) that a run failed.
type Violation struct {
	Gate      string `json:"gate"` // "V2"
	Observed  string `json:"observed"`
	Threshold string `json:"threshold"`
	Remedy    string `json:"remedy"`
}

// Curve is what a journal holds: the campaign and its runs.
type Curve struct {
	// ID tells a campaign from others where it leaves things outside of this
	// process, such as in a cluster; "" where it leaves none.
	ID          string            `json:"id,omitempty"`
	Fingerprint Fingerprint       `json:"fingerprint"`
	Plan        Plan              `json:"plan"`
	Started     time.Time         `json:"started"`
	Preflight   loadgen.Preflight `json:"preflight"`
	// Configuration is the campaign file that it was begun with, nil without one.
	Configuration *Configuration `json:"configuration,omitempty"`
	Runs          []Run          `json:"runs"`
	// Bridge are pairs of runs by AIPerf and by this tool.
	Bridge []BridgePair `json:"bridge,omitempty"`
	// Rejudged says of a journal that was read which runs fail other gates than
	// it records, "" if none do.
	Rejudged string `json:"-"`
}
