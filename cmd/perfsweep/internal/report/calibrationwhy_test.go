package report

import (
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
)

func unmet(id, name, observed, threshold, remedy string) calibrate.GateResult {
	return calibrate.GateResult{ID: id, Name: name, State: calibrate.Unmet, Observed: observed, Threshold: threshold, Remedy: remedy}
}

func steps(o calibrate.Outcome, why string) []calibrate.Step {
	return []calibrate.Step{{Asks: "a question before it"}, {Asks: "the question", Outcome: o, Why: why}}
}

// TestDecision: the first line answers whether there is a gate to trust, and if
// not why, in one clause; it says what became of the file.
func TestDecision(t *testing.T) {
	c6 := unmet("C6", "second window", "one window; and more", "two windows", "measure again")
	c6Text := "C6 second window: one window; and more (wanted: two windows); measure again"
	point := sweep.OperatingPoint{ConcurrencyPerGPU: 32}
	for name, c := range map[string]struct {
		c    Calibration
		want string
	}{
		"written":  {Calibration{Wrote: true, Diff: "+", Proposal: calibrate.Proposal{Outcome: calibrate.OutcomeOK, Writable: true, Point: point}}, "OK: wrote o.yaml at 32 per GPU"},
		"proposed": {Calibration{Proposal: calibrate.Proposal{Outcome: calibrate.OutcomeOK, Writable: true, Point: point}}, "OK: the gate at 32 per GPU may be written; add --write"},
		"a gate decided": {Calibration{Proposal: calibrate.Proposal{Outcome: calibrate.OutcomeProvisional, Point: point, Gates: []calibrate.GateResult{c6}, Steps: steps(calibrate.OutcomeProvisional, c6Text)}},
			"PROVISIONAL: no gate yet: C6 second window: one window; o.yaml is unchanged"},
		"the status decided": {Calibration{Proposal: calibrate.Proposal{Outcome: calibrate.OutcomeNotSaturated, Steps: steps(calibrate.OutcomeNotSaturated, "not_saturated: it rises; measure more")}},
			"NOT_SATURATED: no gate: it rises; o.yaml is unchanged"},
		"unstable": {Calibration{Proposal: calibrate.Proposal{Outcome: calibrate.OutcomeUnstable, Steps: steps(calibrate.OutcomeUnstable, "unstable: it stood still")}},
			"UNSTABLE: no gate: it stood still; o.yaml is unchanged"},
		"invalid": {Calibration{Proposal: calibrate.Proposal{Outcome: calibrate.OutcomeInvalid, Steps: steps(calibrate.OutcomeInvalid, "none of 9 runs is valid (V2: 9)")}},
			"INVALID: no gate: none of 9 runs is valid (V2: 9); o.yaml is unchanged"},
		"forbidden besides": {Calibration{Proposal: calibrate.Proposal{Outcome: calibrate.OutcomeOK, Reasons: []string{"two kinds of workers: nothing is written", "every gate is met"}, Steps: steps(calibrate.OutcomeOK, "every gate is met")}},
			"OK: no gate: two kinds of workers: nothing is written; o.yaml is unchanged"},
		"no file before": {Calibration{Made: true, Proposal: calibrate.Proposal{Outcome: calibrate.OutcomeDegraded, Reasons: []string{"past the knee"}}},
			"DEGRADED: no gate: past the knee; o.yaml was not made"},
		"reconfirmed": {Calibration{Reconfirm: &calibrate.Reconfirmation{Reasons: []string{"it is slower"}}, Proposal: calibrate.Proposal{Outcome: calibrate.OutcomeProvisional, Reasons: []string{"it is slower", c6Text}, Gates: []calibrate.GateResult{c6}, Steps: steps(calibrate.OutcomeProvisional, c6Text)}},
			"PROVISIONAL: no gate yet: C6 second window: one window; o.yaml is unchanged"},
	} {
		c.c.Overlay = "o.yaml"
		if got := decision(c.c); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestSaidOnce: whatever became of a calibration, its answer says each thing once
// and in the order of a reader's questions.
func TestSaidOnce(t *testing.T) {
	c7 := unmet("C7", "external anchor", "no anchor", "0.90 or more of one", "give --anchor")
	c8 := unmet("C8", "enough steady gate runs", "4 valid of 8 attempts (V8: 4)", "5 or more", "mend what makes runs invalid")
	met := calibrate.GateResult{ID: "C4", Name: "throughput rises", State: calibrate.Met, Observed: "+0.4 % off the curve"}
	waived := calibrate.GateResult{ID: "C6", Name: "second window", State: calibrate.Waived, Observed: "one window"}
	fit := knee.Fit{Status: knee.Knee, Model: "HCAP", Knee: 195, KneeLow: 128, KneeHigh: 256, Levels: []knee.Level{{ConcurrencyPerGPU: 128, Runs: 2, Kept: 2, TokPerSecPerGPU: 21000}}}
	point := sweep.OperatingPoint{ConcurrencyPerGPU: 128, Basis: "knee", Bound: "0.8_knee", Healthy: true}
	bad := sweep.Run{Seq: 7, Step: sweep.Step{ConcurrencyPerGPU: 128}, Violations: []sweep.Violation{{Gate: "V8", Observed: "late", Threshold: "≤ 20 ms"}}}
	limited := calibrate.Limits{Runs: 5, Deployments: 1, Portable: 17800, Regression: 19000, L: 19100, SBBasis: "assumed"}
	const attempts = "only 4 of 8 attempts at 128 per GPU are valid (V8: 4), 5 are needed"
	const chain = "the inherited chain was not checked: o.yaml:23"
	for name, c := range map[string]struct {
		c     Calibration
		order []string
		once  []string
		never []string
	}{
		"refused": {
			Calibration{Curve: sweep.Curve{Runs: []sweep.Run{bad, {}}}, Unchecked: []string{chain}, Ended: "only 4 of 8 attempts at 128 per GPU were valid (V8), 5 of at most 8 are needed",
				Proposal: calibrate.Proposal{Outcome: calibrate.OutcomeInvalid, Fit: fit, Point: point, InvalidRuns: 1, Gates: []calibrate.GateResult{met, waived, c7, c8}, Steps: steps(calibrate.OutcomeInvalid, attempts),
					Reasons: []string{attempts, "C8 enough steady gate runs: 4 valid of 8 attempts (V8: 4) (wanted: 5 or more); mend", "C6 second window: waived by --allow-simulated (one window)", "1 of 2 runs is INVALID and was not used (V8: 1)",
						"not observed: V7 (workers share the load); V9 holds because a journal has one fingerprint", "a remark", "only 4 of 8 attempts at 128 per GPU were valid (V8), 5 of at most 8 are needed", chain}}},
			[]string{"INVALID: no gate: only 4 of 8", "  C7 external anchor: no anchor\n    wanted: 0.90", "not judged before that: C8", "  a remark", "the operating point is 128", "knee at 195", "1 of 2 runs was INVALID", "C4   met", "C6   waived", "not known:\n  not observed: V7 (workers share the load)\n  the inherited chain"},
			[]string{"4 of 8 attempts", "one window", "INVALID and", "128 per GPU (bound", "inherited chain", "a remark"},
			[]string{"V9", "operating point 128"},
		},
		"provisional": {
			Calibration{Ended: "the operating point is 128 per GPU (bound 0.8_knee: the ladder value at or below 0.8 × the knee), confirmed by 5 of 5 attempts", Diff: "+ a line",
				Proposal: calibrate.Proposal{Outcome: calibrate.OutcomeProvisional, Fit: fit, Point: point, Gates: []calibrate.GateResult{met, c7}, Steps: steps(calibrate.OutcomeProvisional, "C7 external anchor: no anchor (wanted: 0.90 or more of one); give --anchor"),
					Limits: limited, Profile: calibrate.Portable, Gate: recipes.Gate{FloorPerGPU: 17800, CeilingTTFTP99MS: 160}, NotKnown: []string{"what deployments differ by"}, Reasons: []string{"C7 external anchor: no anchor (wanted: 0.90 or more of one); give --anchor"}}},
			[]string{"PROVISIONAL: no gate yet: C7 external anchor: no anchor;", "wanted: 0.90", "to do:  give --anchor", "confirmed by 5 of 5 attempts", "floor 17,800 tok/s per GPU (portable), acts as 16,020", "TTFT p99 ceiling 160 ms, acts as 176", "knee at 195", "C4   met", "not known:\n  what deployments differ by", "not written:\n+ a line"},
			[]string{"no anchor", "128 per GPU (bound", "confirmed by", "17,800 tok"},
			[]string{"written floor"},
		},
		"written": {
			Calibration{Wrote: true, Diff: "+ a line", Sidecar: "o.provenance.json",
				Proposal: calibrate.Proposal{Outcome: calibrate.OutcomeOK, Writable: true, Fit: fit, Point: point, Gates: []calibrate.GateResult{met}, Steps: steps(calibrate.OutcomeOK, "every gate is met"), Limits: limited, Profile: calibrate.Portable,
					Gate: recipes.Gate{FloorPerGPU: 17800, CeilingTTFTP99MS: 160}, Reasons: []string{"every gate is met", "V9 holds because a journal has one fingerprint"}}},
			[]string{"OK: wrote o.yaml at 128 per GPU", "what it rests on is in o.provenance.json", "  every gate is met", "the operating point is 128", "floor 17,800", "TTFT p99 ceiling", "knee at 195", "C4   met", "+ a line"},
			[]string{"every gate is met", "128 per GPU (bound"},
			[]string{"V9", "not known:", "not written", "unchanged"},
		},
		"budget spent at a point": {
			Calibration{Ended: "the limit of 12 runs is reached; 128 per GPU would be the operating point, but 192 is missing", Proposal: calibrate.Proposal{Outcome: calibrate.OutcomeDegraded, Fit: fit,
				Point: sweep.OperatingPoint{ConcurrencyPerGPU: 128, Bound: "0.8_knee", Reason: "192 is missing"}, Steps: steps(calibrate.OutcomeDegraded, "128 per GPU is not usable: 192 is missing")}},
			[]string{"DEGRADED: no gate: 128 per GPU is not usable: 192 is missing; o.yaml is unchanged", "  the limit of 12 runs is reached\n", "knee at 195"},
			[]string{"192 is missing"}, nil,
		},
		"budget spent": {
			Calibration{Ended: "--max-runs 12 is used up; too few levels", Proposal: calibrate.Proposal{Outcome: calibrate.OutcomeInvalid, Fit: knee.Fit{Status: knee.Insufficient}, Gates: []calibrate.GateResult{c7, c8}, Steps: steps(calibrate.OutcomeInvalid, "insufficient: too few levels for a fit")}},
			[]string{"INVALID: no gate: insufficient: too few levels for a fit; o.yaml is unchanged", "not judged before that: C7, C8", "--max-runs 12 is used up", "no knee"},
			[]string{"used up"}, []string{"wanted:"},
		},
	} {
		c.c.Overlay = "o.yaml"
		var b strings.Builder
		if err := CalibrationText(&b, c.c); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		at := 0
		for _, want := range c.order {
			i := strings.Index(unfolded(text)[at:], want)
			if i < 0 {
				t.Fatalf("%s: %q is missing, or not after the one before it:\n%s", name, want, text)
			}
			at += i
		}
		for _, s := range c.once {
			if n := strings.Count(unfolded(text), s); n != 1 {
				t.Errorf("%s: %d times %q:\n%s", name, n, s, text)
			}
		}
		for _, s := range c.never {
			if strings.Contains(unfolded(text), s) {
				t.Errorf("%s: has %q:\n%s", name, s, text)
			}
		}
	}
}

// unfolded joins the first line, which is folded wherever it is read.
func unfolded(text string) string {
	first, rest, _ := strings.Cut(text, "\n")
	for strings.HasPrefix(rest, "  ") && !strings.HasSuffix(first, "unchanged") && !strings.HasSuffix(first, "per GPU") {
		var next string
		next, rest, _ = strings.Cut(rest, "\n")
		first += " " + strings.TrimSpace(next)
	}
	return first + "\n" + rest
}

// TestFollowing: a server that refuses everything is one cause, in the answer and
// with every gate explained; the gates keep what was seen.
func TestFollowing(t *testing.T) {
	dead := sweep.Run{Seq: 1, Step: sweep.Step{ConcurrencyPerGPU: 8}, Result: loadgen.Result{Measured: loadgen.Outcomes{loadgen.Connect: 100}}}
	for _, g := range []string{"V2", "V3", "V5", "V6"} {
		dead.Violations = append(dead.Violations, sweep.Violation{Gate: g, Observed: "saw " + g, Threshold: "none"})
	}
	gates := []calibrate.GateResult{unmet("V2", "requests succeed", "1 of 1 run failed it", "none", "mend the server"), unmet("V3", "the load is real", "1 of 1 run failed it and", "10 %", "use a larger machine"),
		{ID: "V8", Name: "this tool is not the bottleneck", State: calibrate.Met}}
	late := sweep.Run{Seq: 2, Violations: []sweep.Violation{{Gate: "V8", Observed: "late", Threshold: "20 ms"}}}
	for _, c := range []struct {
		runs        []sweep.Run
		want, never []string
	}{
		{[]sweep.Run{dead, late}, []string{"2 of 2 runs were INVALID", "run 1 at 8 per GPU: V2 saw V2 (limit none)\n  run 1 at 8 per GPU: V3, V5, V6 follow from V2, as most requests failed\n  run 2", "  V2  runs left out: requests succeed", "to do:  mend the server",
			"  V3  follows from V2: the load is real\n      seen:   1 of 1 run failed it and\n"}, []string{"saw V3", "larger machine", "unmet"}},
	} {
		var b strings.Builder
		if err := CalibrationText(&b, Calibration{Explain: true, Overlay: "o.yaml", Curve: sweep.Curve{Runs: c.runs}, Proposal: calibrate.Proposal{Outcome: calibrate.OutcomeInvalid, RunGates: gates}}); err != nil {
			t.Fatal(err)
		}
		for _, s := range c.want {
			if !strings.Contains(b.String(), s) {
				t.Errorf("lacks %q:\n%s", s, &b)
			}
		}
		for _, s := range c.never {
			if strings.Contains(b.String(), s) {
				t.Errorf("has %q:\n%s", s, &b)
			}
		}
	}
	if got := validity(dead); got != "INVALID V2 saw V2 (limit none); V3, V5, V6 follow from V2, as most requests failed" {
		t.Errorf("a check says %q", got)
	}
	if got := runVerdict(dead); strings.Count(got, "saw") != 1 {
		t.Errorf("the page says %q", got)
	}
	g := gateGrid("", gates, Side{Curve: Curve{All: []sweep.Run{dead}}}.runState)
	if g.rows[1][1] != followsV2 || g.rows[1][5] != "" || g.rows[0][1] != leftOut || g.rows[2][1] != "met" {
		t.Errorf("the page's gates: %q", g.rows)
	}
}
