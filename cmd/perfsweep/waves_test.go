package main

import (
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
)

func TestWaves(t *testing.T) {
	for name, c := range map[string]struct {
		ttft []float64
		want bool
	}{
		"falling":           {[]float64{900, 500, 300}, true},
		"noise":             {[]float64{300, 295, 290}, false},
		"two waves":         {[]float64{900, 300}, false},
		"a cold first wave": {[]float64{900, 300, 301, 299}, false},
		"falling late":      {[]float64{300, 900, 500, 300}, true},
		"rising":            {[]float64{300, 500, 900}, false},
		"no tokens":         {[]float64{0, 0, 0}, false},
	} {
		var w waves
		warned := 0
		for _, ms := range append(c.ttft, c.ttft[len(c.ttft)-1]) {
			// Runs at another load between them are waves of their own.
			for _, n := range []int{64, 128} {
				r := sweep.Run{Step: sweep.Step{ConcurrencyPerGPU: n}, Result: loadgen.Result{Kind: loadgen.Steady}}
				r.Result.Window.TTFTP50MS = ms
				if n == 128 {
					r.Result.Window.TTFTP50MS = 100
				}
				if s := w.hear(r); s != "" {
					warned++
					if !strings.Contains(s, "at 64 per GPU") {
						t.Errorf("%s: %s", name, s)
					}
				}
			}
		}
		if (warned == 1) != c.want || warned > 1 {
			t.Errorf("%s: warned %d times", name, warned)
		}
	}
}
