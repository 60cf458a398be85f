package sweep

import (
	"slices"

	"github.com/perfsweep/perfsweep/loadgen"
)

// Follows reports whether a violation says nothing but that most of the run's
// requests failed, which is V2: no load is held then (V3), what the survivors get
// drifts (V5) and stands still (V6), and where nobody survived no answer has a
// length (V4). Requests that ran out of time are another matter: there the stall
// may be what failed them.
func (r Run) Follows(v Violation) bool {
	if !slices.ContainsFunc(r.Violations, func(v Violation) bool { return v.Gate == "V2" }) {
		return false
	}
	o := r.Result.Measured
	bad := o.Bad()
	switch v.Gate {
	case "V3", "V5":
		return 2*bad > o.Total()
	case "V6":
		return 2*bad > o.Total() && 2*o[loadgen.Timeout] < bad
	case "V4":
		return bad > 0 && o[loadgen.OK] == 0
	}
	return false
}

// Causes are the violations of a run that do not follow from another one, and
// following the gates of those that do.
func (r Run) Causes() (causes []Violation, following []string) {
	for _, v := range r.Violations {
		switch {
		case !r.Follows(v):
			causes = append(causes, v)
		case !slices.Contains(following, v.Gate):
			following = append(following, v.Gate)
		}
	}
	return causes, following
}
