package knee_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/knee/kneetest"
)

// Explaining changes nothing, and what is explained is what was decided.
func TestLawReasoningIsTheDecision(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		runs := drawRuns(t)
		plain := knee.Find(runs, few)
		asked := few
		asked.Explain = true
		fit := knee.Find(runs, asked)
		r := fit.Reasoning
		fit.Reasoning = nil
		if d := sameFit(plain, fit); d != "" || plain.Reasoning != nil {
			t.Fatalf("explaining changed the answer: %s", d)
		}
		if _, err := json.Marshal(r); err != nil {
			t.Fatal(err)
		}
		checkReasoning(t, fit, r)
	})
}

func checkReasoning(t *rapid.T, fit knee.Fit, r *knee.Reasoning) {
	if len(r.Candidates) != 13 || r.Candidates[0].Model != fit.Model || r.Candidates[0].DeltaAICc != 0 || r.Candidates[0].Rejected != "" {
		t.Fatalf("the winner is %s, the candidates are %+v", fit.Model, r.Candidates)
	}
	last := 0.0
	for _, c := range r.Candidates {
		if c.Rejected == "" && c.DeltaAICc < last {
			t.Fatalf("%s is not in the order of AICc", c.Model)
		}
		last = max(last, c.DeltaAICc)
	}
	low, high := math.Inf(1), 0.0
	for _, s := range r.Spans {
		low, high = min(low, s.Low), max(high, s.High)
	}
	if (fit.Knee > 0) != (len(r.Spans) > 0) || fit.Knee > 0 && (min(low, fit.Knee) != fit.KneeLow || max(high, fit.Knee) != fit.KneeHigh) {
		t.Fatalf("[%g, %g] is not the union of %+v", fit.KneeLow, fit.KneeHigh, r.Spans)
	}
	best := 0
	for _, l := range r.Levels {
		if l.TiltPct == 0 {
			best = l.ConcurrencyPerGPU
		}
		if l.TiltPct < 0 {
			t.Fatalf("%+v lies above the best tilt", l)
		}
	}
	if best == 0 {
		t.Fatalf("no level has the best tilt of %d: %+v", fit.TiltLevel, r.Levels)
	}
	said := map[string]string{}
	for _, s := range r.Steps {
		if s.Rule == "" || s.Seen == "" || s.Decision == "" || said[s.Rule] != "" {
			t.Fatalf("step %+v", s)
		}
		said[s.Rule] = s.Decision
	}
	has := func(rule, part string) bool { return strings.Contains(said[rule], part) }
	var agreed bool
	switch fit.Status {
	case knee.Knee:
		agreed = has("agreement of model and levels", ": accepted") && has("still rising at the end", "not overruled") && has("answer", "the model's knee")
	case knee.Ambiguous:
		agreed = has("lack of fit", "no model") || has("agreement of model and levels", "not accepted")
	case knee.LatencyLimited:
		agreed = has("latency edge", "latency limits") && has("answer", "√")
	case knee.SaturatedAtMin:
		agreed = has("tilted argmax", "saturated") && has("answer", "no knee")
	case knee.NotSaturated:
		agreed = has("knee before the end", "not saturated") || has("agreement of model and levels", "not accepted") || has("still rising at the end", "overruled: not saturated")
	}
	if !agreed {
		t.Fatalf("%s, but the steps are %q", fit.Status, said)
	}
}

// A rejected model says why.
func TestRejectedCandidates(t *testing.T) {
	fit := knee.Find(exact(func(n float64) float64 { return 100 * min(n, 40) }, []int{8, 16, 32, 64, 128}, 1), knee.Options{Explain: true})
	why := map[string]string{}
	for _, c := range fit.Reasoning.Candidates {
		why[c.Model] = c.Rejected
	}
	if why["TWO"] != "needs 8 levels" || !strings.Contains(why["HRET"], "parameters") || why[fit.Model] != "" {
		t.Error(cmp.Diff(map[string]string{}, why))
	}
	if few := knee.Find(exact(func(n float64) float64 { return n }, kneetest.Doubling()[:2], 1), knee.Options{Explain: true}); few.Reasoning != nil {
		t.Error("nothing was fitted, and yet there is reasoning")
	}
}
