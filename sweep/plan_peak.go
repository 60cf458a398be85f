package sweep

// Peak is the largest concurrency per GPU that the plan may ask for.
func (p Plan) Peak() int {
	switch {
	case p.Check:
		return max(p.Point, p.PulseAt)
	case p.Point > 0:
		return LadderNext(p.Point)
	case len(p.Levels) > 0:
		return p.Levels[len(p.Levels)-1]
	}
	return p.MaxConcurrencyPerGPU
}
