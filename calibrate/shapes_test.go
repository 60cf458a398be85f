package calibrate

import (
	"fmt"
	"slices"
	"testing"

	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
)

// A floor per GPU by the portable rule serves nodes of every size: at equal
// health per GPU all pass, and at 70 % of that speed all fail. A baseline is
// what the public record has of one image and router on one service.
func TestPortableFloorOverNodeShapes(t *testing.T) {
	runs, err := recipes.PublicRuns()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		rows  []int
		floor float64
	}{
		"h100-eks":         {[]int{4, 5, 6, 7, 8, 9}, 12400},
		"h100-gke":         {[]int{31, 32, 33}, 14700},
		"h100-aks":         {[]int{39, 40, 41, 42, 43, 44}, 15600},
		"gb200-eks":        {[]int{45}, 14000},
		"gb300-eks":        {[]int{51}, 18000},
		"rtx-pro-6000-eks": {[]int{53, 54}, 7900},
	} {
		var rates []float64
		for _, k := range runs {
			if slices.Contains(c.rows, k.Row) && !k.Bad && k.GPUs > 0 {
				rates = append(rates, k.TokPerSec/float64(k.GPUs))
			}
		}
		if len(rates) != len(c.rows) {
			t.Fatalf("%s: %d runs of rows %v", name, len(rates), c.rows)
		}
		// The limit over deployments needs as many runs as a floor that is written.
		median := sweep.Median(rates)
		floor := floorSig(portableShare*median, 3)
		if len(rates) >= minRunsToWrite {
			l, err := FloorLimits([][]float64{rates})
			if err != nil {
				t.Fatal(err)
			}
			floor = l.Portable
		}
		if floor != c.floor {
			t.Errorf("%s: the portable floor is %v, want %v", name, floor, c.floor)
		}
		for _, gpus := range []int{1, 2, 4, 8} {
			for share, pass := range map[float64]bool{1: true, 0.8: true, 0.7: false} {
				t.Run(fmt.Sprintf("%s, %d GPUs, %.0f %%", name, gpus, 100*share), func(t *testing.T) {
					m := recipes.Measured{TokPerSec: share * median * float64(gpus), TTFTP99MS: 500, GPUs: gpus, GPUsPerNode: gpus}
					e, err := recipes.Evaluate(recipes.Gate{FloorPerGPU: floor, CeilingTTFTP99MS: 2000}, m)
					if err != nil || e.Pass != pass {
						t.Errorf("at %.0f tok/s per GPU against %v: %+v, %v", share*median, floor, e, err)
					}
				})
			}
		}
	}
}
