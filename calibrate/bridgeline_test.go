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
