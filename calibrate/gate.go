package calibrate

import (
	"github.com/perfsweep/perfsweep/recipes"
)

// rawFloor is the unrounded floor per GPU of a profile, as it is written.
func (e *evidence) rawFloor(p Profile) float64 {
	l, of := e.limits, portableShare
	if p == Regression {
		of = regressionShare
	}
	share, limit := e.bridge.floorFactors()
	return min(of*share*l.Median, limit*l.L/(1-recipes.Tolerance))
}

// floor returns what is written for a form, per GPU or for a whole node, and
// how many GPUs that is for.
func (e *evidence) floor(form Form) (written float64, gpus int) {
	if e.policy.TTFTOnly {
		return 0, 0
	}
	gpus = 1
	if form == Absolute {
		gpus = e.policy.NodeGPUs
	}
	return floorSig(e.rawFloor(e.policy.Profile)*float64(gpus), 3), gpus
}

// effectiveFloor is the throughput per GPU below which the evaluator fails a
// run of the written gate; 0 where no floor is written.
func (e *evidence) effectiveFloor() float64 {
	written, gpus := e.floor(e.form)
	if gpus <= 0 {
		return 0
	}
	return (1 - recipes.Tolerance) * written / float64(gpus)
}

// gate is what would be written.
func (e *evidence) gate(current recipes.Gate) (recipes.Gate, string) {
	g := recipes.Gate{
		Model:             current.Model,
		ConcurrencyPerGPU: e.op(),
		CeilingTTFTP99MS:  e.ceilingMS,
	}
	if g.Model == "" {
		g.Model = e.model()
	}
	var note string
	g.RoutingMode, note = routing(e.curve.Fingerprint.RoutingMode, current.RoutingMode)
	switch written, _ := e.floor(e.form); e.form {
	case Absolute:
		g.Floor = written
	default:
		g.FloorPerGPU = written
	}
	return g, note
}

// model is the model that the campaign measured.
func (e *evidence) model() string { return modelOf(e.curve) }
