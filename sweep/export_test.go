package sweep

import "github.com/perfsweep/perfsweep/knee"

// FastTurns is NextTurn for one campaign, with fits that are remembered and
// have no interval, which no measuring step of a sweep rests on.
func FastTurns() func(p Plan, a, b []Run) (Turn, error) {
	find := remember(func(runs []knee.Run, o knee.Options) knee.Fit {
		o.Bootstrap = 1
		return knee.Find(runs, o)
	})
	return func(p Plan, a, b []Run) (Turn, error) { return nextTurn(p, a, b, find) }
}
