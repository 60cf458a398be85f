package main

import (
	"fmt"

	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
)

// waves look for kernels that are compiled or captured as they are first
// needed: TTFT falls from wave to wave of the same load. A gate that was
// measured meanwhile is one of a deployment that is not warm.
type waves struct {
	ttft map[wave][]float64
	told bool
}

// wave is a load that comes again.
type wave struct {
	concurrency int
	kind        loadgen.RunKind
}

// So many waves, each faster than the one before it, and together by so much:
// noise alone orders three runs one time in six, and does not take a third off.
const (
	fallingWaves = 3
	fallingBy    = 0.67
)

// hear takes a run's reading; a warning comes once.
func (w *waves) hear(r sweep.Run) string {
	p50 := r.Result.Estimate().TTFTP50MS
	if w.told || p50 <= 0 {
		return ""
	}
	if w.ttft == nil {
		w.ttft = map[wave][]float64{}
	}
	k := wave{r.Step.ConcurrencyPerGPU, r.Result.Kind}
	seen := append(w.ttft[k], p50)
	w.ttft[k] = seen
	if len(seen) < fallingWaves {
		return ""
	}
	last := seen[len(seen)-fallingWaves:]
	for i := 1; i < len(last); i++ {
		if last[i] >= last[i-1] {
			return ""
		}
	}
	if last[len(last)-1] > fallingBy*last[0] {
		return ""
	}
	w.told = true
	return fmt.Sprintf("TTFT p50 at %d per GPU falls from run to run (%.0f, %.0f, %.0f ms): kernels seem to be compiled or captured as they are first needed (JIT); send load until it stands still, or keep the compile cache on a volume, and measure again",
		k.concurrency, last[0], last[1], last[2])
}
