package calibrate

import "github.com/perfsweep/perfsweep/sweep"

// RecordFloor is the floor per GPU that the portable rule makes of a record of
// healthy runs, in output tok/s per GPU: what a calibration would write had it
// measured them. Fewer runs than a floor may rest on have no limit over
// deployments, and the share of the median alone decides; 0 where there is none.
func RecordFloor(perGPU []float64) float64 {
	if len(perGPU) >= minRunsToWrite {
		if l, err := FloorLimits([][]float64{perGPU}); err == nil {
			return l.Portable
		}
		return 0
	}
	return floorSig(portableShare*sweep.Median(perGPU), 3)
}
