package calibrate

import (
	"fmt"
	"os"
	"slices"
	"strings"
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
		median, floor := sweep.Median(rates), RecordFloor(rates)
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

// The same for every shipped overlay, over all healthy runs at its load: nodes of
// every size pass, and at 70 % of that speed none does. Its own floor is 0.80 of
// the lowest run, rounded to 2 digits, which lets that loss pass for three.
func TestPortableRuleOverShippedOverlays(t *testing.T) {
	runs, err := recipes.PublicRuns()
	if err != nil {
		t.Fatal(err)
	}
	overlays, err := recipes.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	misses := map[string]bool{"gb300-eks": true, "h100-aks": true, "h100-gke": true}
	gates := 0
	for _, o := range overlays {
		r, err := recipes.ReplayOverlay(o, runs)
		if err != nil {
			t.Fatal(err)
		}
		r.ApplyRule(RecordFloor(r.HealthyPerGPU()))
		if !r.Enabled {
			if r.Rule != nil {
				t.Errorf("%s has no gate, and yet %+v", r.Overlay, r.Rule)
			}
			continue
		}
		gates++
		if f := r.Rule.Floor; f.Healthy != r.Floor.Healthy || f.HealthyPassed != f.Healthy || f.Bad != r.Floor.Bad || f.BadCaught < r.Floor.BadCaught || f.LossSeen > 0.3 {
			t.Errorf("%s: by the rule %+v, by its own floor %+v", r.Overlay, f, r.Floor)
		}
		if misses[r.Accelerator+"-"+r.Service] {
			src, err := os.ReadFile("../recipes/overlays/" + r.Overlay + ".yaml")
			says := fmt.Sprintf("makes %s of the healthy public runs, which acts as %s and fails it", grouped(r.Rule.FloorPerGPU), grouped(r.Rule.Effective))
			if err != nil || !strings.Contains(strings.ReplaceAll(string(src), "\n      #", ""), says) {
				t.Errorf("%s does not say %q, %v", r.Overlay, says, err)
			}
		}
		for i, s := range r.Rule.Shapes {
			if s.Healthy != recipes.Passes || s.Slow != recipes.Fails {
				t.Errorf("%s, %d GPUs, floor %v: %+v", r.Overlay, s.GPUs, r.Rule.FloorPerGPU, s)
			}
			own := r.Shapes[i]
			if passes := own.Slow == recipes.Passes; own.Healthy != recipes.Passes || passes != misses[r.Accelerator+"-"+r.Service] {
				t.Errorf("%s: its own floor says %+v", r.Overlay, own)
			}
		}
	}
	if gates != 6 {
		t.Errorf("%d gates are shipped", gates)
	}
	if RecordFloor(nil) != 0 || RecordFloor([]float64{20000}) != 17000 {
		t.Error("the floor of no run, or of one")
	}
}

// grouped writes thousands as the comments of overlays do.
func grouped(v float64) string {
	s := fmt.Sprintf("%.0f", v)
	return s[:len(s)-3] + "," + s[len(s)-3:]
}
