package main

import (
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report"
	"github.com/perfsweep/perfsweep/sweep"
)

// A check of another effort than the gate's is stale, and that is said before it is
// measured, with the flag that mends it; what calibrate proposes next has that flag.
func TestEffortOfTheGate(t *testing.T) {
	side := func(was sweep.Effort, again ...sweep.Effort) *calibrate.Provenance {
		p := &calibrate.Provenance{Fingerprint: sweep.Fingerprint{Effort: was}}
		for _, e := range again {
			p.Reconfirmed = append(p.Reconfirmed, calibrate.Reconfirmed{Fingerprint: sweep.Fingerprint{Effort: e}})
		}
		return p
	}
	for i, tt := range []struct {
		sidecar *calibrate.Provenance
		now     sweep.Effort
		journal string
		want    string
	}{
		{nil, sweep.Standard, "", ""},
		{side(""), sweep.Standard, "", ""},
		{side(sweep.Quick), sweep.Quick, "", ""},
		{side(sweep.Quick, sweep.Standard), sweep.Standard, "", ""},
		{side(sweep.Quick, sweep.Full), sweep.Standard, "", "the same command with --effort quick"},
		{side(sweep.Full), sweep.Standard, "j", "the same command with --effort full and another --journal"},
	} {
		if got := otherEffort(tt.sidecar, tt.now, tt.journal); got != tt.want {
			t.Errorf("%d: %q, want %q", i, got, tt.want)
		}
	}
	for effort, want := range map[sweep.Effort]string{
		"":             "perfsweep check --overlay o.yaml --target TARGET holds",
		sweep.Standard: "perfsweep check --overlay o.yaml --target TARGET holds",
		sweep.Quick:    "perfsweep check --overlay o.yaml --target TARGET --effort quick holds",
		sweep.Full:     "perfsweep check --overlay o.yaml --target TARGET --effort full holds",
	} {
		r := report.Calibration{Overlay: "o.yaml", Sidecar: "o.provenance.json", Wrote: true, Curve: sweep.Curve{Fingerprint: sweep.Fingerprint{Effort: effort}}}
		if got := afterCalibration(r, true, "j"); !strings.Contains(got, want) {
			t.Errorf("of effort %q: %q", effort, got)
		}
	}
}

// What is proposed can be copied: it names what was measured.
func TestCheckOfWhatWasMeasured(t *testing.T) {
	for _, tt := range []struct {
		f    sweep.Fingerprint
		want string
	}{
		{sweep.Fingerprint{Target: "http://h:8000", GPUs: 4}, "o.yaml --target http://h:8000 --gpus 4 holds"},
		{sweep.Fingerprint{Target: "k8s:ns/name", GPUs: 8}, "o.yaml --target k8s:ns/name holds"},
		{sweep.Fingerprint{Target: "sim:kneed?speed=0.9&gpus=2", GPUs: 2}, "o.yaml --target 'sim:kneed?speed=0.9&gpus=2' --gpus 2 holds"},
	} {
		if got := checkOf(report.Calibration{Overlay: "o.yaml", Curve: sweep.Curve{Fingerprint: tt.f}}); !strings.Contains(got, tt.want) {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}
