package sweep

import "fmt"

// The bounds that may be the active one of an operating point.
const (
	boundMargin    = "0.8_knee"
	boundTop       = "0.8_top_level"
	boundInterval  = "sqrt2_knee_low"
	boundEdge      = "latency_edge"
	boundSLO       = "slo"
	boundNext      = "next_level_unhealthy"
	boundObjective = "objective"
	boundConfirmed = "confirmed"
	boundGiven     = "given"
)

// Sentence says what the operating point is and which bound made it so, or why
// there is none.
func (op OperatingPoint) Sentence() string {
	switch {
	case op.ConcurrencyPerGPU == 0:
		return "no operating point: " + op.Reason
	case !op.Healthy:
		return fmt.Sprintf("%d per GPU would be the operating point, but %s", op.ConcurrencyPerGPU, op.Reason)
	}
	return fmt.Sprintf("the operating point is %d per GPU (bound %s: %s)", op.ConcurrencyPerGPU, op.Bound, op.boundText())
}

// boundText is the active bound in words.
func (op OperatingPoint) boundText() string {
	switch op.Bound {
	case boundMargin:
		return "the ladder value at or below 0.8 × the knee"
	case boundTop:
		return "a lower bound, the ladder value at or below 0.8 × the highest level, where throughput still rose"
	case boundInterval:
		return "the knee may lie low, the ladder value at or below √2 × the lower end of its interval"
	case boundEdge:
		return "the last level before TTFT p99 steps up"
	case boundObjective:
		return "the ladder value at or below the largest concurrency that meets the objective"
	case boundConfirmed:
		return "as confirmed, since a confirmation never moves up"
	case boundGiven:
		return "given and proved, the knee is at least that"
	}
	return "stepped down, as " + op.BoundReason // slo, next_level_unhealthy
}
