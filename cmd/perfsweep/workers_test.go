package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
)

func fingerprint(gpus int, workers string) sweep.Fingerprint {
	f := sweep.Fingerprint{GPUs: gpus}
	if workers != "" {
		f.Labels = map[string]string{labelWorkers: workers}
	}
	return f
}

// Who says how many workers there must be, in its order, and what of it goes
// into the fingerprint: what is meant to be there, not what is left of it.
func TestExpectedWorkers(t *testing.T) {
	base := func(gpus int, workers string) []knownWorkers {
		return []knownWorkers{{"the baseline", fingerprint(gpus, workers)}}
	}
	journal := func(workers string) *sweep.Curve { return &sweep.Curve{Fingerprint: fingerprint(4, workers)} }
	for _, c := range []struct {
		name      string
		stated    string
		old       *sweep.Curve
		baselines []knownWorkers
		ready     int
		missing   error
		expected  int // 0: V1 is not observed
		from      string
		label     string
		says      string
	}{
		{name: "stated", stated: "5", old: journal("6"), baselines: base(4, "7"), ready: 5, expected: 5, from: "--label workers", label: "5"},
		{name: "the journal that is continued", old: journal("6"), baselines: base(4, "7"), ready: 6, expected: 6, from: "as the journal's first run", label: "6"},
		{name: "the baseline", baselines: base(4, "4"), ready: 3, expected: 4, from: "as the baseline", label: "4", says: "3 of 4 workers ready"},
		{name: "the first that tells", baselines: append(base(4, ""), knownWorkers{"the sidecar", fingerprint(4, "8")}), ready: 8, expected: 8, from: "as the sidecar", label: "8"},
		{name: "a baseline of another size", baselines: base(8, "4"), ready: 2, expected: 2, from: "as the baseline", label: "2"},
		{name: "a baseline that cannot be scaled", baselines: base(8, "3"), ready: 2, expected: 2, from: "as at the preflight", label: "2"},
		{name: "nobody tells", ready: 3, expected: 3, from: "as at the preflight", label: "3"},
		{name: "an older journal stays as it is", old: journal(""), ready: 3, expected: 3, from: "as at the preflight"},
		{name: "no list", baselines: base(4, "4"), missing: errors.New("no list"), says: "not observed (V1): no list"},
		{name: "no list, stated", stated: "4", missing: errors.New("no list"), label: "4", says: "not observed (V1)"},
		{name: "nobody there, nobody expected", says: "not observed (V1)"},
		{name: "nobody there", baselines: base(4, "4"), expected: 4, from: "as the baseline", label: "4", says: "0 of 4 workers ready"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var said strings.Builder
			cam := &campaign{app: &app{err: &said}, baselines: c.baselines, census: census{ready: c.ready, missing: c.missing}}
			f := fingerprint(4, c.stated)
			was := f.Labels
			w := cam.watchWorkers(&f, c.old)
			if (w != nil) != (c.expected > 0) || w != nil && (w.Expected != c.expected || w.From != c.from) {
				t.Errorf("got %+v, want %d, %s", w, c.expected, c.from)
			}
			if f.Labels[labelWorkers] != c.label || was[labelWorkers] != c.stated {
				t.Errorf("labels %v, before %v; want workers %q", f.Labels, was, c.label)
			}
			if (said.String() != "") != (c.says != "") || !strings.Contains(said.String(), c.says) {
				t.Errorf("said %q, want %q", &said, c.says)
			}
		})
	}
}

func TestWorkersLabel(t *testing.T) {
	for v, ok := range map[string]bool{"1": true, "64": true, "0": false, "-1": false, "4.0": false, "four": false, "+4": false, "99999999999": false} {
		if err := checkCountLabels(map[string]string{labelWorkers: v}); (err == nil) != ok {
			t.Errorf("workers=%s: %v", v, err)
		}
	}
	if err := checkCountLabels(nil); err != nil {
		t.Error(err)
	}
}

// TestVirtualLostWorkers: at a load that the survivors carry, any lost worker
// is caught where the server lists its workers, and none where it does not.
func TestVirtualLostWorkers(t *testing.T) {
	gate := recipes.Gate{Model: "simulated/model", ConcurrencyPerGPU: 16, FloorPerGPU: 10, CeilingTTFTP99MS: 60000}
	for target, c := range map[string]struct {
		label string
		want  calibrate.Verdict
	}{
		"lost-worker?chunk=64&lost=0": {"", calibrate.Pass},
		"lost-worker?chunk=64&lost=1": {"workers=4", calibrate.Inconclusive},
		"lost-worker?chunk=64&lost=3": {"workers=4", calibrate.Inconclusive},
		// Nobody says that there were more.
		"lost-worker?chunk=64": {"", calibrate.Pass},
	} {
		t.Run(target, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				plan := sweep.DefaultPlan(sweep.Quick)
				plan.Check, plan.Point = true, gate.ConcurrencyPerGPU
				var args []string
				if c.label != "" {
					args = []string{"--label", c.label}
				}
				curve, _, _, err := virtually(context.Background(), t, target, quickOSL, plan, "", args...)
				if err != nil {
					t.Fatal(err)
				}
				got := calibrate.Check(gate, curve, 1, nil)
				if got.Verdict != c.want || c.label != "" && !strings.HasPrefix(got.Reasons[0], "V1, in 3 of 3 runs: ") {
					t.Errorf("verdict %s, want %s: %q", got.Verdict, c.want, got.Reasons)
				}
			})
		})
	}
}
