package observe

import "math"

// blindS is the gap between two readings from which on nothing is taken for
// granted of what lies between.
const blindS = 5

// point is a value at a time, in seconds from the start of the span.
type point struct{ t, v float64 }

// overlap is how much of [t0, t1] lies in [0, end].
func overlap(t0, t1, end float64) float64 { return min(t1, end) - max(t0, 0) }

// counterStat sums up a counter over [0, end]. What it grew between two readings is
// spread evenly over the time between, so that the growth over two spans is
// that over both together. A counter that falls began anew at zero.
func counterStat(p []point, end float64) (Stat, bool) {
	s := Stat{Min: math.Inf(1), N: within(p, end)}
	covered := 0.0
	for i := 1; i < len(p); i++ {
		took := p[i].t - p[i-1].t
		in := overlap(p[i-1].t, p[i].t, end)
		if took <= 0 || in <= 0 {
			continue
		}
		rate := grown(p[i-1].v, p[i].v) / took
		s.Delta += rate * in
		covered += in
		s.Min, s.Max = min(s.Min, rate), max(s.Max, rate)
	}
	if covered == 0 {
		return Stat{}, false
	}
	s.Mean = s.Delta / covered
	return s, true
}

func grown(before, after float64) float64 {
	if after < before {
		return after
	}
	return after - before
}

// gaugeStat sums up a gauge over [0, end], straight lines between readings. A gap
// counts for nothing.
func gaugeStat(p []point, end float64) (Stat, bool) {
	s := Stat{Min: math.Inf(1), Max: math.Inf(-1), N: within(p, end)}
	seen := func(v float64) { s.Min, s.Max = min(s.Min, v), max(s.Max, v) }
	area, covered, sum := 0.0, 0.0, 0.0
	for i, at := range p {
		if at.t >= 0 && at.t <= end {
			seen(at.v)
			sum += at.v
		}
		if i == 0 {
			continue
		}
		before := p[i-1]
		in := overlap(before.t, at.t, end)
		if took := at.t - before.t; took <= 0 || took > blindS || in <= 0 {
			continue
		}
		a, b := between(before, at, max(before.t, 0)), between(before, at, min(at.t, end))
		seen(a)
		seen(b)
		area += in * (a + b) / 2
		covered += in
	}
	switch {
	case covered > 0:
		s.Mean = area / covered
	case s.N > 0:
		s.Mean = sum / float64(s.N)
	default:
		return Stat{}, false
	}
	s.Mean = min(max(s.Mean, s.Min), s.Max) // rounding
	return s, true
}

// between is the straight line through two points.
func between(a, b point, t float64) float64 {
	return a.v + (b.v-a.v)*(t-a.t)/(b.t-a.t)
}

// within counts readings in the span.
func within(p []point, end float64) int {
	n := 0
	for _, at := range p {
		if at.t >= 0 && at.t <= end {
			n++
		}
	}
	return n
}

// longestGap is the longest part of [0, end] without any of the times, which
// ascend.
func longestGap(times []float64, end float64) float64 {
	longest, last := 0.0, 0.0
	for _, t := range times {
		if t > last {
			longest = max(longest, min(t, end)-last)
			last = min(t, end)
		}
	}
	return max(longest, end-last)
}
