package knee_test

import (
	"fmt"
	"testing"

	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/knee/kneetest"
)

// The families of mechanism, apart from all others: nothing was tuned on them,
// before or after. The targets are those of knee.md §16.
func TestAcceptMechanisms(t *testing.T) {
	s := newSuite(t)
	trials := max(s.trials/2, 10)
	var all [][]score
	for _, f := range kneetest.Mechanisms() {
		var family [][]score
		for _, g := range []setting{octaves(0.03), halfOctaves(0.03), halfOctaves(0.05)} {
			family = append(family, s.family(f, g.intervals(), trials))
		}
		got := pooled(family...)
		what := func(format string, args ...any) string {
			return fmt.Sprintf("%s, "+format, append([]any{f}, args...)...)
		}
		s.shares("own", what("±½ octave"), atLeast, 0.70, got, withinHalf)
		s.shares("own", what("interval covers"), stated, 0, got, covered)
		s.figures("own", what("median error in octaves"), stated, 0, got, errors)
		s.shares("own", what("false or no knee (not within ±1 octave, or none)"), stated, 0, got, func(o score) kneetest.Share {
			return kneetest.Share{Of: o.trials - o.one, All: o.trials}
		})
		all = append(all, got)
	}
	s.strict("own", "mechanisms", pooled(all...))
}

// A mechanism that is never overloaded within the ladder has no knee there.
func TestAcceptMechanismsWithoutAKnee(t *testing.T) {
	s := newSuite(t)
	var all [][]score
	for _, f := range kneetest.Mechanisms() {
		all = append(all, s.family(f, setting{levels: []int{1, 2, 3, 4, 6, 8, 12}, repeats: 3, cv: 0.03, opt: onlyKnee}, s.trials))
	}
	s.shares("own", "mechanisms measured below half their knee are not_saturated", atLeast, 0.97, pooled(all...), hasStatus(knee.NotSaturated))
}
