package calibrate

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/recipes"
)

// measuredLosses are what the runs of docs/examples/bias.jsonl say: at each number
// of streams the mean over the pairs of AIPerf's rate as a share of this tool's.
func measuredLosses(t *testing.T) (aiperf string, shares map[int]float64) {
	t.Helper()
	text, err := os.ReadFile("../docs/examples/bias.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	type pair struct{ streams, set, pair int }
	rates := map[pair]map[string]float64{}
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		var line struct {
			AIPerf   string `json:"aiperf_version"`
			Server   string `json:"server"`
			Streams  int    `json:"streams"`
			Set      int    `json:"set"`
			Pair     int    `json:"pair"`
			Tool     string `json:"tool"`
			Reported struct {
				TokPerSec float64 `json:"output_tok_per_s"`
			} `json:"reported"`
		}
		if err := json.Unmarshal(s.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		if line.AIPerf != "" {
			aiperf = line.AIPerf
		}
		if line.Server != "paced" || line.Set != 1 { // the page's tables are of the first set
			continue
		}
		k := pair{line.Streams, line.Set, line.Pair}
		if rates[k] == nil {
			rates[k] = map[string]float64{}
		}
		rates[k][line.Tool] = line.Reported.TokPerSec
	}
	sums, pairs := map[int]float64{}, map[int]float64{}
	for k, r := range rates {
		if !positive(r["aiperf"]) || !positive(r["perfsweep"]) {
			t.Fatalf("pair %+v is not whole: %v", k, r)
		}
		sums[k.streams] += r["aiperf"] / r["perfsweep"]
		pairs[k.streams]++
	}
	shares = map[int]float64{}
	for n, sum := range sums {
		shares[n] = sum / pairs[n]
	}
	return aiperf, shares
}

// TestKnownLosses: what comments say of AIPerf is what the published runs say, of
// the version that they are of, and the table of docs/bias.md has the same.
func TestKnownLosses(t *testing.T) {
	version, shares := measuredLosses(t)
	known := knownLosses()
	if len(known) != len(shares) || len(known) < 3 {
		t.Errorf("%d losses are known, and docs/examples/bias.jsonl has %d numbers of streams: %v", len(known), len(shares), shares)
	}
	page, err := os.ReadFile("../docs/bias.md")
	if err != nil {
		t.Fatal(err)
	}
	_, contrast, found := strings.Cut(string(page), "| server | streams | AIPerf / perfsweep: reported tok/s |")
	if !found {
		t.Fatal("docs/bias.md has no table of AIPerf / perfsweep")
	}
	for _, l := range known {
		share, ok := shares[l.streams]
		if !ok || math.Abs(l.share-share) > 0.005+1e-9 {
			t.Errorf("knownLosses has x%.2f at %d streams, measured is %v: %.4f; write that with two digits", l.share, l.streams, ok, share)
		}
		if row := fmt.Sprintf("| paced | %d | %.4f (", l.streams, share); !strings.Contains(contrast, row) {
			t.Errorf("docs/bias.md does not have %q", row)
		}
	}
	if !slices.IsSortedFunc(known, func(a, b knownLoss) int { return a.streams - b.streams }) {
		t.Errorf("%v is not in the order of streams", known)
	}
	plain := newFixture().simulated().propose()
	if comment := strings.Join(plain.Comment, "\n"); !strings.Contains(comment, "AIPerf "+version+" read x") {
		t.Errorf("the runs are of AIPerf %s, and the comment says\n%s", version, comment)
	}
}

func TestLossAt(t *testing.T) {
	for streams, want := range map[int]string{1: "1 false", 2: "16 false", 16: "16 false", 17: "64 false", 256: "256 false", 257: "256 true", 1 << 20: "256 true"} {
		if l, beyond := lossAt(streams); fmt.Sprint(l.streams, beyond) != want {
			t.Errorf("%d streams: %+v %v, want %s", streams, l, beyond, want)
		}
	}
}

// TestNoMarginForAIPerf: a floor that is widened by any loss of AIPerf that was
// measured at a load misses what A13 promises of a portable gate, at the noise up to
// which it does: a loss of 30 % caught with 95 %. The page says by how much.
func TestNoMarginForAIPerf(t *testing.T) {
	const promised, noise, runs = 0.95, 0.03, 8.0
	s := math.Sqrt2 * noise
	l := Limits{S: s, NPrime: s * s / (noise*noise + noise*noise/runs)}
	gate := (1 - recipes.Tolerance) * portableShare
	page, err := os.ReadFile("../docs/explanation.md")
	if err != nil {
		t.Fatal(err)
	}
	row := func(at string, share float64) float64 {
		caught := l.FailProbability(gate*share, slow)
		if want := fmt.Sprintf("| %s | %.2f | %.3f | %.0f %% |\n", at, share, gate*share, 100*caught); !strings.Contains(string(page), want) {
			t.Errorf("docs/explanation.md does not have %q", want)
		}
		return caught
	}
	if caught := row("not widened", 1); caught < promised {
		t.Errorf("as it is the gate catches a loss of 30 %% with %.3f", caught)
	}
	for _, k := range knownLosses() {
		if caught := row(fmt.Sprint(k.streams), k.share); k.streams > 1 && caught >= promised {
			t.Errorf("widened by x%.2f it still catches a loss of 30 %% with %.3f: the margin can be widened at %d streams", k.share, caught, k.streams)
		}
	}
}

// TestUnbridgedChances: the comment says what a widened floor of this campaign would
// catch, of the loss that its profile is made for.
func TestUnbridgedChances(t *testing.T) {
	for profile, want := range map[Profile]struct {
		loss    float64
		percent int
	}{Portable: {0.7, 30}, Regression: {0.8, 20}} {
		f := newFixture().simulated()
		f.policy.Profile = profile
		p := f.propose()
		caught := func(share float64) float64 {
			return 100 * p.Limits.FailProbability(share*p.EffectiveFloorPerGPU, want.loss)
		}
		text := fmt.Sprintf("this floor catches everything %d %% slower with a chance of %.0f %%, and x0.80 of it would with %.0f %%", want.percent, caught(1), caught(0.8))
		if comment := strings.Join(p.Comment, "\n"); !strings.Contains(comment, text) || !(caught(1) > 80 && caught(0.8) < 20) {
			t.Errorf("%s: the comment does not say %q:\n%s", profile, text, comment)
		}
	}
}
