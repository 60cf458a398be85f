package recipes

// RuleReplay is a floor per GPU that a rule makes of an overlay's own healthy
// runs, before the same runs and node sizes as the overlay's floor.
type RuleReplay struct {
	FloorPerGPU float64 `json:"floor_output_tok_per_s_per_gpu"`
	// Effective is what the evaluator compares with.
	Effective float64     `json:"effective_output_tok_per_s_per_gpu"`
	Floor     Tally       `json:"by_floor_alone"`
	Shapes    []RuleShape `json:"shapes"`
}

// RuleShape is a node that is as healthy per GPU as the median healthy run, and
// the same at 70 % of that speed.
type RuleShape struct {
	GPUs    int     `json:"gpus"`
	Healthy Outcome `json:"healthy"`
	Slow    Outcome `json:"at_70_percent"`
}

// HealthyPerGPU are the healthy runs at the gate's load, in output tok/s per
// GPU and rising order.
func (r *Replay) HealthyPerGPU() []float64 { return r.healthy }

// ApplyRule adds what a floor per GPU, made of HealthyPerGPU by a rule, says of
// the runs.
func (r *Replay) ApplyRule(floorPerGPU float64) {
	if len(r.healthy) == 0 {
		return
	}
	g := Gate{FloorPerGPU: floorPerGPU}
	rule := RuleReplay{FloorPerGPU: floorPerGPU, Effective: floorPerGPU * (1 - Tolerance)}
	for _, j := range r.Runs {
		if j.Floor == NoVerdict { // a run that the overlay's own floor cannot judge
			continue
		}
		o, _ := judge(g, j.KnownRun)
		rule.Floor.add(j, o)
	}
	median := medianOf(r.healthy)
	rule.Floor.LossSeen = 1 - rule.Effective/median
	for _, n := range nodeSizes() {
		rule.Shapes = append(rule.Shapes, RuleShape{n, atShare(g, n, median, 1), atShare(g, n, median, slowShare)})
	}
	r.Rule = &rule
}

// slowShare is the speed of the slow node: a loss that a floor must see.
const slowShare = 0.7

func nodeSizes() []int { return []int{1, 2, 4, 8} }

// atShare is what a gate says of a node of n GPUs at a share of a speed per GPU.
func atShare(g Gate, n int, perGPU, share float64) Outcome {
	o, _ := judge(g, KnownRun{TokPerSec: share * perGPU * float64(n), GPUs: n})
	return o
}

// medianOf is that of a rising list.
func medianOf(v []float64) float64 { return (v[(len(v)-1)/2] + v[len(v)/2]) / 2 }
