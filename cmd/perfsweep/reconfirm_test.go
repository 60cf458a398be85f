package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/loadgen/enginesim"
	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
)

// calibrated is the sidecar of an engine that was calibrated with an old image.
func calibrated(t *testing.T) calibrate.Provenance {
	t.Helper()
	curve, _, _, err := virtually(context.Background(), t, scriptEngine, longOSL, quickPlan(), "", "--label", "image=old", "--deployment", "a")
	if err != nil {
		t.Fatal(err)
	}
	p := propose(curve)
	if !p.Writable {
		t.Fatalf("the engine was not calibrated: %q", p.Reasons)
	}
	e := calibrate.Edit{Overlay: "o.yaml", Old: []byte("old"), New: []byte("new"), Gate: p.Gate, At: curve.Started}
	return calibrate.NewProvenance(curve, p, calibrate.Policy{Profile: calibrate.Portable}, e, nil)
}

// reconfirmPlan is that of --reconfirm.
func reconfirmPlan(n int) sweep.Plan {
	p := quickPlan()
	p.Point, p.Reconfirm = n, true
	return p
}

// TestVirtualReconfirm measures one calibration, which all is held against.
func TestVirtualReconfirm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := calibrated(t)
		reconfirmSpeeds(t, p)
		reconfirmProposal(t, p)
		reconfirmed(t, p)
	})
}

// reconfirmSpeeds: an engine of the same speed keeps its gate, one of another
// speed is told with an interval that covers the truth, and one whose knee has
// moved below the point is not confirmed.
func reconfirmSpeeds(t *testing.T, p calibrate.Provenance) {
	all := newSeeds(t)
	if testing.Short() {
		all = all[:1]
	}
	n := p.Gate.ConcurrencyPerGPU
	again := func(change func(*enginesim.Params), plan sweep.Plan) (calibrate.Reconfirmation, sweep.Curve) {
		engine, err := enginesim.ParseTarget(scriptEngine)
		if err != nil {
			t.Fatal(err)
		}
		change(&engine)
		curve, d, err := virtualEngine(context.Background(), t, engine, longOSL, plan, "", "--label", "image=new", "--deployment", "b")
		if err != nil {
			t.Fatal(err)
		}
		return p.Reconfirm("o.provenance.json", curve, d), curve
	}
	for _, seed := range all {
		at := func(speed float64) func(*enginesim.Params) {
			return func(e *enginesim.Params) { e.Seed, e.Speed = seed, speed }
		}
		r, curve := again(at(1), reconfirmPlan(n))
		if r.State != calibrate.ReconfirmKept || len(curve.Runs) != 10 {
			t.Errorf("seed %d: %s after %d runs: %q", seed, r.State, len(curve.Runs), r.Reasons)
		}
		if why := strings.Join(r.Reasons, " "); !strings.Contains(why, "compares image new with image old") || len(r.Differences) != 1 {
			t.Errorf("seed %d: the comparison across images is not said: %q, %q", seed, why, r.Differences)
		}
		for _, speed := range []float64{0.8, 1.15} {
			r, _ := again(at(speed), reconfirmPlan(n))
			if s := r.Throughput; r.State != calibrate.ReconfirmChanged || !s.Changed || s.Low > speed || s.High < speed || (s.Ratio > 1) != (speed > 1) {
				t.Errorf("seed %d at speed %v: %s, %+v: %q", seed, speed, r.State, s, r.Reasons)
			}
		}
		r, _ = again(func(e *enginesim.Params) { e.Seed, e.Slots = seed, n/2 }, reconfirmPlan(n))
		if why := fmt.Sprint(r.Reasons); r.State != calibrate.ReconfirmRefused || !strings.Contains(why, "no operating point any more") || !strings.Contains(why, "calibrate again") {
			t.Errorf("seed %d with the knee below the point: %s: %s", seed, r.State, why)
		}
	}
}

// reconfirmProposal: a changed engine goes on to as many attempts as a
// gate needs, in the same journal, and the new gate follows the engine.
func reconfirmProposal(t *testing.T, p calibrate.Provenance) {
	plan := reconfirmPlan(p.Gate.ConcurrencyPerGPU)
	for _, speed := range []float64{0.8, 1.15} {
		journal := fmt.Sprintf("%s/%v.jsonl", t.TempDir(), speed)
		spec := fmt.Sprintf("%s&speed=%v", scriptEngine, speed)
		args := []string{"--label", "image=new", "--journal", journal, "--resume"}
		if _, _, _, err := virtually(context.Background(), t, spec, longOSL, plan, "", args[:4]...); err != nil {
			t.Fatal(err)
		}
		more := plan
		more.Reconfirm = false
		curve, d, _, err := virtually(context.Background(), t, spec, longOSL, more, "", args...)
		if err != nil {
			t.Fatal(err)
		}
		got := propose(curve)
		if ratio := got.Gate.FloorPerGPU / p.Gate.FloorPerGPU; !got.Writable || got.Point.Basis != "proved" || ratio < speed*0.93 || ratio > speed*1.07 {
			t.Errorf("speed %v: outcome %s, point %+v, floor x%.3f: %q", speed, got.Outcome, got.Point, ratio, got.Reasons)
		}
		if r := p.Reconfirm("o.provenance.json", curve, d); r.State != calibrate.ReconfirmChanged || len(r.Runs) != 5 {
			t.Errorf("speed %v: %s with %d runs: %q", speed, r.State, len(r.Runs), r.Reasons)
		}
	}
}

// reconfirmed: a sidecar that keeps a reconfirmation is read as it was written,
// matches what was confirmed and what was calibrated, and nothing else; an edited
// one is refused.
func reconfirmed(t *testing.T, p calibrate.Provenance) {
	curve, d, _, err := virtually(context.Background(), t, scriptEngine+"&seed=2", longOSL, reconfirmPlan(p.Gate.ConcurrencyPerGPU), "", "--label", "image=new", "--deployment", "b")
	if err != nil {
		t.Fatal(err)
	}
	r := p.Reconfirm("o.provenance.json", curve, d)
	src := calibrate.Source{Name: "j.jsonl", SHA256: strings.Repeat("0f", 32)}
	kept := p.KeepReconfirmed(r, curve, src, curve.Started)
	text, err := kept.KeepReconfirmed(r, curve, src, curve.Started.Add(time.Hour)).Encode()
	if err != nil {
		t.Fatal(err)
	}
	read, err := calibrate.ParseProvenance("o.provenance.json", text)
	if err != nil {
		t.Fatal(err)
	}
	if once, err := kept.Encode(); err != nil || string(once) != string(text) || len(read.Reconfirmed) != 1 || len(p.Reconfirmed) != 0 {
		t.Errorf("the same journal again changes the sidecar, %v", err)
	}
	state := func(image string) calibrate.ProvenanceState {
		c := curve
		c.Fingerprint.Labels = map[string]string{"image": image}
		return calibrate.JudgeProvenance("o.provenance.json", &read, calibrate.OverlayState{Bytes: []byte("new"), Gate: p.Gate}, c).State
	}
	if a, b, c := state("old"), state("new"), state("other"); a != calibrate.ProvenanceMatches || b != calibrate.ProvenanceMatches || c != calibrate.ProvenanceStale {
		t.Errorf("old image %s, new %s, another %s", a, b, c)
	}
	s := calibrate.SidecarLint{Name: "o.provenance.json", Content: text, File: "o.yaml"}
	if s.Overlay, err = recipes.Parse("o.yaml", []byte("kind: RecipeMetadata\napiVersion: aicr.run/v1beta1\nmetadata:\n  name: o\nspec:\n  validation:\n    performance:\n      checks: [inference-perf]\n      constraints:\n        - {name: inference-ttft-p99, value: '<= 900'}\n")); err != nil {
		t.Fatal(err)
	}
	if got := calibrate.StatusOf(s, nil, "new"); got.Image != "new" || got.State != calibrate.StatusCurrent {
		t.Errorf("status %+v", got)
	}
	for old, now := range map[string]string{`"image": "new"`: `"image": "newer"`, `"ratio_low": `: `"ratio_low": -`, `"changed": false`: `"changed": true`} {
		i := strings.LastIndex(string(text), old)
		if i < 0 {
			t.Fatalf("no %s in the sidecar", old)
		}
		bad := string(text[:i]) + now + string(text[i+len(old):])
		if _, err := calibrate.ParseProvenance("o.provenance.json", []byte(bad)); err == nil {
			t.Errorf("%s became %s, and nobody minds", old, now)
		}
	}
}
