//go:build verify

package dynamo

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/test/internal/live"
)

const (
	bridgeLimit = 10 * time.Minute
	// countedWithin is how far perfsweep's count of output tokens may lie from the
	// frontend's own counter, and with it the throughput, whose time is the same.
	countedWithin = 0.002
)

// bridgeAnswer is what is read of calibrate -o json.
type bridgeAnswer struct {
	Point  int `json:"concurrency_per_gpu"`
	Bridge *struct {
		Pairs   int    `json:"pairs"`
		Refused string `json:"refused"`
		Rate    ratio  `json:"throughput_ratio"`
		TTFT    ratio  `json:"ttft_p99_ratio"`
		// The pair that lies farthest from the server's count.
		AIPerf    float64 `json:"aiperf_tokens_to_server_ratio"`
		Perfsweep float64 `json:"perfsweep_tokens_to_server_ratio"`
	} `json:"bridge"`
}

type ratio struct {
	Ratio float64 `json:"ratio"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

func (r ratio) holds(x float64) bool { return r.Low <= x && x <= r.High }

// TestVerifyBridge bridges one campaign on the real frontend twice with the real
// AIPerf. The server's counter is the referee of both tools; the second bridge says
// how well the intervals of the first one cover a repeat, which 95 % of them do, so
// that only intervals apart from each other fail.
func TestVerifyBridge(t *testing.T) {
	bin, command := build(t), aiperfCommand(t)
	s := live.Dynamo{Workers: 1, Cap: 32, Speedup: 1}.Start(t)
	dir := t.TempDir()
	put := func(name string, b []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("o.yaml", []byte("kind: RecipeMetadata\napiVersion: aicr.run/v1beta1\nmetadata:\n  name: o\nspec:\n  criteria:\n    accelerator: h100\n"))
	args := []string{"calibrate", "--target", s.Base, "--gpus", "1", "--effort", "quick", "--osl", "64", "--overlay", "o.yaml", "-o", "json"}
	plain := execute(t, bridgeLimit, dir, bin, append(args, "--journal", "a.jsonl")...)
	t.Logf("without a bridge, in %s: exit %d\n%s", plain.took.Round(time.Second), plain.exit, plain.stderr)
	journal, err := os.ReadFile(filepath.Join(dir, "a.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	put("b.jsonl", journal)
	var bridges [2]bridgeAnswer
	for i, name := range []string{"a.jsonl", "b.jsonl"} {
		a := execute(t, bridgeLimit, dir, bin, append(args, "--resume", "--bridge", command, "--journal", name)...)
		t.Logf("bridge %d, in %s:\n%s", i+1, a.took.Round(time.Second), a.stderr)
		if err := json.Unmarshal(a.stdout, &bridges[i]); err != nil {
			t.Fatalf("%v\n%s", err, a.stdout)
		}
		b := bridges[i].Bridge
		if b == nil || b.Refused != "" || b.Pairs < 3 {
			t.Fatalf("no bridge: %+v\n%s", b, a.stdout)
		}
		t.Logf("bridge %d at %d streams: AIPerf reads x%.4f of the throughput (%.4f to %.4f), x%.3f of the TTFT p99 (%.3f to %.3f); tokens by the frontend's counter: perfsweep x%.5f, AIPerf x%.5f",
			i+1, bridges[i].Point, b.Rate.Ratio, b.Rate.Low, b.Rate.High, b.TTFT.Ratio, b.TTFT.Low, b.TTFT.High, b.Perfsweep, b.AIPerf)
		if off := b.Perfsweep - 1; !(off <= countedWithin && off >= -countedWithin) {
			t.Errorf("perfsweep counts x%.5f of the frontend's tokens, want within %.1f %%", b.Perfsweep, 100*countedWithin)
		}
	}
	for _, of := range []struct {
		name        string
		first, then ratio
	}{{"throughput", bridges[0].Bridge.Rate, bridges[1].Bridge.Rate}, {"TTFT p99", bridges[0].Bridge.TTFT, bridges[1].Bridge.TTFT}} {
		t.Logf("%s: the repeat, x%.4f, lies in the first interval: %v", of.name, of.then.Ratio, of.first.holds(of.then.Ratio))
		if of.first.High < of.then.Low || of.then.High < of.first.Low {
			t.Errorf("%s: the intervals %.4f to %.4f and %.4f to %.4f lie apart", of.name, of.first.Low, of.first.High, of.then.Low, of.then.High)
		}
	}
}

// aiperfCommand is --bridge with a real AIPerf, which is installed once, and a
// tokenizer of whole words, which needs no network.
func aiperfCommand(t *testing.T) string {
	t.Helper()
	program, tokenizer, err := live.AIPerf(t.Context(), filepath.Join("..", "aiperf.sh"), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	return "aiperf=" + program + " profile --tokenizer " + tokenizer
}
