package report

import (
	"fmt"
	"slices"
	"text/tabwriter"

	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
)

// generatorDoc is what one run says of the generator itself.
type generatorDoc struct {
	Seq               int             `json:"seq"`
	ConcurrencyPerGPU int             `json:"concurrency_per_gpu"`
	Concurrency       int             `json:"concurrency"` // asked for, in total
	Kind              loadgen.RunKind `json:"kind"`
	Valid             bool            `json:"valid"`
	Health            loadgen.Health  `json:"health"`
	// Where several generators made the run together.
	LoadPods      []loadgen.LoadPod `json:"load_pods,omitempty"`
	StartSpreadMS float64           `json:"start_spread_ms,omitempty"`
}

// generatorDocs leaves out runs of other tools, which tell nothing of theirs.
func generatorDocs(all []sweep.Run) []generatorDoc {
	var out []generatorDoc
	for _, r := range all {
		if told(r) {
			out = append(out, generatorDoc{
				r.Seq, r.Step.ConcurrencyPerGPU, r.Result.Concurrency, r.Step.Kind, r.Valid(), r.Result.Health,
				r.Result.LoadPods, r.Result.StartSpreadMS,
			})
		}
	}
	return out
}

func told(r sweep.Run) bool { return r.Result.Health != (loadgen.Health{}) }

// generator prints the worst run of each level by each number: how far this
// tool can be trusted there.
func (p *printer) generator(all []sweep.Run) {
	levels := map[int][]sweep.Run{}
	for _, r := range all {
		if told(r) {
			n := r.Step.ConcurrencyPerGPU
			levels[n] = append(levels[n], r)
		}
	}
	if len(levels) == 0 || p.err != nil {
		return
	}
	var order []int
	for n := range levels {
		order = append(order, n)
	}
	slices.Sort(order)
	p.line("")
	p.line("this tool itself, the worst run of each level (CPU, lag: V8; in flight: V3):")
	if p.err != nil {
		return
	}
	tw := tabwriter.NewWriter(p.w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "per\tin flight:\t\tlag ms\t\tevents\tno CPU\tlate\tTTFT\t")
	fmt.Fprintln(tw, "GPU\tmean, lowest\tCPU\tp50\tp99\ta read\tfor\tstart ms\tfrom\t")
	for _, n := range order {
		fmt.Fprintf(tw, "%d\t%s\n", n, generatorRow(levels[n]))
	}
	if p.err = tw.Flush(); p.err == nil {
		p.loadPods(all)
	}
}

// loadPods prints how well several generators were one.
func (p *printer) loadPods(all []sweep.Run) {
	pods, spread, clock := 0, 0.0, 0.0
	for _, r := range all {
		pods, spread = max(pods, len(r.Result.LoadPods)), max(spread, r.Result.StartSpreadMS)
		for _, l := range r.Result.LoadPods {
			clock = max(clock, l.ClockUncertaintyMS)
		}
	}
	if pods > 0 {
		p.line("the load came from up to %s; they began to measure within %s ms of each other, on clocks known to ± %s ms, both at worst", plural.Of(pods, "generator"), number(spread), number(clock))
	}
}

func generatorRow(runs []sweep.Run) string {
	most := func(value func(loadgen.Health) float64) float64 {
		v := 0.0
		for _, r := range runs {
			v = max(v, value(r.Result.Health))
		}
		return v
	}
	flight := "-"
	least := 0.0 // of the share that was asked for
	for _, r := range runs {
		h := r.Result.Health
		share := h.DeliveredConcurrency / float64(max(r.Result.Concurrency, 1))
		if share > 0 && (flight == "-" || share < least) {
			least = share
			flight = fmt.Sprintf("%s, %s of %d", number(h.DeliveredConcurrency), number(h.DeliveredConcurrencyLow), r.Result.Concurrency)
		}
	}
	return fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t", flight,
		share(most(func(h loadgen.Health) float64 { return h.CPUShare })),
		number(most(func(h loadgen.Health) float64 { return h.LagP50MS })),
		number(most(func(h loadgen.Health) float64 { return h.LagP99MS })),
		number(most(func(h loadgen.Health) float64 { return h.EventsPerRead })),
		share(most(func(h loadgen.Health) float64 { return h.RunQueueShare })),
		number(most(func(h loadgen.Health) float64 { return h.LateStartP99MS })),
		source(runs))
}

// source names where arrival times come from in all of the runs.
func source(runs []sweep.Run) string {
	for _, r := range runs {
		if !r.Result.Health.KernelTime {
			return "this tool"
		}
	}
	return "kernel"
}

// share prints a share as a percentage, absent as "-".
func share(v float64) string {
	if v == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*v)
}
