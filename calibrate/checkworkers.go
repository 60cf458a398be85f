package calibrate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/sweep"
)

// missingWorkers says what V1 saw, in the words of the last run that failed it,
// "" where none did. Such runs are INVALID, never slow: a check that has too few
// others is inconclusive, and one that has enough keeps its verdict.
func missingWorkers(c sweep.Curve) string {
	failed, last := 0, ""
	for _, r := range c.Runs {
		if i := slices.IndexFunc(r.Violations, func(v sweep.Violation) bool { return v.Gate == gateReady }); i >= 0 {
			failed++
			last = fmt.Sprintf("%s; expected %s", inSigns(r.Violations[i].Observed), inSigns(r.Violations[i].Threshold))
		}
	}
	if failed == 0 {
		return ""
	}
	return fmt.Sprintf("V1, in %d of %s: %s; such runs say nothing of a whole deployment: bring every worker back and check again, or state the number that is meant with --label workers=N and calibrate again",
		failed, plural.Of(len(c.Runs), "run"), last)
}

// uncounted says that nobody counted the workers of a check though those of its
// baseline were, "" if they were counted or never were. A lost worker then shows
// in the capacity pulse only, where there is one.
func uncounted(c sweep.Curve, base *sweep.Curve) string {
	was := func(r sweep.Run) bool { return r.Workers != nil }
	if base == nil || len(c.Runs) == 0 || slices.ContainsFunc(c.Runs, was) {
		return ""
	}
	i := slices.IndexFunc(base.Runs, was)
	if i < 0 {
		return ""
	}
	return fmt.Sprintf("V1 is not observed: no run of the check has its ready workers counted, and those of the baseline were, %d of them", base.Runs[i].Workers.Expected)
}

const uncountedRemedy = "check the frontend itself, whose /health lists its workers, with a new journal; or add a capacity pulse, with a baseline of the same effort"

// uncounted is the same of a sidecar, which keeps the number only: without a
// baseline nothing but V1 sees a worker whose load the others carry. counted says
// that the calibration's were counted, and not only stated: V1 then held there, and
// what held is not known to hold any more.
func (p *Provenance) uncounted(name string, c sweep.Curve) (blind string, counted bool) {
	n := p.Fingerprint.Labels["workers"]
	if n == "" || len(c.Runs) == 0 || slices.ContainsFunc(c.Runs, func(r sweep.Run) bool { return r.Workers != nil }) {
		return "", false
	}
	blind = fmt.Sprintf("V1 is not observed: no run of the check has its ready workers counted, and the calibration of %s had %s on %s: a lost worker whose load the others carry would not be seen",
		printable(name), printable(n), plural.Of(p.Fingerprint.GPUs, "GPU"))
	return blind, !slices.ContainsFunc(p.NotKnown, func(s string) bool { return strings.Contains(s, unobservedWorkers()) })
}

// counting adds to a check without a baseline what the sidecar tells of its workers.
func (s Sidecar) counting(r CheckResult, c sweep.Curve, base *sweep.Curve) CheckResult {
	if s.Provenance == nil || base != nil {
		return r
	}
	switch blind, counted := s.Provenance.uncounted(s.Name, c); {
	case counted:
		return r.inconclusive(blind + ": " + uncountedRemedy)
	case blind != "":
		r.Reasons = append(slices.Clone(r.Reasons), blind)
	}
	return r
}

// unobservedWorkers is how a sidecar's list of what is not known names V1.
func unobservedWorkers() string {
	g := allRunGates()[0]
	return g.id + " " + g.name
}
