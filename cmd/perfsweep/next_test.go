package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report"
	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/sweep"
	"github.com/perfsweep/perfsweep/sweep/compare"
)

func TestAfterSweep(t *testing.T) {
	p := sweep.Plan{MaxRuns: 40}
	for _, tt := range []struct {
		status  knee.Status
		plan    sweep.Plan
		runs    int
		journal string
		want    string
	}{
		{knee.Knee, p, 20, "j.jsonl", "perfsweep calibrate "},
		{knee.LatencyLimited, p, 20, "", "--journal FILE"},
		{knee.Insufficient, p, 40, "j.jsonl", "--resume"},
		{knee.Insufficient, p, 2, "j.jsonl", "at least 4 --levels"},
		{knee.Insufficient, p, 40, "", "at least 4 --levels"},
		{knee.NotSaturated, p, 20, "j.jsonl", "higher --max-concurrency-per-gpu"},
		{knee.SaturatedAtMin, p, 20, "j.jsonl", "lower --levels"},
		{knee.Ambiguous, p, 20, "j.jsonl", "--repeats"},
	} {
		if got := afterSweep(tt.status, sweep.Decision{Done: true}, sweep.Curve{Plan: tt.plan, Runs: make([]sweep.Run, tt.runs)}, tt.journal); !strings.Contains(got, tt.want) {
			t.Errorf("%s, %q: %q, want %q", tt.status, tt.journal, got, tt.want)
		}
	}
}

// What follows a curve that was read depends on who measured it.
func TestAfterKnee(t *testing.T) {
	own := &sweep.Fingerprint{}
	for i, tt := range []struct {
		status      knee.Status
		fingerprint *sweep.Fingerprint
		want        string
	}{
		{knee.Knee, own, "perfsweep calibrate "},
		{knee.LatencyLimited, own, "perfsweep report f -o report.html"},
		{knee.NotSaturated, own, "sweep with a higher --max-concurrency-per-gpu, and another --journal"},
		{knee.Insufficient, own, "at least 4 --levels"},
		{knee.NotSaturated, nil, "measure higher concurrencies"},
		{knee.SaturatedAtMin, nil, "measure lower concurrencies"},
		{knee.Ambiguous, nil, "measure each level twice more"},
		{knee.Insufficient, nil, "at least 4 levels on both sides"},
	} {
		if got := afterKnee(report.Curve{Fit: knee.Fit{Status: tt.status}, Fingerprint: tt.fingerprint}, "f"); !strings.Contains(got, tt.want) {
			t.Errorf("%d: %q, want %q", i, got, tt.want)
		}
	}
	for point, want := range map[int]string{
		12: " --overlay FILE --concurrency-per-gpu 12 proves that point",
		1:  " --overlay FILE measures it again",
		0:  " --overlay FILE measures it again",
	} {
		c := report.Curve{Fit: knee.Fit{Status: knee.Knee}, Point: sweep.OperatingPoint{ConcurrencyPerGPU: point}}
		if got := afterKnee(c, "f.csv"); !strings.Contains(got, want) {
			t.Errorf("of another tool's curve with its point at %d: %q", point, got)
		}
	}
}

func TestAfterComparison(t *testing.T) {
	of := func(v compare.Verdict, paired bool) compare.Report {
		return compare.Report{Throughput: compare.Change{Verdict: v}, Paired: paired}
	}
	for i, tt := range []struct {
		r      compare.Report
		a, b   string
		across []string
		want   string
	}{
		{of(compare.Worse, false), "a", "b", nil, "perfsweep report a b -o report.html draws both"},
		{of(compare.Same, false), "a", "b", []string{"gpus", "model"}, "perfsweep report a b --across gpus,model -o report.html"},
		{of(compare.CannotTell, false), "a", "b", nil, "perfsweep sweep --ab"},
		{of(compare.CannotTell, true), "a", "b", nil, "the same command with more --repeats and another --journal"},
		{of(compare.Better, true), "", "", nil, "--journal FILE"},
	} {
		if got := afterComparison(tt.r, tt.a, tt.b, tt.across); !strings.Contains(got, tt.want) {
			t.Errorf("%d: %q, want %q", i, got, tt.want)
		}
	}
}

func TestAfterCalibration(t *testing.T) {
	provisional := func(unmet string) calibrate.Proposal {
		return calibrate.Proposal{Outcome: calibrate.OutcomeProvisional, Gates: []calibrate.GateResult{{ID: unmet, State: calibrate.Unmet}}}
	}
	for i, tt := range []struct {
		p       calibrate.Proposal
		wrote   bool
		journal string
		want    string
	}{
		{calibrate.Proposal{Outcome: calibrate.OutcomeOK, Writable: true}, false, "j", "--write"},
		{calibrate.Proposal{Outcome: calibrate.OutcomeOK, Writable: true}, true, "j", "perfsweep check --overlay o.yaml"},
		{provisional("C6"), false, "j", "--window 2"},
		{provisional("C7"), false, "j", "--anchor"},
		{provisional("C6"), false, "", "--journal FILE"},
		{calibrate.Proposal{Outcome: calibrate.OutcomeNotSaturated}, false, "j", "--max-concurrency-per-gpu"},
		{calibrate.Proposal{Outcome: calibrate.OutcomeInvalid}, false, "j", "--explain"},
	} {
		r := report.Calibration{Proposal: tt.p, Overlay: "o.yaml", Sidecar: "o.provenance.json", Wrote: tt.wrote}
		if got := afterCalibration(r, tt.wrote, tt.journal); !strings.Contains(got, tt.want) {
			t.Errorf("%d: %q, want %q", i, got, tt.want)
		}
	}
}

// A campaign of one of several clusters is complete without what they are for it.
func TestAfterBundle(t *testing.T) {
	labels := map[string]string{"cluster": "east", "gpu_product": "a", "image": "b", "precision": "c", "gpus_per_worker": "1"}
	of := func(change func(*report.Calibration), unmet ...string) report.Calibration {
		r := report.Calibration{Proposal: calibrate.Proposal{Outcome: calibrate.OutcomeProvisional}, Curve: sweep.Curve{Fingerprint: sweep.Fingerprint{Labels: labels}}}
		for _, id := range unmet {
			r.Proposal.Gates = append(r.Proposal.Gates, calibrate.GateResult{ID: id, State: calibrate.Unmet})
		}
		change(&r)
		return r
	}
	same := func(*report.Calibration) {}
	if got := afterBundle(of(same, "C6", "C7"), "b.bundle"); !strings.HasPrefix(got, "carry b.bundle to the overlay: perfsweep calibrate --from ") {
		t.Errorf("%q", got)
	}
	for name, r := range map[string]report.Calibration{
		"stalls":      of(same, "C1", "C6", "C7"),
		"may write":   of(func(r *report.Calibration) { r.Proposal.Writable = true }),
		"no gate":     of(func(r *report.Calibration) { r.Proposal.Outcome = calibrate.OutcomeInvalid }, "C6"),
		"a first":     of(func(r *report.Calibration) { r.Curve.Fingerprint.Effort = sweep.Quick }, "C6"),
		"not stated":  of(func(r *report.Calibration) { r.Curve.Fingerprint.Labels = map[string]string{"cluster": "east"} }, "C6"),
		"one cluster": of(func(r *report.Calibration) { r.Curve.Fingerprint.Labels = nil }, "C6", "C7"),
	} {
		if got := afterBundle(r, "b.bundle"); got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := afterFrom(of(same, "C6", "C7"), 1); !strings.HasPrefix(got, "the same command with the bundles of the other clusters") {
		t.Errorf("one bundle: %q", got)
	}
	if got := afterFrom(of(same, "C6", "C7"), 2) + afterFrom(of(same, "C1"), 1); got != "" {
		t.Errorf("bundles that lack more: %q", got)
	}
	if got := afterBundle(of(same, "C6", "C7"), ""); got != "" {
		t.Errorf("no bundle: %q", got)
	}
}

func TestAfterCheck(t *testing.T) {
	for _, tt := range []struct {
		v                 calibrate.Verdict
		baseline, journal string
		want              string
	}{
		{calibrate.Pass, "b", "j", ""},
		{calibrate.Fail, "b", "j", "perfsweep compare b j says what moved"},
		{calibrate.Fail, "", "j", "perfsweep report j -o check.html shows the runs"},
		{calibrate.Fail, "b", "", "the same command with --journal FILE keeps the runs, for perfsweep report FILE"},
		{calibrate.Inconclusive, "b", "j", "mend what the reasons name, then check again with another --journal"},
	} {
		r := report.CheckReport{Result: calibrate.CheckResult{Verdict: tt.v}, Curve: sweep.Curve{Runs: make([]sweep.Run, 1)}}
		if got := afterCheck(r, tt.baseline, tt.journal); got != tt.want {
			t.Errorf("%s: %q, want %q", fmt.Sprint(tt), got, tt.want)
		}
	}
	if got := afterCheck(report.CheckReport{}, "", ""); got != "" {
		t.Errorf("nothing measured: %q", got)
	}
}

// What limits a campaign names what comes next, whatever the curve looks like.
func TestNextStepOfALimit(t *testing.T) {
	bound := sweep.Run{Step: sweep.Step{ConcurrencyPerGPU: 64, Purpose: sweep.Confirm}, Violations: []sweep.Violation{{Gate: "V8"}}}
	good := sweep.Run{Step: bound.Step}
	half := sweep.Curve{Runs: []sweep.Run{bound, good, bound, good}}
	few := sweep.Curve{Runs: []sweep.Run{bound, good, good, good}}
	if got := afterSweep(knee.NotSaturated, sweep.Decision{Done: true}, half, "j"); got != clientBound {
		t.Errorf("a client-bound sweep: next %q", got)
	}
	if got := afterSweep(knee.NotSaturated, sweep.Decision{Done: true}, few, "j"); got == clientBound {
		t.Error("one run in four is not what limits a sweep")
	}
	quick := sweep.Curve{Fingerprint: sweep.Fingerprint{Effort: sweep.Quick}}
	simulated := sweep.Curve{Fingerprint: sweep.Fingerprint{Effort: sweep.Quick, Simulated: true}}
	c6 := calibrate.Proposal{Outcome: calibrate.OutcomeProvisional, Gates: []calibrate.GateResult{{ID: "C6", State: calibrate.Unmet}}}
	for i, tt := range []struct {
		c    sweep.Curve
		p    calibrate.Proposal
		want string
	}{
		{half, calibrate.Proposal{Outcome: calibrate.OutcomeNotSaturated}, clientBound},
		{half, calibrate.Proposal{Outcome: calibrate.OutcomeInvalid}, clientBound},
		{half, calibrate.Proposal{Outcome: calibrate.OutcomeOK, Writable: true}, "the same command with --write"},
		{quick, c6, firstLook},
		{simulated, c6, "the same command with --window 2, half an hour later or on another --deployment"},
	} {
		if got := afterCalibration(report.Calibration{Curve: tt.c, Proposal: tt.p}, false, "j"); got != tt.want {
			t.Errorf("%d: next %q, want %q", i, got, tt.want)
		}
	}
}
