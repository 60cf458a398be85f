package observe

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var epoch = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func clock(seconds float64) time.Time {
	return epoch.Add(time.Duration(seconds * float64(time.Second)))
}

// told is a page of one source with one worker, w.
func worker(source string, t float64, r Reading) Snapshot {
	return Snapshot{Source: source, At: clock(t), Engines: map[string]Reading{"w": r}}
}

func front(source string, t float64, r Reading) Snapshot {
	return Snapshot{Source: source, At: clock(t), Frontend: r}
}

func failed(source string, t float64, err error) Snapshot {
	return Snapshot{Source: source, At: clock(t), Err: err}
}

var approx = cmpopts.EquateApprox(0, 1e-9)

func TestStats(t *testing.T) {
	for name, c := range map[string]struct {
		times  []float64
		values []float64
		metric Metric
		want   Stat // over 0 to 10 s
		absent bool
	}{
		"a gauge is weighted with time": {[]float64{0, 1, 5, 10}, []float64{8, 8, 0, 0}, Running, Stat{Mean: (8 + 16) / 10.0, Min: 0, Max: 8, N: 4}, false},
		"readings around are cut":       {[]float64{-2, 2, 6, 10, 14}, []float64{0, 4, 4, 4, 0}, Running, Stat{Mean: (2*3 + 8*4) / 10.0, Min: 2, Max: 4, N: 3}, false},
		"one reading":                   {[]float64{3}, []float64{7}, Running, Stat{Mean: 7, Min: 7, Max: 7, N: 1}, false},
		"nothing in a gap":              {[]float64{0, 2, 9, 10}, []float64{1, 1, 5, 5}, Running, Stat{Mean: (2 + 5) / 3.0, Min: 1, Max: 5, N: 4}, false},
		"none near":                     {[]float64{-20, 30}, []float64{1, 1}, Running, Stat{}, true},
		"a counter's growth":            {[]float64{0, 5, 10}, []float64{100, 110, 150}, Preemptions, Stat{Mean: 5, Min: 2, Max: 8, Delta: 50, N: 3}, false},
		"a reset is bridged":            {[]float64{0, 4, 8, 10}, []float64{100, 140, 8, 12}, Preemptions, Stat{Mean: 5.2, Min: 2, Max: 10, Delta: 52, N: 4}, false},
		"a counter across a gap":        {[]float64{-5, 15}, []float64{0, 200}, Preemptions, Stat{Mean: 10, Min: 10, Max: 10, Delta: 100}, false},
		"one reading of a counter":      {[]float64{3}, []float64{7}, Preemptions, Stat{}, true},
		"two readings at once":          {[]float64{0, 5, 5, 10}, []float64{0, 5, 5, 10}, Preemptions, Stat{Mean: 1, Min: 1, Max: 1, Delta: 10, N: 4}, false},
	} {
		t.Run(name, func(t *testing.T) {
			var all []Snapshot
			for i, s := range c.times {
				all = append(all, worker("p", s, Reading{c.metric: c.values[i]}))
			}
			span := Summarize(all, clock(0), clock(10))
			if c.absent {
				if len(span.Workers) > 0 && len(span.Workers[0].Stats) > 0 {
					t.Errorf("got %+v", span.Workers)
				}
				return
			}
			if diff := cmp.Diff(c.want, span.Workers[0].Stats[c.metric], approx); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// A counter that was not on the page yet was zero.
func TestCounterAppears(t *testing.T) {
	span := Summarize([]Snapshot{front("f", 0, Reading{Active: 1}), front("f", 10, Reading{Active: 1, Shed: 30})}, clock(0), clock(10))
	if got := span.Frontend[Shed]; got.Delta != 30 {
		t.Errorf("got %+v, want a growth of 30", got)
	}
	span = Summarize([]Snapshot{front("f", 0, Reading{Shed: 20}), front("f", 10, Reading{Shed: 30})}, clock(0), clock(10))
	if got := span.Frontend[Shed]; got.Delta != 10 {
		t.Errorf("got %+v, want a growth of 10", got)
	}
}

// A frontend's sum: counters and gauges add up, settings do not.
// Frontends are counted at both ends: one that came late, one whose port is
// closed at the end, and one that is only too busy to answer.
func TestFrontendsAreCounted(t *testing.T) {
	var all []Snapshot
	for second := -1.0; second <= 11; second++ {
		all = append(all, front("a", second, Reading{Active: 1}))
		if second >= 7 {
			all = append(all, front("late", second, Reading{Active: 1}))
		}
		if second < 6 {
			all = append(all, front("gone", second, Reading{Active: 1}), front("busy", second, Reading{Active: 1}))
		} else {
			all = append(all, failed("gone", second, syscall.ECONNREFUSED), failed("busy", second, errors.New("timeout")))
		}
	}
	got := Summarize(all, clock(0), clock(10))
	if got.Frontends != 4 || got.FrontendsStart != 3 || got.FrontendsEnd != 3 {
		t.Errorf("%d frontends, %d at the start, %d at the end; want 4, 3, 3", got.Frontends, got.FrontendsStart, got.FrontendsEnd)
	}
}

func TestFrontendsAreSummed(t *testing.T) {
	var all []Snapshot
	for i := range 11 {
		s := float64(i)
		all = append(all,
			front("a", s, Reading{Active: s, FrontendTokens: 10 * s, MaxNumSeqs: 16, UptimeS: s}),
			front("b", s+0.5, Reading{Active: 10 - s, FrontendTokens: 5 * s, MaxNumSeqs: 16, UptimeS: 100 + s}))
	}
	got := Summarize(all, clock(1), clock(9))
	want := Stats{
		// b is read half a second later: 10.5 at every time.
		Active:         {Mean: 10.5, Min: 10.5, Max: 10.5, N: 8},
		FrontendTokens: {Mean: 15, Min: 15, Max: 15, Delta: 120, N: 8},
		MaxNumSeqs:     {Mean: 16, Min: 16, Max: 16, N: 8},
		UptimeS:        {Mean: 54.75, Min: 1, Max: 108.5, N: 8},
	}
	if got.Frontends != 2 {
		t.Errorf("%d frontends", got.Frontends)
	}
	if diff := cmp.Diff(want, got.Frontend, approx); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// noisy are pages of three sources with resets, gaps and failures.
func noisy() []Snapshot {
	rng := rand.New(rand.NewPCG(7, 7))
	var all []Snapshot
	for _, source := range []string{"a", "b", "c"} {
		tokens := 0.0
		for s := rng.Float64(); s < 60; s += 0.5 + rng.Float64() + math.Floor(rng.Float64()*1.05)*6 {
			tokens += math.Floor(rng.Float64() * 50)
			switch rng.IntN(20) {
			case 0:
				all = append(all, failed(source, s, errors.New("no answer")))
				continue
			case 1:
				tokens = 0
			}
			r := Reading{OutputTokens: tokens, Running: float64(rng.IntN(9)), UptimeS: s}
			page := worker(source, s, r)
			if source == "a" {
				page.Engines = nil
				page.Frontend = Reading{FrontendTokens: tokens, Active: float64(rng.IntN(9))}
			}
			if source == "b" {
				page.Engines = map[string]Reading{"v": r}
			}
			all = append(all, page)
		}
	}
	return all
}

// A span is the sum of its parts: counters exactly, gauges with their time.
func TestSplitAddsUp(t *testing.T) {
	all := noisy()
	delta := func(from, to float64) map[string]float64 {
		s := Summarize(all, clock(from), clock(to))
		out := map[string]float64{"frontend": s.Frontend[FrontendTokens].Delta}
		for _, w := range s.Workers {
			out[w.ID] = w.Stats[OutputTokens].Delta
		}
		return out
	}
	for _, cut := range []float64{3, 7.25, 21, 29.999, 41.5} {
		whole, left, right := delta(2, 50), delta(2, cut), delta(cut, 50)
		for id, want := range whole {
			if got := left[id] + right[id]; math.Abs(got-want) > 1e-6 || want == 0 {
				t.Errorf("cut at %v: %s grew by %v, the parts by %v", cut, id, want, got)
			}
		}
	}
}

func TestOrderDoesNotMatter(t *testing.T) {
	all := noisy()
	want := Summarize(all, clock(2), clock(50))
	rng := rand.New(rand.NewPCG(1, 2))
	for range 5 {
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		if diff := cmp.Diff(want, Summarize(all, clock(2), clock(50)), cmpopts.EquateApprox(0, 1e-9), cmp.AllowUnexported()); diff != "" {
			t.Fatalf("(-want +got)\n%s", diff)
		}
	}
	if _, err := json.Marshal(want); err != nil {
		t.Error(err)
	}
}

func TestSpanWithoutLength(t *testing.T) {
	if got := Summarize(noisy(), clock(5), clock(5)); got.Scrapes != 0 || got.Workers != nil {
		t.Errorf("got %+v", got)
	}
}

// The worst node counts, and pressure is a share of time.
func TestNodesAndGPUs(t *testing.T) {
	var all []Snapshot
	for i := range 11 {
		s := float64(i)
		all = append(all, Snapshot{Source: "n1", At: clock(s), Node: Reading{CPUPressure: 0.5 * s, MemPressure: 7}},
			Snapshot{Source: "n2", At: clock(s), Node: Reading{CPUPressure: 100 + 0.25*s}},
			Snapshot{Source: "g", At: clock(s), GPUs: map[string]Reading{"GPU-a": {PowerW: 700, XID: math.Floor(s / 8)}}})
	}
	got := Summarize(all, clock(0), clock(10))
	if diff := cmp.Diff(Stats{CPUPressure: {Mean: 0.5, Min: 0.5, Max: 0.5, Delta: 5, N: 11}, MemPressure: {N: 11}}, got.Node, approx); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if g := got.GPUs["GPU-a"]; g[PowerW].Mean != 700 || g[XID].Max != 1 || g[XID].Min != 0 {
		t.Errorf("GPU %+v", g)
	}
	if got.LongestGapS != 0 || got.Frontends != 0 {
		t.Errorf("neither engine nor frontend is watched, got %+v", got)
	}
}

var errSlow = fmt.Errorf("reading: %w", errors.New("deadline exceeded"))
var errGone = fmt.Errorf("reading: %w", syscall.ECONNREFUSED)

func TestWatchedHowWell(t *testing.T) {
	all := []Snapshot{failed("dcgm", 1, errGone), failed("dcgm", 2, errGone)}
	for _, s := range []float64{0, 1, 2, 5, 6, 7, 8} {
		all = append(all, worker("w", s, Reading{Running: 1}))
	}
	all = append(all, failed("w", 3, errSlow), failed("w", 4, errSlow), failed("w", 40, errSlow))
	got := Summarize(all, clock(0.5), clock(10))
	if got.Scrapes != 6 || got.Missed != 2 || got.LongestGapS != 3 || !cmp.Equal(got.Unanswered, []string{"dcgm"}) {
		t.Errorf("got %+v; want 6 scrapes, 2 missed, a gap of 3 s, dcgm unanswered", got)
	}
	if got := Summarize(all, clock(7.5), clock(10)); got.LongestGapS != 2 {
		t.Errorf("gap %v, want the last 2 s", got.LongestGapS)
	}
}
