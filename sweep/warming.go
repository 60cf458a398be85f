package sweep

import (
	"fmt"
	"strings"

	"github.com/perfsweep/perfsweep/loadgen"
)

// Warming looks for kernels that are compiled or captured as they are first
// needed (JIT): TTFT falls from wave to wave of the same load, inside a run or
// from run to run. What is measured meanwhile is a deployment that is not warm.
// The zero value is ready.
type Warming struct {
	window int
	ttft   map[load][]float64
	told   bool
}

// load is a load that comes again.
type load struct {
	concurrency int
	kind        loadgen.RunKind
}

// So many waves, each faster than the one before it, and together by so much:
// noise alone orders three of them one time in six, and does not take a third off.
const (
	fallingWaves = 3
	fallingBy    = 0.67
)

// falling reports whether some waves, of which there are enough, fall.
func falling(ms []float64) bool {
	for i := 1; i < len(ms); i++ {
		if !(ms[i] < ms[i-1]) {
			return false
		}
	}
	return len(ms) >= fallingWaves && ms[0] > 0 && ms[len(ms)-1] <= fallingBy*ms[0]
}

// fell reports whether TTFT fell over the first waves of a run, and did not come
// back: a load that swings does.
func fell(ms []float64) bool {
	if len(ms) < fallingWaves || !falling(ms[:fallingWaves]) {
		return false
	}
	for _, later := range ms[fallingWaves:] {
		if later > fallingBy*ms[0] {
			return false
		}
	}
	return true
}

// Hear takes the next run; it says something once a window, which may be that of
// another deployment.
func (w *Warming) Hear(r Run) string {
	if r.window() != w.window || w.ttft == nil {
		*w = Warming{window: r.window(), ttft: map[load][]float64{}}
	}
	if w.told {
		return ""
	}
	if ms := r.Result.TTFTWavesMS; r.Result.Kind == loadgen.Steady && fell(ms) {
		return w.tell(r, fmt.Sprintf("wave to wave of run %d", r.Seq), ms)
	}
	p50 := r.Result.Estimate().TTFTP50MS
	if p50 <= 0 {
		return ""
	}
	k := load{r.Step.ConcurrencyPerGPU, r.Result.Kind}
	seen := append(w.ttft[k], p50)
	w.ttft[k] = seen
	if last := seen[max(0, len(seen)-fallingWaves):]; falling(last) {
		return w.tell(r, "run to run", last)
	}
	return ""
}

func (w *Warming) tell(r Run, from string, ms []float64) string {
	w.told = true
	var figures []string
	for _, v := range ms {
		figures = append(figures, fmt.Sprintf("%.0f", v))
	}
	return fmt.Sprintf("TTFT p50 at %d per GPU falls from %s (%s ms): kernels seem to be compiled or captured as they are first needed (JIT); send load until it stands still, or keep the compile cache on a volume, and measure again",
		r.Step.ConcurrencyPerGPU, from, strings.Join(figures, ", "))
}

// WarmingUp is the first thing that Warming says of some runs, "" if nothing.
func WarmingUp(runs []Run) string {
	var w Warming
	for _, r := range runs {
		if s := w.Hear(r); s != "" {
			return s
		}
	}
	return ""
}
