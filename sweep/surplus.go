package sweep

import "sort"

// BeyondCheck counts the runs at n per GPU that a check holds beyond those that
// it makes: attempts until three are valid or cannot become so any more, and, where
// the endpoint stood still before any load, until they have lasted for Plan.MinWatch.
// Who adds attempts to a check that has ended goes on until the answer pleases.
func (c Curve) BeyondCheck(n int) int {
	var made []Run
	for _, r := range c.Runs {
		if r.Step.Purpose == Check && r.Step.ConcurrencyPerGPU == n {
			made = append(made, r)
		}
	}
	// What a budget had cut off may be continued under another one.
	p := DefaultPlan(Standard)
	p.Check, p.Point, p.MinWatch, p.MaxRuns = true, n, c.Plan.MinWatch, MaxRunsBound
	return len(made) - sort.Search(len(made), func(k int) bool { return NextStep(p, made[:k]).Done })
}
