package sweep

import (
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
)

// The lengths of runs (knee.md §17).
const (
	lowLevel = 8 // below this many streams a GPU, fewer requests suffice (§8)

	standardMin     = 30 * time.Second
	standardConfirm = 60 * time.Second
	standardMax     = 180 * time.Second
	quickMin        = 3 * time.Second
	quickMax        = 8 * time.Second

	// A gate run sends AICR's number of requests; AICR's job ends after 15
	// minutes, so a longer run could never be repeated by the evaluator.
	gateMax      = 15 * time.Minute
	quickGateMax = 60 * time.Second

	maxRamp      = 30 * time.Second
	quickMaxRamp = 5 * time.Second

	// A server that is silent for this long is stuck: waiting longer than V6
	// needs to see it only costs time.
	maxSilence      = 60 * time.Second
	quickMaxSilence = 15 * time.Second
)

// Limits returns what a step of an effort must reach at totalStreams streams.
// e2e is the expected request latency (0 = unknown): the ramp spreads the
// first requests over about one residence time, so that the waves of equal
// requests do not stay in step.
func (e Effort) Limits(s Step, totalStreams int, e2e time.Duration) loadgen.Limits {
	n := int64(max(totalStreams, 1))
	if s.Kind == loadgen.Gate {
		if e == Quick {
			return loadgen.Limits{MinRequests: max(200, 6*n), MaxDuration: quickGateMax, StopOnSilence: quickMaxSilence}
		}
		return loadgen.Limits{MinRequests: max(1000, 8*n), MaxDuration: gateMax, StopOnSilence: maxSilence}
	}
	if e == Quick {
		return loadgen.Limits{
			MinRequests: max(200, 6*n), MinDuration: quickMin, MaxDuration: quickMax,
			Ramp: clampRamp(e2e, quickMaxRamp), StopOnSilence: quickMaxSilence,
		}
	}
	l := loadgen.Limits{
		MinRequests: max(1000, 10*n), MinDuration: standardMin, MaxDuration: standardMax,
		Ramp: clampRamp(e2e, maxRamp), StopOnSilence: maxSilence,
	}
	if s.ConcurrencyPerGPU < lowLevel {
		l.MinRequests = max(300, 10*n)
	}
	if s.Purpose == Confirm || s.Purpose == Check {
		l.MinDuration = standardConfirm
	}
	if e == Full {
		l.MinRequests, l.MinDuration, l.MaxDuration = 3*l.MinRequests, 3*l.MinDuration, 3*l.MaxDuration
	}
	return l
}

func clampRamp(e2e, most time.Duration) time.Duration { return min(max(e2e, 0), most) }

// P99Requests is the least number of requests whose TTFT p99 is used in
// standard and full runs (§17).
const P99Requests = 1000

// usesP99 reports whether an estimate has enough requests for its TTFT p99 to
// bear on the knee. Quick runs are first looks and use any; points of unknown
// effort came from elsewhere, without a number of requests.
func (e Effort) usesP99(requests int64) bool {
	return e != Standard && e != Full || requests >= P99Requests
}
