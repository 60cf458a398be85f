package enginesim

import (
	"errors"
	"fmt"
	"math"
)

// Router names how requests are spread over workers.
type Router string

// The two routers: fewest requests first, or each worker in turn.
const (
	LeastLoaded Router = "least-loaded"
	RoundRobin  Router = "round-robin"
)

// Params describe an engine. Capacities are per GPU and are shared out evenly
// among the workers of a GPU; only FrontendTokPerSec is a total.
type Params struct {
	// Preset is the name under which the engine was asked for; Model is the
	// one model that it serves.
	Preset string
	Model  string

	GPUs          int
	WorkersPerGPU int
	Router        Router

	// One decoding step of n streams on a GPU takes StepS + StepPerStreamS·n
	// seconds and yields n tokens, so X(n) = n/(StepS + StepPerStreamS·n).
	StepS          float64
	StepPerStreamS float64
	// From Bend streams per GPU on, X grows as n^BendSlope only (0 = no bend).
	Bend      float64
	BendSlope float64
	// Past Edge streams per GPU, X falls as (Edge/n)^FallExponent, down to a
	// twentieth of its height at the edge (0 = no edge). It is the frontend that
	// gives way there, unless Preempts says that it is the KV cache.
	Edge         float64
	FallExponent float64
	// Preempts makes the edge that of a KV cache which takes more streams than
	// it can hold and thrashes: each request that meets it past the edge counts
	// as one preemption, and KVTokens is no limit.
	Preempts bool

	// Slots is the batch cap, published as max_num_seqs (0 = none).
	Slots int
	// Every running stream reserves KVTokensPerStream of KVTokens, whatever its
	// length, so that the cap is a number of streams (0 = no such limit).
	KVTokens          int
	KVTokensPerStream int
	// QueueLimit is the number of waiting requests per GPU beyond which the
	// next one is shed with 529 (0 = never).
	QueueLimit int
	// FrontendTokPerSec is the ceiling of the one frontend (0 = none).
	FrontendTokPerSec float64

	// PrefillTokens is the median time to a first token on an idle queue, in
	// units of a running stream's time per token. At most half of an answer's
	// time is spent so.
	PrefillTokens float64
	// ExcessBeforeFirst is the share of the time lost to an edge or a frontend
	// ceiling that passes before the first token; the rest slows the others.
	ExcessBeforeFirst float64

	// Chunk is the number of tokens in a chunk, after a first one of 1 token.
	Chunk int

	// Faults. Speed multiplies everything that the engine does. Stall is the
	// share of 5 s windows that stand still. Noise is the standard deviation of
	// ln X between runs. Sick is the speed of the last worker, Lost the number
	// of workers gone. Truncated and InBand are shares of broken streams.
	Speed     float64
	Stall     float64
	Noise     float64
	Seed      uint64
	Sick      float64
	Lost      int
	Truncated float64
	InBand    float64
}

// Validate says what is wrong with parameters that were not made by ParseTarget.
func (p Params) Validate() error {
	checks := []struct {
		ok   bool
		what string
	}{
		{p.Model != "", "the model needs a name"},
		{p.GPUs >= 1 && p.GPUs <= maxGPUs, fmt.Sprintf("GPUs must be 1 to %d", maxGPUs)},
		{p.WorkersPerGPU >= 1 && p.WorkersPerGPU <= 8, "workers per GPU must be 1 to 8"},
		{p.Router == LeastLoaded || p.Router == RoundRobin, "the router is least-loaded or round-robin"},
		{positive(p.StepS + p.StepPerStreamS), "a step must take time"},
		{notNegative(p.StepS, p.StepPerStreamS, p.Bend, p.BendSlope, p.Edge, p.FallExponent,
			p.FrontendTokPerSec, p.PrefillTokens), "no part of the law may be negative or infinite"},
		{p.Bend == 0 || p.Edge == 0 || p.Bend <= p.Edge, "a bend must come before the edge"},
		{p.Slots >= 0 && p.Slots%max(1, p.WorkersPerGPU) == 0, "slots must divide evenly among the workers of a GPU"},
		{p.KVTokens == 0 || p.KVTokensPerStream > 0 && p.KVTokens >= p.KVTokensPerStream*p.WorkersPerGPU,
			"the KV cache must hold at least one stream a worker"},
		{p.QueueLimit >= 0, "the queue limit must not be negative"},
		{share(p.ExcessBeforeFirst), "the excess before the first token must be 0 to 1"},
		{p.Chunk >= 1 && p.Chunk <= maxChunk, fmt.Sprintf("a chunk must have 1 to %d tokens", maxChunk)},
		{positive(p.Speed), "speed must be above 0"},
		{isTenths(p.Stall), "stall must be 0, 0.1 … 0.9"},
		{notNegative(p.Noise), "noise must not be negative"},
		{positive(p.Sick) && p.Sick <= 1, "a sick worker's speed must be above 0 and at most 1"},
		{p.Lost >= 0 && p.Lost < p.GPUs*p.WorkersPerGPU, "at least one worker must be left"},
		{share(p.Truncated) && share(p.InBand) && p.Truncated+p.InBand <= 1, "shares of broken streams must be 0 to 1 together"},
		{p.Sick == 1 || p.GPUs*p.WorkersPerGPU-p.Lost > 1, "a sick worker needs a healthy one beside it: use two GPUs or more"},
		{p.Sick == 1 || p.Router != RoundRobin || p.Edge == 0 && p.FrontendTokPerSec == 0 && p.BendSlope <= 1,
			"a sick worker behind round-robin has no closed form with an edge or a frontend ceiling: use least-loaded"},
	}
	var errs []error
	for _, c := range checks {
		if !c.ok {
			errs = append(errs, errors.New(c.what))
		}
	}
	if len(errs) > 0 {
		return fmt.Errorf("simulator %q: %w", p.Preset, errors.Join(errs...))
	}
	return nil
}

const (
	maxGPUs  = 128
	maxChunk = 1024
)

func positive(v float64) bool { return v > 0 && !math.IsInf(v, 1) }

func share(v float64) bool { return v >= 0 && v <= 1 }

func notNegative(vs ...float64) bool {
	for _, v := range vs {
		if !(v >= 0) || math.IsInf(v, 1) {
			return false
		}
	}
	return true
}

// isTenths holds for what ten windows can show exactly.
func isTenths(v float64) bool {
	return v >= 0 && v <= 0.9 && math.Abs(v*10-math.Round(v*10)) < 1e-9
}
