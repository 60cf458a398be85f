package observe

import "time"

// Reading is what one scrape says of one thing. What a server does not publish
// is absent, never zero.
type Reading map[Metric]float64

// Snapshot is one page, read at one time and translated. Workers are named by
// WorkerID where the page tells ids, else by the page and the rank.
type Snapshot struct {
	At       time.Time
	Took     time.Duration
	Source   string // the page's address, free of secrets; the path of a folder on this machine
	Err      error  // nothing else is set then
	Frontend Reading
	Engines  map[string]Reading
	GPUs     map[string]Reading
	Node     Reading
	// Facts are strings that a page publishes of the engine's settings, for the
	// fingerprint: engine, version, router mode, prefix caching.
	Facts map[string]string
}

// Stat sums up a metric over a span. Of a gauge Mean is weighted with time. Of
// a counter Delta is the growth, resets bridged (a worker that restarts begins
// at zero), and Mean, Min and Max are the growth a second.
type Stat struct {
	Mean  float64 `json:"mean"`
	Min   float64 `json:"min"`
	Max   float64 `json:"max"`
	Delta float64 `json:"delta,omitempty"`
	N     int     `json:"n"` // scrapes that told it
}

// Stats is a Stat for each metric that was published.
type Stats map[Metric]Stat

// Worker is one engine over a span.
type Worker struct {
	ID string `json:"id"`
	// Page is the address of its own page, where that is not its only name and
	// tells of this worker only.
	Page  string `json:"page,omitempty"`
	Stats Stats  `json:"stats"`
	// Restarted and Left say that its counters began anew, or that it was no
	// longer there at the end; Joined that it was not there at the start.
	// SilentS is its longest time without a new token while requests were
	// running, UnreadS its longest time without a reading: a worker that hangs
	// may not answer at all.
	Restarted bool    `json:"restarted,omitempty"`
	Left      bool    `json:"left,omitempty"`
	Joined    bool    `json:"joined,omitempty"`
	SilentS   float64 `json:"silent_s,omitempty"`
	UnreadS   float64 `json:"unread_s,omitempty"`
}

// Span is what the servers said over the measured part of one run.
type Span struct {
	From, To time.Time `json:"-"`
	// Scrapes, Missed and LongestGapS say how well it was watched: attribution
	// rests on nothing that lies in a gap. Sources that never told anything are
	// not counted but named, as a wrong address is no gap.
	Scrapes     int      `json:"scrapes"`
	Missed      int      `json:"missed,omitempty"`
	LongestGapS float64  `json:"longest_gap_s,omitempty"`
	Unanswered  []string `json:"unanswered,omitempty"`
	// Mixed are addresses that answer with the pages of several servers in turn.
	// What they say of servers is left out.
	Mixed []string `json:"mixed,omitempty"`
	// Frontends answered at any time, FrontendsStart when the span began and
	// FrontendsEnd when it ended: one that refuses connections is gone, one that
	// only takes long for its page is not.
	Frontends      int              `json:"frontends,omitempty"`
	FrontendsStart int              `json:"frontends_start,omitempty"`
	FrontendsEnd   int              `json:"frontends_end,omitempty"`
	Frontend       Stats            `json:"frontend,omitempty"` // summed over frontends
	Workers        []Worker         `json:"workers,omitempty"`  // in the order of their ids
	GPUs           map[string]Stats `json:"gpus,omitempty"`
	Node           Stats            `json:"node,omitempty"` // of the servers' nodes, the worst
	Here           Stats            `json:"here,omitempty"` // of the machine of this tool
	Events         []Event          `json:"events,omitempty"`
}

// EventKind says what stood still.
type EventKind string

// The kinds of events (field cases: NVIDIA/aicr, inference-perf-fluctuation §4).
const (
	GlobalSilence EventKind = "global_silence" // no token on any stream
	WorkerSilence EventKind = "worker_silence" // one worker made none, others did
	SlowWindows   EventKind = "slow_windows"   // throughput below half of the median
)

// Event is a stall with its start, its length and the workers involved.
type Event struct {
	Kind    EventKind `json:"kind"`
	StartS  float64   `json:"start_s"` // from the start of the measured part
	LengthS float64   `json:"length_s"`
	Workers []string  `json:"workers,omitempty"`
	// Depth is the throughput in it as a share of the median window.
	Depth float64 `json:"depth"`
}

// Client is what the load generator knows of the same span. A value that it
// does not know is 0.
type Client struct {
	Streams  int     // asked for, in total
	InFlight float64 // mean of requests in flight
	// ClientBound says that the run failed V8, or V3 although every request
	// ended well: after a failure a stream pauses.
	ClientBound bool
	ClientWhy   string
	// Suspended is when the tool itself did not run; it read no token then.
	Suspended []Suspension
	// LagP99MS is how late it read what the kernel had, RunQueueShare for how
	// long its threads waited for a CPU, over wall time.
	LagP99MS, RunQueueShare float64
	OK, Shed, Other         int64 // requests by outcome
	OutputTokPerSec         float64
	TTFTP50MS               float64
	ITLMeanMS               float64
	GapP50MS                float64 // between chunks
	// Series is tokens in windows of SeriesS from From on.
	Series           []float64
	SeriesS          float64
	LongestSilenceMS float64
}

// Suspension is a stretch in which the load generator did not run, in seconds
// from the start of the measured part.
type Suspension struct{ StartS, LengthS float64 }

// Level is one concurrency, measured: what both sides say of it.
type Level struct {
	ConcurrencyPerGPU int
	GPUs              int
	// Workers is how many the deployment is meant to have; 0 = unknown.
	Workers int
	Client  Client
	Span    Span
}

// Bottleneck is what holds a level back.
type Bottleneck string

// The bottlenecks, by the names that reports and JSON use.
const (
	BatchCap      Bottleneck = "engine_batch_cap"
	KVCapacity    Bottleneck = "kv_capacity"
	Compute       Bottleneck = "compute"
	FrontendBound Bottleneck = "frontend"
	LoadGenerator Bottleneck = "load_generator"
	Imbalance     Bottleneck = "imbalance"
	Stalled       Bottleneck = "stall"
	Shedding      Bottleneck = "shedding"
	Headroom      Bottleneck = "none"    // nothing saturates at this level
	Unknown       Bottleneck = "unknown" // too little, or contradicting, evidence
)

// Finding is the primary bottleneck of a level with its evidence: one line a
// fact, with the numbers. Against holds what speaks for another cause; a
// finding that it outweighs is Unknown, never a guess.
type Finding struct {
	ConcurrencyPerGPU int        `json:"concurrency_per_gpu"`
	Bottleneck        Bottleneck `json:"bottleneck"`
	Evidence          []string   `json:"evidence"`
	Against           []string   `json:"against,omitempty"`
	Workers           []string   `json:"workers,omitempty"` // those involved
	Try               string     `json:"try,omitempty"`     // what to change
}
