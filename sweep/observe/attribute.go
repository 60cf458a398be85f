package observe

import (
	"cmp"
	"fmt"
	"slices"
)

// Attribute says of each level what holds it back. Levels are given in
// ascending order of concurrency: whether throughput still rises, and what rose
// with it, shows only beside the neighbours. It is pure, and the first rule of
// the table that holds is the finding; a rule that meets evidence for and
// against itself makes the level Unknown.
func Attribute(levels []Level) []Finding {
	findings := make([]Finding, len(levels))
	for i := range levels {
		findings[i] = attribute(look(levels, i))
	}
	return findings
}

// rule is one row of the table: which bottleneck, when, and what to change.
type rule struct {
	names Bottleneck
	judge func(*seen) opinion
	try   string
}

// rules are asked from top to bottom. What would make every later number
// meaningless comes first: the client, then a worker that left, which may look
// like a stall, a server that stood still or refused, a lack of evidence. KV before the batch cap, because a full
// cache keeps running below the cap; the frontend before compute, because both
// leave nothing waiting in the engines.
func rules() []rule {
	return []rule{
		{LoadGenerator, clientBound, "measure from a larger machine, or with fewer streams a generator: this level says nothing of the server"},
		{Imbalance, gone, "find why the worker left, and measure again: before and after are two deployments"},
		{Stalled, stoodStill, "find what stood still (preemption, a stuck worker, a noisy neighbour) and measure again: the level is not slow, it is unknown"},
		{Shedding, refused, "stay below this concurrency, raise the server's queue limits or add workers"},
		{Unknown, unseen, "let the servers be watched: give the addresses of the frontend's and of every worker's metrics page (--metrics)"},
		{Unknown, foreign, "measure while nobody else uses the deployment"},
		{Imbalance, uneven, "look at the workers named; route by load (least-loaded), or replace the worker that is slow or gone"},
		{KVCapacity, cacheFull, "give the KV cache more memory, quantise it, shorten the context, or stay below this concurrency"},
		{BatchCap, batchFull, "raise the engines' batch size (--max-num-seqs) if memory allows, or add workers"},
		{FrontendBound, frontendFull, "add frontends, or measure with fewer GPUs a frontend: a floor from this curve holds only up to as many GPUs a frontend"},
		{Imbalance, faulty, "look at the GPUs named (temperature, power, nvidia-smi -q, the kernel's log) and replace them"},
		{Compute, computeFull, "the engines are busy: faster or more GPUs, lower precision or shorter prompts move this, settings do not"},
		{Headroom, roomLeft, ""},
	}
}

// verdict is what a rule says of a level.
type verdict int

const (
	no verdict = iota
	yes
	conflict // evidence for and against
)

type opinion struct {
	verdict  verdict
	evidence []string
	against  []string
	workers  []string
	try      string // in place of the rule's
}

func (o *opinion) say(format string, args ...any) {
	o.evidence = append(o.evidence, fmt.Sprintf(format, args...))
}

// but notes what speaks for another cause.
func (o *opinion) but(format string, args ...any) {
	o.against = append(o.against, fmt.Sprintf(format, args...))
}

// decided is yes, or conflict where something speaks against it.
func (o opinion) decided() opinion {
	o.verdict = yes
	if len(o.against) > 0 {
		o.verdict = conflict
	}
	return o
}

func attribute(v *seen) Finding {
	for _, r := range rules() {
		o := r.judge(v)
		switch o.verdict {
		case yes:
			return Finding{ConcurrencyPerGPU: v.ConcurrencyPerGPU, Bottleneck: r.names,
				Evidence: append(o.evidence, v.remarks...), Workers: o.workers, Try: cmp.Or(o.try, r.try)}
		case conflict:
			return Finding{ConcurrencyPerGPU: v.ConcurrencyPerGPU, Bottleneck: Unknown,
				Evidence: append(o.evidence, without(v.remarks, o.against)...), Against: o.against, Workers: o.workers}
		case no:
		}
	}
	return Finding{ConcurrencyPerGPU: v.ConcurrencyPerGPU, Bottleneck: Unknown, Evidence: append(v.summary(), v.remarks...)}
}

// without are the lines that are not among others.
func without(lines, others []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(s string) bool { return slices.Contains(others, s) })
}
