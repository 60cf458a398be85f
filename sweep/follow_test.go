package sweep

import (
	"slices"
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/loadgen"
)

// TestCauses: gates that a run fails because most of its requests failed are no
// causes of their own; those of a run whose requests went well, or ran out of time
// while everything stood still, are.
func TestCauses(t *testing.T) {
	for name, c := range map[string]struct {
		o                         loadgen.Outcomes
		failed, causes, following string
	}{
		"refused by all":      {loadgen.Outcomes{loadgen.HTTPStatus: 100}, "V2 V4 V3 V5 V6", "V2", "V4 V3 V5 V6"},
		"dying":               {loadgen.Outcomes{loadgen.OK: 40, loadgen.Connect: 60}, "V2 V4 V3 V5 V6 V8", "V2 V4 V8", "V3 V5 V6"},
		"half failed":         {loadgen.Outcomes{loadgen.OK: 50, loadgen.Connect: 50}, "V2 V3 V5 V6", "V2 V3 V5 V6", ""},
		"a few failed":        {loadgen.Outcomes{loadgen.OK: 98, loadgen.InBand: 2}, "V2 V3 V6", "V2 V3 V6", ""},
		"timed out, stalling": {loadgen.Outcomes{loadgen.OK: 10, loadgen.Timeout: 90}, "V2 V3 V6", "V2 V6", "V3"},
		"no failure":          {loadgen.Outcomes{loadgen.OK: 100}, "V3 V5 V6", "V3 V5 V6", ""},
		"V8 alone":            {loadgen.Outcomes{loadgen.Shed: 100}, "V8", "V8", ""},
		"said twice":          {loadgen.Outcomes{loadgen.Shed: 100}, "V2 V5 V5", "V2", "V5"},
	} {
		r := Run{Result: loadgen.Result{Measured: c.o}}
		for _, g := range strings.Fields(c.failed) {
			r.Violations = append(r.Violations, Violation{Gate: g})
		}
		causes, following := r.Causes()
		var ids []string
		for _, v := range causes {
			ids = append(ids, v.Gate)
		}
		if !slices.Equal(ids, strings.Fields(c.causes)) || !slices.Equal(following, strings.Fields(c.following)) {
			t.Errorf("%s: causes %v, following %v", name, ids, following)
		}
	}
}

// TestClientBoundAtTheLargestLevel: where this tool limited half of the runs or
// more, a campaign is client-bound if that was at its largest level or where a
// point was to be confirmed. Elsewhere the levels above tell of the server.
func TestClientBoundAtTheLargestLevel(t *testing.T) {
	bound, good := []Violation{{Gate: "V8"}}, []Violation(nil)
	stalled := []Violation{{Gate: "V6"}}
	at := func(level int, p Purpose, violations ...[]Violation) []Run {
		var out []Run
		for _, v := range violations {
			out = append(out, Run{Step: Step{ConcurrencyPerGPU: level, Purpose: p}, Violations: v})
		}
		return out
	}
	for name, c := range map[string]struct {
		runs []Run
		want bool
	}{
		"none":                              {nil, false},
		"half of the largest":               {slices.Concat(at(64, Coarse, good, good), at(128, Coarse, bound, good)), true},
		"all of the largest":                {slices.Concat(at(64, Coarse, good), at(128, Coarse, bound)), true},
		"fewer than half of the largest":    {at(128, Coarse, bound, good, good), false},
		"below the largest":                 {slices.Concat(at(64, Coarse, bound, bound), at(128, Coarse, good)), false},
		"below it, as a confirmation":       {slices.Concat(at(64, Confirm, bound, good), at(128, Coarse, good)), true},
		"purposes are not added":            {slices.Concat(at(64, Confirm, good, good, bound), at(64, Coarse, bound), at(128, Coarse, good)), false},
		"the largest comes before the rest": {slices.Concat(at(128, Coarse, bound), at(8, Coarse, good, good, good)), true},
		"one pass over the largest":         {slices.Concat(at(128, Coarse, bound), at(128, Second, good, good)), true},
		"another gate":                      {at(128, Coarse, stalled, stalled), false},
	} {
		if got := (Curve{Runs: c.runs}).ClientBound(); got != c.want {
			t.Errorf("%s: client-bound %v", name, got)
		}
	}
}
