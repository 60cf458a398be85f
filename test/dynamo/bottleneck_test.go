//go:build dynamo || verify

package dynamo

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep/observe"
	"github.com/perfsweep/perfsweep/sweep/observe/observetest"
	"github.com/perfsweep/perfsweep/test/internal/live"
)

// bottleneck is a real deployment that a known thing holds back.
type bottleneck struct {
	name     string
	d        live.Dynamo
	isl, osl int
	levels   []int
	want     observe.Bottleneck
	// killAfter ends the last worker in the last level.
	killAfter time.Duration
}

// bottlenecks are those of shared/dynamo/README.md, smaller: a level below the
// limit, at which nothing else may be named, and one past it.
func bottlenecks() []bottleneck {
	return []bottleneck{
		{name: "batch cap", d: live.Dynamo{Workers: 1, Cap: 16, Speedup: 1}, isl: 64, osl: 64, levels: []int{8, 32}, want: observe.BatchCap},
		{name: "KV wall", d: live.Dynamo{Workers: 1, Cap: 64, Speedup: 1, Args: []string{"--blocks", "256"}},
			isl: 192, osl: 64, levels: []int{4, 32}, want: observe.KVCapacity},
		// A prompt of 2,000 tokens takes an engine 41 ms over its speed-up, in steps
		// of four prompts (its formula: shared/dynamo/README.md). At 20 two engines
		// are full at 970 requests a second, and on a fast core a frontend hands out
		// 885: what holds back has two names then. At 100 they take 4,850.
		{name: "frontend", d: live.Dynamo{Workers: 2, Cap: 256, Speedup: 100, Args: []string{"--blocks", "16384", "--frontend-cpus", "0"}},
			isl: 2000, osl: 8, levels: []int{4, 128}, want: observe.FrontendBound},
		{name: "slow worker", d: live.Dynamo{Workers: 3, Cap: 16, Speedup: 1, Args: []string{"--last-args", "--speedup-ratio 0.4"}},
			isl: 64, osl: 32, levels: []int{6, 18}, want: observe.Imbalance},
		{name: "killed worker", d: live.Dynamo{Workers: 3, Cap: 16, Speedup: 1},
			isl: 64, osl: 32, levels: []int{6, 18}, want: observe.Imbalance, killAfter: 6 * time.Second},
		{name: "shed", d: live.Dynamo{Workers: 1, Cap: 8, Speedup: 1, Env: []string{"DYN_ENGINE_REQUEST_LIMIT=8", "DYN_DYNAMO_REQUEST_QUEUE_LIMIT=4"}},
			isl: 64, osl: 32, levels: []int{4, 24}, want: observe.Shedding},
	}
}

// levelTime is the measured part of a level.
const levelTime = 8 * time.Second

// attributeReal measures the deployment and demands that its last level is named
// for what it is and no level for anything else. What a busy machine does to a
// level is true of the machine and not of the deployment: where it did so to the
// last one all is measured again, three times at most. A wrong answer is never
// asked for twice.
func attributeReal(t *testing.T, b bottleneck) {
	for i := range 3 {
		var findings []observe.Finding
		t.Run(fmt.Sprintf("measurement %d", i+1), func(t *testing.T) { findings = measureReal(t, b) })
		if t.Failed() {
			return
		}
		if len(findings) > 0 && !ofMachine(findings[len(findings)-1]) {
			judgeFindings(t, b, findings)
			return
		}
	}
	t.Error("this machine stood still, or this tool was the bottleneck, in three measurements: run it on a less busy one")
}

// ofMachine: the machine stood still, or the load generator was the limit.
func ofMachine(f observe.Finding) bool {
	return f.Bottleneck == observe.Stalled || f.Bottleneck == observe.LoadGenerator
}

func measureReal(t *testing.T, b bottleneck) []observe.Finding {
	s := b.d.Start(t)
	d := observetest.Deployment{Base: s.Base, Model: s.Model, GPUs: 1, Pages: s.Pages}
	spec := loadgen.WorkloadSpec{Name: loadgen.Synthetic, ISL: b.isl, OSL: b.osl, OSLStddev: b.osl / 6, Seed: 1, IgnoreEOS: true}
	if b.killAfter > 0 {
		last := len(b.levels) - 1
		d.Before = func(level int) {
			if level == last {
				timer := time.AfterFunc(b.killAfter, func() { s.KillWorker(t, b.d.Workers-1) })
				t.Cleanup(func() { timer.Stop() })
			}
		}
	}
	findings := observe.Attribute(d.Sweep(t, spec, levelTime, b.levels...))
	for _, f := range findings {
		t.Logf("%d streams: %s; %s; against: %s; workers %v", f.ConcurrencyPerGPU, f.Bottleneck,
			strings.Join(f.Evidence, "; "), strings.Join(f.Against, "; "), f.Workers)
	}
	return findings
}

func judgeFindings(t *testing.T, b bottleneck, findings []observe.Finding) {
	for i, f := range findings {
		switch {
		case f.Bottleneck == b.want, ofMachine(f):
		case i == len(findings)-1:
			t.Errorf("%d streams: %s, want %s", f.ConcurrencyPerGPU, f.Bottleneck, b.want)
		case f.Bottleneck != observe.Headroom && f.Bottleneck != observe.Unknown:
			t.Errorf("%d streams: %s, which holds nothing back here", f.ConcurrencyPerGPU, f.Bottleneck)
		}
	}
}
