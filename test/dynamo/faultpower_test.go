//go:build verify

package dynamo

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
	"github.com/perfsweep/perfsweep/test/internal/live"
)

const (
	// powerWithin is how far a reading may be from what the fault-power report
	// predicts of it, as shares of the healthy reading: the fit, the noise of a
	// shared machine before and after, and the mocker's own constant times.
	powerWithin = 0.10
	powerSpeed  = 1.0
	powerSlow   = 0.7
)

// TestVerifyFaultPower: what calibrate predicts that a lost worker and a lower speed
// read is what a real frontend with that fault reads, at the operating point
// and, with the lost worker, at the level of the pulse.
func TestVerifyFaultPower(t *testing.T) {
	bin, dir := build(t), t.TempDir()
	s := live.Dynamo{Workers: lostWorkers, Cap: 16, Speedup: powerSpeed}.Start(t)
	if err := os.WriteFile(filepath.Join(dir, "overlay.yaml"), []byte(lostOverlay), 0o644); err != nil {
		t.Fatal(err)
	}
	a := execute(t, lostLimit, dir, bin, append([]string{"calibrate", "--target", s.Base, "--effort", "quick",
		"--levels", "4,8,12,16,24", "--overlay", "overlay.yaml", "--journal", "healthy.jsonl", "-o", "json"}, lostWorkload()...)...)
	var c struct {
		ConcurrencyPerGPU int `json:"concurrency_per_gpu"`
		Sensitivity       []struct {
			Loss       string  `json:"loss"`
			Ratio      float64 `json:"throughput_ratio"`
			PulseRatio float64 `json:"pulse_throughput_ratio"`
			Caught     float64 `json:"caught_probability"`
			ByCheck    float64 `json:"check_caught_probability"`
		} `json:"sensitivity"`
	}
	if err := json.Unmarshal(a.stdout, &c); err != nil || a.exit != exitInconclusive {
		t.Fatalf("exit status %d, %v\n%s\nstderr:\n%s", a.exit, err, a.stdout, a.stderr)
	}
	healthy, err := sweep.ReadJournal(filepath.Join(dir, "healthy.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	op := c.ConcurrencyPerGPU
	pulse, why := healthy.PulseBase(healthy.Fit(), op)
	if why != "" {
		t.Fatalf("no pulse: %s; stderr:\n%s", why, a.stderr)
	}
	levels := []int{op}
	if pulse.ConcurrencyPerGPU != op {
		levels = append(levels, pulse.ConcurrencyPerGPU)
	}
	measure := func(s live.Engine, journal string) sweep.Curve {
		list := fmt.Sprint(levels[0])
		for _, n := range levels[1:] {
			list += fmt.Sprintf(",%d", n)
		}
		a := execute(t, lostLimit, dir, bin, append([]string{"sweep", "--target", s.Base, "--effort", "quick", "--levels", list, "--repeats", "3", "--journal", journal}, lostWorkload()...)...)
		got, err := sweep.ReadJournal(filepath.Join(dir, journal))
		if err != nil {
			t.Fatalf("exit status %d, %v; stderr:\n%s", a.exit, err, a.stderr)
		}
		return got
	}
	compare := func(loss string, sick sweep.Curve) {
		for _, s := range c.Sensitivity {
			if s.Loss != loss {
				continue
			}
			for i, n := range levels {
				want := []float64{s.Ratio, s.PulseRatio}[i]
				got := steadyMedian(sick, n) / steadyMedian(healthy, n)
				t.Logf("%s, at %d per GPU: predicted x%.3f, read x%.3f; caught by one gate run %.2f, by check %.2f", loss, n, want, got, s.Caught, s.ByCheck)
				if !(math.Abs(got-want) <= powerWithin) {
					t.Errorf("%s, at %d per GPU: predicted x%.3f, read x%.3f, want at most %.2f between", loss, n, want, got, powerWithin)
				}
			}
			return
		}
		t.Errorf("calibrate predicts nothing of %q: %+v", loss, c.Sensitivity)
	}
	s.KillWorker(t, lostWorkers-1)
	s.AwaitWorkers(t, lostWorkers-1)
	compare(fmt.Sprintf("1 of %d workers lost", lostWorkers), measure(s, "lost.jsonl"))
	compare("everything 30 % slower", measure(live.Dynamo{Workers: lostWorkers, Cap: 16, Speedup: powerSlow * powerSpeed}.Start(t), "slow.jsonl"))
}

// steadyMedian is the median throughput of the steady runs of a level. A run
// that a busy machine made INVALID still reads what it reads.
func steadyMedian(c sweep.Curve, n int) float64 {
	var x []float64
	for _, r := range c.Runs {
		if r.Step.Kind == loadgen.Steady && r.Step.ConcurrencyPerGPU == n {
			x = append(x, r.Result.Window.OutputTokPerSec)
		}
	}
	return sweep.Median(x)
}
