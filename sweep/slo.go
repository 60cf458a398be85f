package sweep

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/perfsweep/perfsweep/loadgen"
)

// LatencyRun is what an objective asks of a valid run. The ITL of a request is
// (E2E − TTFT)/(tokens − 1), and ITLP99MS the 99th percentile over requests. A
// latency of 0 is absent.
type LatencyRun struct {
	ConcurrencyPerGPU   int
	TTFTP99MS, ITLP99MS float64
}

// SLOState says what the levels tell of an objective, exactly one.
type SLOState string

// The states. Only SLOCrossed locates where the objective stops being met;
// SLOMet says "at least", SLONotMet "below".
const (
	SLOCrossed      SLOState = "crossed"
	SLOMet          SLOState = "met_everywhere"
	SLONotMet       SLOState = "not_met"
	SLOInsufficient SLOState = "insufficient"
)

// SLO is the largest concurrency per GPU whose 99th percentiles are within an
// objective. It stands beside the knee: a knee is where throughput stops
// paying, this is where answers become too slow, and either may come first.
type SLO struct {
	Objective loadgen.Objective `json:"objective"`
	State     SLOState          `json:"state"`
	// ConcurrencyPerGPU is the crossing, or the highest level where every one
	// met the objective; 0 where none did or nothing is known.
	ConcurrencyPerGPU float64 `json:"concurrency_per_gpu,omitempty"`
	// Low and High are its 90 % interval. An open end is where the levels end:
	// the true one may lie beyond.
	Low      float64 `json:"low,omitempty"`
	High     float64 `json:"high,omitempty"`
	LowOpen  bool    `json:"low_open,omitempty"`
	HighOpen bool    `json:"high_open,omitempty"`
	// LevelMet is the highest level that meets the objective, LevelMissed the
	// next one, which does not; 0 where there is none.
	LevelMet    int `json:"level_met,omitempty"`
	LevelMissed int `json:"level_missed,omitempty"`
	// Binding is what is missed first: "ttft_p99" or "itl_p99".
	Binding string `json:"binding,omitempty"`
	// Levels are those judged, with what they were judged by.
	Levels []SLOLevel `json:"levels,omitempty"`
	// Reason says what is missing where the state is insufficient.
	Reason string   `json:"reason,omitempty"`
	Notes  []string `json:"notes,omitempty"`
}

// SLOLevel is one concurrency: medians over its runs, before the isotonic
// regression; absent where the objective has no such limit.
type SLOLevel struct {
	ConcurrencyPerGPU int     `json:"concurrency_per_gpu"`
	Runs              int     `json:"runs"`
	TTFTP99MS         float64 `json:"ttft_p99_ms,omitempty"`
	ITLP99MS          float64 `json:"itl_p99_ms,omitempty"`
}

const (
	sloReplicates = 400
	sloTail       = 0.05
	// The run-to-run deviation of ln p99 where no level was repeated, and the
	// least that it is believed to be: a few runs that agree prove no more. An
	// ITL over a whole answer is all but n/X and as steady as throughput.
	ttftNoise, ttftNoiseFloor = 0.15, 0.10
	itlNoise, itlNoiseFloor   = 0.03, 0.015
)

// FindSLO locates an objective on a curve. Each level's ln p99 is the median of
// its runs; an isotonic regression over the levels takes out dips, for more
// load never makes answers faster; between levels ln p99 is linear in ln n. The
// interval is that of a bootstrap of the levels' medians (their noise is pooled
// over levels and its own uncertainty is drawn as well), widened to the levels
// on either side: between two levels nothing but the order is known. Equal runs
// in any order give an equal answer to the last bit.
func FindSLO(o loadgen.Objective, runs []LatencyRun) SLO {
	if err := o.Validate(); err != nil || o.IsZero() {
		return SLO{State: SLOInsufficient, Reason: "no objective was given"}
	}
	s := SLO{Objective: o, State: SLOInsufficient}
	limits := limitsOf(o)
	levels := sloLevels(runs)
	for _, m := range limits {
		var without []string
		levels = slices.DeleteFunc(levels, func(l sloLevel) bool {
			if len(m.logs(l)) > 0 {
				return false
			}
			without = append(without, strconv.Itoa(l.n))
			return true
		})
		if len(without) > 0 {
			s.Notes = append(s.Notes, fmt.Sprintf("%s is missing and nothing judged at %s per GPU", m.what, strings.Join(without, ", ")))
		}
	}
	if len(levels) < 2 {
		s.Reason = fmt.Sprintf("two levels that tell what the objective limits are needed, and there are %d", len(levels))
		return s
	}
	s.Levels = described(levels, limits)
	c := newCrossing(levels, limits)
	for _, m := range c.limits {
		if m.df < 1 {
			s.Notes = append(s.Notes, fmt.Sprintf("no level was repeated; the noise of %s is assumed to be %.0f %%", m.what, 100*m.noise))
		}
	}
	s.locate(c)
	return s
}

// locate fills in the answer.
func (s *SLO) locate(c *crossing) {
	n, at, binding := c.estimate()
	first, last := c.n[0], c.n[len(c.n)-1]
	lo, hi := c.interval()
	if at >= 0 {
		s.LevelMet = int(c.n[at])
	}
	if at+1 < len(c.n) {
		s.LevelMissed, s.Binding = int(c.n[at+1]), binding
	}
	switch {
	case at < 0:
		s.State, s.LowOpen = SLONotMet, true
		s.Low, s.High = first, max(hi, first)
	case at+1 == len(c.n):
		s.State, s.ConcurrencyPerGPU = SLOMet, last
		s.Low, s.High = min(lo, last), last
	default:
		s.State, s.ConcurrencyPerGPU = SLOCrossed, n
		s.Low, s.High = min(lo, c.n[at]), max(hi, c.n[at+1])
	}
	if s.Low < first {
		s.Low, s.LowOpen = first, true
	}
	if s.High > last || s.State == SLOMet {
		s.High, s.HighOpen = last, true
	}
}
