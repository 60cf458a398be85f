package sweep

import (
	"strings"
	"testing"
)

func shares(pairs ...[2]float64) []Share {
	var out []Share
	for i, p := range pairs {
		out = append(out, Share{Worker: string(rune('a' + i)), Completed: p[0], InFlight: p[1]})
	}
	return out
}

// V7 at its thresholds and inside them.
func TestShares(t *testing.T) {
	for name, c := range map[string]struct {
		shares []Share
		says   string // "" = passes
	}{
		"nothing told":            {nil, ""},
		"one worker":              {shares([2]float64{900, 64}), ""},
		"alike":                   {shares([2]float64{900, 64}, [2]float64{910, 60}, [2]float64{890, 66}), ""},
		"completed at 1.25":       {shares([2]float64{1000, 9}, [2]float64{1000, 9}, [2]float64{1250, 9}), ""},
		"completed above 1.25":    {shares([2]float64{1000, 9}, [2]float64{1000, 9}, [2]float64{1260, 9}), "worker c completed 1260"},
		"chance on few requests":  {shares([2]float64{20, 9}, [2]float64{20, 9}, [2]float64{36, 9}), ""},
		"one had all":             {shares([2]float64{0, 0}, [2]float64{0, 0}, [2]float64{500, 64}), "worker c completed 500"},
		"in flight at 2":          {shares([2]float64{100, 32}, [2]float64{100, 32}, [2]float64{100, 64}), ""},
		"one backs up":            {shares([2]float64{100, 32}, [2]float64{100, 643}, [2]float64{100, 32}), "worker b had 643.0 requests in flight"},
		"a handful in flight":     {shares([2]float64{100, 0.5}, [2]float64{100, 6}, [2]float64{100, 0.5}), ""},
		"a slow one is no excess": {shares([2]float64{1000, 32}, [2]float64{400, 32}, [2]float64{1000, 32}), ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := checkServers(&Servers{Shares: c.shares})
			switch {
			case c.says == "" && len(got) > 0:
				t.Errorf("%+v, want none", got)
			case c.says != "" && (len(got) != 1 || got[0].Gate != "V7" || !strings.Contains(got[0].Observed, c.says) || got[0].Remedy == ""):
				t.Errorf("%+v, want V7 with %q", got, c.says)
			}
		})
	}
}

// A worker that came back under its old id is seen by its counters only.
func TestChangedWorker(t *testing.T) {
	got := checkServers(&Servers{Changed: []string{"worker 9 restarted"}})
	if len(got) != 1 || got[0].Gate != "V1" || !strings.Contains(got[0].Observed, "worker 9 restarted") {
		t.Errorf("%+v, want V1", got)
	}
	for f, bad := range map[Frontends]bool{{2, 2, 2}: false, {2, 1, 2}: true, {2, 2, 1}: true, {2, 2, 3}: true} {
		if got := checkServers(&Servers{Frontends: &f}); (len(got) == 1 && got[0].Gate == "V1") != bad || len(got) > 1 {
			t.Errorf("%+v: %+v", f, got)
		}
	}
	if got := checkServers(nil); got != nil {
		t.Errorf("%+v of a run that nothing is known of", got)
	}
}
