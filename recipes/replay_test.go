package recipes

import (
	"slices"
	"strings"
	"testing"
)

func publicReplays(t *testing.T) map[string]Replay {
	t.Helper()
	runs, err := PublicRuns()
	if err != nil {
		t.Fatal(err)
	}
	list, err := Shipped()
	if err != nil || len(list) != len(publicRecord()) {
		t.Fatalf("%d overlays: %v", len(list), err)
	}
	out := map[string]Replay{}
	for _, o := range list {
		r, err := ReplayOverlay(o, runs)
		if err != nil {
			t.Fatal(err)
		}
		out[r.Accelerator+"-"+r.Service] = r
	}
	return out
}

// Every healthy run passes its overlay and every known bad one is caught; the
// floor that all overlays had caught none of them but the two past the knee.
func TestReplayOfThePublicRecord(t *testing.T) {
	type counts struct{ healthy, bad, byFloor, oldBad, oldByFloor, notJudged int }
	want := map[string]counts{
		"h100-eks":         {20, 6, 5, 5, 0, 9}, // 92,590 tok/s is healthy throughput: only TTFT tells that stall
		"h100-gke":         {4, 0, 0, 0, 0, 0},
		"h100-aks":         {7, 4, 4, 4, 0, 0},
		"gb200-eks":        {1, 0, 0, 0, 0, 4},
		"gb300-eks":        {1, 2, 2, 2, 2, 1},
		"rtx-pro-6000-eks": {3, 0, 0, 0, 0, 3},
		"gb200-oke":        {0, 0, 0, 0, 0, 2}, // no gate
		"b200-gke":         {},
	}
	for key, r := range publicReplays(t) {
		w := want[key]
		got := counts{r.Gate.Healthy, r.Gate.Bad, r.Floor.BadCaught, r.OldGate.BadCaught, r.OldFloor.BadCaught, r.NotJudged}
		if got != w || r.Gate.HealthyPassed != w.healthy || r.Gate.BadCaught != w.bad {
			t.Errorf("%s: %+v, want %+v; by the gate %+v", key, got, w, r.Gate)
		}
		if r.Enabled != (w.healthy > 0) || r.Enabled && r.Floor.LossSeen >= r.OldFloor.LossSeen {
			t.Errorf("%s: enabled %v, sees a loss of %.2f, the old floor %.2f", key, r.Enabled, r.Floor.LossSeen, r.OldFloor.LossSeen)
		}
		for _, s := range r.Shapes {
			if s.Healthy != Passes {
				t.Errorf("%s: a healthy node of %d GPUs: %s", key, s.GPUs, s.Healthy)
			}
			if s.GPUs <= 2 && s.OldHealthy != Fails {
				t.Errorf("%s: the old floor on %d GPUs: %s; #1254 says that it fails", key, s.GPUs, s.OldHealthy)
			}
		}
	}
}

// What a shipped floor does not see of a slow node, its comment says.
func TestShippedOverlaysNameTheirBlindSpot(t *testing.T) {
	files := shipped(t)
	for key, r := range publicReplays(t) {
		passes := slices.ContainsFunc(r.Shapes, func(s Shape) bool { return s.Slow == Passes })
		says := strings.Contains(strings.ReplaceAll(files[key], "\n      #", ""), "Blind spot: a node at 70 % of this speed passes")
		if passes != says {
			t.Errorf("%s: a node at 70 %% passes: %v; the comment says so: %v", key, passes, says)
		}
	}
}

// Which runs a gate is no judge of.
func TestReplayWithoutAVerdict(t *testing.T) {
	for _, j := range publicReplays(t)["gb300-eks"].Runs {
		if j.OtherLoad != (j.ConcurrencyPerGPU == 256) || j.OtherLoad != strings.Contains(j.Why, "the gate is for 128") {
			t.Errorf("row %d: %+v", j.Row, j)
		}
	}
	for key, r := range publicReplays(t) {
		for _, j := range r.Runs {
			missing := j.TokPerSec == 0 || j.TTFTP99MS == 0 || j.GPUs == 0 || j.Service == "" || j.Model != defaultModel
			if r.Enabled && missing != (j.Gate == NoVerdict) || missing && (j.Why == "" || j.OldGate != NoVerdict) {
				t.Errorf("%s row %d: %+v", key, j.Row, j)
			}
		}
	}
}

// Whatever is taken out of a run, the result is no pass.
func TestReplayMissingIsNoPass(t *testing.T) {
	runs, err := PublicRuns()
	if err != nil {
		t.Fatal(err)
	}
	overlays, err := Shipped()
	if err != nil {
		t.Fatal(err)
	}
	for name, drop := range map[string]func(*KnownRun){
		"throughput": func(k *KnownRun) { k.TokPerSec = 0 },
		"TTFT":       func(k *KnownRun) { k.TTFTP99MS = 0 },
		"GPUs":       func(k *KnownRun) { k.GPUs = 0 },
		"service":    func(k *KnownRun) { k.Service = "" },
		"model":      func(k *KnownRun) { k.Model = "" },
	} {
		less := append([]KnownRun{}, runs...)
		for i := range less {
			drop(&less[i])
		}
		for _, o := range overlays {
			r, err := ReplayOverlay(o, less)
			if err != nil {
				t.Fatal(err)
			}
			for _, j := range r.Runs {
				if j.Gate == Passes || j.OldGate == Passes || r.Gate.Healthy+r.Gate.Bad > 0 {
					t.Fatalf("without %s, %s passes row %d: %+v", name, r.Overlay, j.Row, j)
				}
			}
		}
	}
	// No load recorded is another load.
	for _, o := range overlays {
		r, err := ReplayOverlay(o, []KnownRun{{Row: 1, Accelerator: o.Criterion("accelerator"), Service: o.Criterion("service"), GPUs: 8, Model: defaultModel, TokPerSec: 1e6, TTFTP99MS: 1}})
		if err != nil || r.Gate.Healthy != 0 || r.Enabled && !strings.Contains(r.Runs[0].Why, "unrecorded load") {
			t.Errorf("%+v, %v", r, err)
		}
	}
}
