package calibrate

import (
	"fmt"
	"math"

	"github.com/perfsweep/perfsweep/internal/exact"
	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/knee"
)

// Veto is a test that can refuse a campaign whatever vouches for it. One that
// lacks what it needs is not judged, which is said and is no pass.
type Veto struct {
	Name   string `json:"name"`
	Judged bool   `json:"judged"`
	Fired  bool   `json:"fired"`
	// Says gives the numbers, or what is missing.
	Says string `json:"says"`
	// lost says that what every campaign measures for it is not in the journal,
	// and nothing else is missing: it could have fired.
	lost bool
}

func (v Veto) text() string {
	switch {
	case !v.Judged:
		return v.Name + " not judged: " + v.Says
	case v.Fired:
		return "VETO, " + v.Name + ": " + v.Says
	}
	return v.Name + " holds: " + v.Says
}

// vetoes are judged whether or not there is an anchor.
func (e *evidence) vetoes() []Veto { return []Veto{e.streamVeto(), e.missingWorkersVeto()} }

const (
	// A single stream's token waits for every active weight to be read once.
	// Real engines need up to 2.5 times that, and a step has costs of its own
	// (launching, scheduling, streaming) that no bandwidth bounds: with small
	// models they are most of it. Their size is an assumption.
	streamSlack    = 2.5
	stepOverheadMS = 3.0
)

// streamVeto holds a single stream's ITL against what memory bandwidth allows.
// It is coarse: it sees clocks at half speed, a CPU that cannot launch kernels,
// or a label that is not true, such as one whose weights fit no memory; 20 % it
// does not see.
func (e *evidence) streamVeto() Veto {
	v := Veto{Name: "single-stream ITL"}
	f, itl := e.curve.Fingerprint, e.curve.Preflight.StreamITLMS
	gpu, known := deviceOf(f.Labels["gpu_product"])
	w, sized := modelOfWeights(e.model())
	bytes, precise := bytesPerWeight(f.Labels["precision"])
	per := e.gpusPerWorker()
	switch {
	case f.Labels["gpu_product"] == "":
		v.Says = "the GPU is not stated (--label gpu_product=...)"
	case !known:
		v.Says = fmt.Sprintf("the memory bandwidth of %q is not known here", printable(f.Labels["gpu_product"]))
	case !sized:
		v.Says = fmt.Sprintf("the size of model %q is not known here", printable(e.model()))
	case f.Labels["precision"] == "":
		v.Says = "the precision is not stated (--label precision=...)"
	case !precise:
		v.Says = fmt.Sprintf("the precision %q is not known here", printable(f.Labels["precision"]))
	case per == 0:
		v.Says = "the GPUs of a worker are not stated (--label workers=... or gpus_per_worker=...)"
	case !positive(itl):
		v.lost = !f.Simulated
		v.Says = "the journal has no single-stream ITL"
	case w.least*bytes > gpu.memoryGB*float64(per):
		// 10⁹ weights × bytes is gigabytes. Every weight that a token reads is there.
		v.Judged, v.Fired = true, true
		v.Says = fmt.Sprintf("%s of %s reads %s GB at least, which do not fit the %s GB of %d x %s: the GPU, the precision or the GPUs of a worker are not what is stated",
			printable(f.Labels["precision"]), printable(e.model()), num(w.least*bytes), num(gpu.memoryGB*float64(per)), per, gpu.name)
	default:
		// 10⁹ weights × bytes / (10¹² bytes/s) is milliseconds.
		least := w.least * bytes / (gpu.tbPerS * float64(per))
		most := streamSlack*w.most*bytes/(gpu.tbPerS*float64(per)) + stepOverheadMS
		v.Judged = true
		v.Fired = itl < least || itl > most
		v.Says = fmt.Sprintf("%s ms, %s to %s ms are plausible for %s of %s on %d x %s", num(itl), num(least), num(most),
			printable(f.Labels["precision"]), printable(e.model()), per, gpu.name)
		switch {
		case itl < least:
			v.Says += "; faster than memory can be read: the GPU, the precision or the GPUs of a worker are not what is stated, or tokens are guessed ahead"
		case itl > most:
			v.Says += "; a single request is too slow: look at clocks, power, CPUs and the path to the server"
		}
	}
	return v
}

// plateau is the share of the best throughput from which on a level counts as
// saturated.
const plateau = 0.85

// missingWorkersVeto looks for the signature of workers that do not serve. Below
// the knee the others absorb their load; only saturated levels show it, as a
// ratio of whole workers to a journal of the same thing.
func (e *evidence) missingWorkersVeto() Veto {
	v := Veto{Name: "k of W workers", Says: "no anchor journal has a saturated level in common"}
	w, _ := workers(e.curve.Fingerprint)
	if w < 2 {
		v.Says = "one worker"
		return v
	}
	for _, a := range e.policy.Anchors {
		if why := e.sameThing(a); why != "" {
			continue
		}
		ref := a.Curve.Fit()
		own, other, n := commonSaturated(e.fit, ref)
		if n == 0 {
			continue
		}
		r := own.TokPerSecPerGPU / other.TokPerSecPerGPU
		// The noise of a ratio of two deployments; see the capacity pulse.
		sw := max(swFloor, e.fit.Noise, ref.Noise)
		sigma := math.Sqrt(float64(2*sbPrior*sbPrior) + float64(sw*sw*(1/float64(max(own.Kept, 1))+1/float64(max(other.Kept, 1)))))
		k := int(math.Round(r * float64(w)))
		near := k >= 1 && k < w && math.Abs(exact.Log(r*float64(w)/float64(k))) <= 2*sigma
		v.Judged = true
		says := fmt.Sprintf("x%.3f of %s at %d per GPU, saturated", r, printable(a.Name), n)
		if near && exact.Log(r) < -2.5*sigma {
			v.Fired = true
			v.Says = says + fmt.Sprintf("; as with %d of %s: see which of them serve", k, plural.Of(w, "worker"))
			return v
		}
		v.Says = says
	}
	return v
}

// commonSaturated finds the highest concurrency at which both curves were
// measured, are past the knee, of one piece and not in collapse.
func commonSaturated(a, b knee.Fit) (la, lb knee.Level, n int) {
	if !a.HasKnee() || !b.HasKnee() {
		return la, lb, 0
	}
	for _, l := range a.Levels {
		m, ok := levelAt(b, l.ConcurrencyPerGPU)
		if ok && saturated(a, l) && saturated(b, m) && l.ConcurrencyPerGPU > n {
			la, lb, n = l, m, l.ConcurrencyPerGPU
		}
	}
	return la, lb, n
}

func saturated(f knee.Fit, l knee.Level) bool {
	best := 0.0
	for _, o := range f.Levels {
		best = max(best, o.TokPerSecPerGPU)
	}
	return float64(l.ConcurrencyPerGPU) >= f.Knee && len(l.Flags) == 0 && positive(l.TokPerSecPerGPU) && l.TokPerSecPerGPU >= plateau*best
}
