package calibrate

import (
	"fmt"

	"github.com/perfsweep/perfsweep/recipes"
)

// PolicyError says that what the user asked for does not fit the overlay; it
// is bad input, not a verdict.
type PolicyError struct {
	Msg string
}

func (e *PolicyError) Error() string { return "calibrate: " + e.Msg }

func policyErrorf(format string, args ...any) error {
	return &PolicyError{Msg: fmt.Sprintf(format, args...)}
}

// ResolveForm says under which name the floor is written. A file keeps the
// form it has, a file with neither gets the per-GPU one, and only an explicit
// Policy.Form changes it. Errors are *PolicyError; it needs no measurement, so
// that a caller can fail before any load.
func ResolveForm(current recipes.Gate, p Policy) (Form, error) {
	switch p.Profile {
	case "", Portable, Regression:
	default:
		return "", policyErrorf("unknown floor profile %q; use %s or %s", p.Profile, Portable, Regression)
	}
	switch p.Form {
	case "", PerGPU, Absolute:
	default:
		return "", policyErrorf("unknown floor form %q; use %s or %s", p.Form, PerGPU, Absolute)
	}
	if p.NodeGPUs < 0 {
		return "", policyErrorf("a node has 1 or more GPUs, not %d", p.NodeGPUs)
	}
	if current.FloorPerGPU > 0 && current.Floor > 0 {
		return "", policyErrorf("the overlay has both inference-throughput-per-gpu and inference-throughput; remove one of them")
	}
	form := p.Form
	if form == "" {
		form = PerGPU
		if current.Floor > 0 {
			form = Absolute
		}
	}
	if form == Absolute && p.NodeGPUs == 0 && !p.TTFTOnly {
		return "", policyErrorf("an absolute floor (inference-throughput) is for a whole node: say how many GPUs the node has (--node-gpus)")
	}
	return form, nil
}

// The two values that inference-routing-mode may have, and the default of the
// evaluator.
const (
	routeDynamo  = "dynamo-router"
	routeGateway = "gateway-epp"
)

// routing picks the routing mode of the gate: what the campaign says it
// measured, else what the overlay pins, else the evaluator's default. note says
// what a reader must know about it.
func routing(measured, pinned string) (mode, note string) {
	switch {
	case measured == routeDynamo || measured == routeGateway:
		if pinned != "" && pinned != measured {
			note = fmt.Sprintf("routing mode changes from %s to the measured %s", pinned, measured)
		}
		return measured, note
	case measured != "":
		note = fmt.Sprintf("the campaign's routing mode %q is neither %s nor %s", printable(measured), routeDynamo, routeGateway)
	}
	if pinned != "" {
		return pinned, note
	}
	if note != "" {
		note += "; "
	}
	return routeDynamo, note + "routing mode " + routeDynamo + " is assumed: neither campaign nor overlay states it"
}
