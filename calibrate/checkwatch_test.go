package calibrate

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/sweep"
)

// A check of an endpoint that stood still before any load has any number of
// attempts; each run of the fixture lasts a minute. Read again it is judged as it
// was when it was made.
func TestCheckThatWatches(t *testing.T) {
	const x, p99 = 21197, 677
	for _, row := range []struct {
		name   string
		made   int
		watch  time.Duration
		fail   map[int]string
		want   Verdict
		reason string
	}{
		{"six attempts", 6, 12 * time.Minute, nil, Pass, "median of 6 valid attempts of 6"},
		{"twelve", 12, 24 * time.Minute, nil, Pass, "median of 12 valid attempts of 12"},
		{"two INVALID of eight", 8, 14 * time.Minute, map[int]string{0: "V8", 5: "V2"}, Pass, "median of 6 valid attempts of 8"},
		{"three INVALID of eight", 8, 13 * time.Minute, map[int]string{0: "V8", 5: "V2", 7: "V8"}, Inconclusive, "5 of 8 attempts"},
		{"a stall in the sixth", 6, 20 * time.Minute, map[int]string{5: "V6"}, Inconclusive, "stood still before any load"},
		{"cut short", 6, 12*time.Minute + time.Second, nil, Inconclusive, "watched for 12m0s of the 12m1s"},
		{"three of many", 3, 12 * time.Minute, nil, Inconclusive, "watched for 6m0s of the 12m0s"},
		{"one more than it watches", 7, 12 * time.Minute, nil, Inconclusive, "2 runs at 128 per GPU were added to a check that had ended"},
		{"four without a reason to watch", 4, 0, nil, Inconclusive, "2 runs at 128 per GPU were added"},
		{"three after two INVALID", 5, 0, map[int]string{0: "V2", 1: "V2"}, Pass, "median of 3 valid attempts of 5"},
		{"added after two stalls", 6, 0, map[int]string{0: "V6", 1: "V6"}, Inconclusive, "stalled"},
	} {
		f := newFixture()
		f.attempts(sweep.Check, 128, slices.Repeat([]float64{x}, row.made), slices.Repeat([]float64{p99}, row.made))
		f.curve.Plan.MinWatch = row.watch
		for _, i := range slices.Backward(slices.Sorted(maps.Keys(row.fail))) {
			f.fail(i, row.fail[i])
		}
		r := Check(testGate(), f.curve, 8, nil)
		if r.Verdict != row.want || !strings.Contains(r.Reasons[0], row.reason) {
			t.Errorf("%s: %s %q", row.name, r.Verdict, r.Reasons)
		}
	}
}

// What the preflight saw demands a watch, whatever the plan holds.
func TestWatchOfThePreflight(t *testing.T) {
	for _, row := range []struct {
		plan time.Duration
		slow float64
		want Verdict
	}{
		{0, 30, Pass}, {0, 60000, Inconclusive}, {1, 60000, Inconclusive}, {10 * time.Minute, 60000, Inconclusive}, {0, 2000, Pass}, {0, 1e300, Inconclusive},
	} {
		f := checkFixture([]float64{21197, 21500, 20900}, steadyP99[:3])
		f.curve.Plan.MinWatch, f.curve.Preflight.TTFTMS, f.curve.Preflight.SlowestTTFTMS = row.plan, 30, row.slow
		r := Check(testGate(), f.curve, 8, nil)
		if r.Verdict != row.want || row.want == Inconclusive && !strings.Contains(r.Reasons[0], "stood still before any load") ||
			row.want == Inconclusive && strings.Contains(r.Reasons[0], "new journal") != (row.plan < sweep.StallWatch(f.curve.Preflight)) {
			t.Errorf("plan %v, slowest %g ms: %s %q", row.plan, row.slow, r.Verdict, r.Reasons)
		}
	}
}
