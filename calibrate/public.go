package calibrate

import (
	"fmt"
	"math"

	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
)

// publicPoint is one healthy run of the public record, of Qwen3-8B under AICR's
// workload.
type publicPoint struct {
	device            string
	service           string
	gpus              int
	concurrencyPerGPU int
	tokPerSec         float64
	source            string
}

// publicTolerance is how far a campaign may lie from a public point. The record
// holds single runs of other images, routers and clusters.
const publicTolerance = 0.25

const publicModel = "Qwen/Qwen3-8B"

// publicPoints is the newest healthy run with least-loaded routing for each
// device and service, or the newest of all where there is none. A point whose
// number of GPUs is not recorded is left out.
func publicPoints() []publicPoint {
	return []publicPoint{
		{"H100", "eks", 8, 256, 136054, "NVIDIA/aicr#1399, 2026-06-22, least-loaded"},
		{"H100", "gke", 8, 256, 138700, "AICR's fluctuation report 4.6, 2026-06-04, image 1.0.2, round-robin"},
		{"H100", "aks", 8, 256, 144879, "NVIDIA/aicr#1896, 2026-07-23, least-loaded"},
		{"GB200", "eks", 4, 256, 65952, "NVIDIA/aicr#1116, May 2026, router not recorded"},
		{"GB300", "eks", 4, 128, 84788, "NVIDIA/aicr#2385, 2026-08-25, image 1.2.1, least-loaded"},
		{"RTX PRO 6000", "eks", 8, 256, 74833, "AICR's fluctuation report 4.8, 2026-06-04, image 1.0.2"},
	}
}

// publicAnchor holds the campaign against the public record, where a person
// asked for that: at the point's own concurrency, on as many GPUs.
func (e *evidence) publicAnchor(out *AnchorResult) {
	p, why := e.publicPoint()
	var x float64
	if why == "" {
		x, why = e.readAt(p.concurrencyPerGPU)
	}
	if why != "" {
		out.Notes = append(out.Notes, "the public record is no anchor: "+why)
		return
	}
	ref := p.tokPerSec / float64(p.gpus)
	r := x / ref
	what := fmt.Sprintf("the public record of %s on %s (%s, %d per GPU, %s tok a second per GPU; %s)", p.device, p.service, plural.Of(p.gpus, "GPU"), p.concurrencyPerGPU, num(ref), p.source)
	if math.Abs(r-1) > publicTolerance {
		out.Notes = append(out.Notes, fmt.Sprintf("x%.3f of %s, more than %.0f %% off: it vouches for nothing", r, what, 100*publicTolerance))
		return
	}
	out.Strength, out.Ratio, out.Label = Human, r, fmt.Sprintf("at x%.3f of %s", r, what)
}

// publicPoint is the point of this campaign's device, service, model and load.
func (e *evidence) publicPoint() (p publicPoint, why string) {
	f := e.curve.Fingerprint
	gpu, known := deviceOf(f.Labels["gpu_product"])
	w := f.Workload
	switch {
	case f.Simulated:
		return p, "a simulation and a measurement say nothing of each other"
	case !known:
		return p, "the GPU is not stated or not known (--label gpu_product=...)"
	case e.policy.Service == "":
		return p, "the overlay does not state its service"
	case e.model() != publicModel:
		return p, fmt.Sprintf("it is of %s, not of %s", publicModel, printable(e.model()))
	case w.Name != "aicr" || w.ISL != 128 || w.OSL != 128 || w.File != "":
		return p, "it is of AICR's workload, which this campaign did not use"
	case f.Endpoint != "" && f.Endpoint != loadgen.ChatCompletions:
		return p, "it is of chat completions"
	}
	for _, p := range publicPoints() {
		if gpu.name == p.device || gpu.name == p.device+" Server Edition" {
			if p.service != e.policy.Service {
				continue
			}
			if p.gpus != f.GPUs {
				return p, fmt.Sprintf("it is of %s, not of %d", plural.Of(p.gpus, "GPU"), f.GPUs)
			}
			return p, ""
		}
	}
	return p, fmt.Sprintf("it has no healthy run of %s on %s", gpu.name, printable(e.policy.Service))
}

// readAt is what the campaign read at a concurrency: its gate runs at the
// operating point, else the level of the sweep.
func (e *evidence) readAt(n int) (x float64, why string) {
	if n == e.op() && len(e.attempts.valid) > 0 {
		return sweep.Median(e.attempts.throughputs()), ""
	}
	l, ok := levelAt(e.fit, n)
	switch {
	case !ok || !positive(l.TokPerSecPerGPU):
		return 0, fmt.Sprintf("%d per GPU, its load, was not measured", n)
	case len(l.Flags) > 0:
		return 0, fmt.Sprintf("the level of its load, %d per GPU, is flagged", n)
	}
	return l.TokPerSecPerGPU, ""
}
