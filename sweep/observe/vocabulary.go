package observe

import (
	"slices"
	"sync"
)

// scope says whose a metric is.
type scope int

const (
	ofFrontend scope = iota
	ofEngine
	ofWorker // of an engine as a whole, not of one rank
	ofGPU
	ofNode
)

// fold says what several series of one metric make together.
type fold int

const (
	most fold = iota // the largest: tensor-parallel ranks repeat one value
	sum              // they are parts
)

// form says how a value is read.
type form int

const (
	plain   form = iota
	share        // 0 to 1
	setting      // zero says unknown
	mask         // DCGM's bits of clock event reasons
	info         // the labels hold the facts
)

// word translates one name of a page. Of the words for one metric those with
// the lowest preference that a page has count, the others are fallbacks.
type word struct {
	name   string
	metric Metric
	scope  scope
	fold   fold
	form   form
	prefer int
	label  string // where not empty: only series with this label
	value  string // of this value
	hex    bool   // worker_id is in hexadecimal
	engine string // whose dialect it is
}

// vocabulary is every word by its name.
var vocabulary = sync.OnceValue(func() map[string][]word {
	all := slices.Concat(dynamoFrontend(), dynamoWorker(), dcgm(), pressure())
	for _, d := range engines() {
		for _, prefix := range d.prefixes {
			for _, w := range d.words {
				w.name, w.scope, w.engine = prefix+w.name, ofEngine, d.engine
				all = append(all, w)
			}
		}
	}
	out := map[string][]word{}
	for _, w := range all {
		out[w.name] = append(out[w.name], w)
	}
	return out
})

// counters are read through their growth only.
var counters = sync.OnceValue(func() map[Metric]bool {
	out := map[Metric]bool{}
	for _, m := range []Metric{
		Preemptions, PrefixQueries, PrefixHits, PromptTokens, OutputTokens, Requests, EngineErrors,
		EngineTTFTSum, EngineTTFTN, EngineITLSum, EngineITLN, QueueTimeSum, QueueTimeCount,
		Shed, PreprocessSum, PreprocessN, RouteSum, RouteN, SendSum, SendN, LoopStalls, FrontendTokens,
		ECCDouble, CPUPressure, MemPressure, IOPressure,
	} {
		out[m] = true
	}
	return out
})

// Counter says whether a metric is read through its growth only.
func (m Metric) Counter() bool { return counters()[m] }

// setting says whether a metric is one that a server is started with.
func (m Metric) setting() bool {
	return m == MaxNumSeqs || m == KVBlocks || m == KVBlockTokens || m == ContextTokens
}
