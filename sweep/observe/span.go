package observe

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// Summarize says what was read over the span from one time to another. The
// order of the snapshots does not matter; those from around the span serve to
// cut at its ends.
func Summarize(snapshots []Snapshot, from, to time.Time) Span {
	out := Span{From: from, To: to}
	if !to.After(from) {
		return out
	}
	all, unanswered := accounts(snapshots, from, to)
	out.Unanswered = unanswered
	var fronts, nodes, here []account
	for _, v := range all {
		out.Scrapes += v.scrapes
		out.Missed += v.missed
		if v.mixed() {
			out.Mixed = append(out.Mixed, v.source)
		}
		if v.isFrontend() {
			out.Frontends++
			if v.time(v.pages[0]) <= blindS {
				out.FrontendsStart++
			}
			if !v.refused {
				out.FrontendsEnd++
			}
		}
	}
	all = slices.DeleteFunc(all, account.mixed)
	for _, v := range all {
		if v.isFrontend() {
			fronts = append(fronts, v)
		}
		if v.tells(func(s Snapshot) bool { return s.Node != nil }) {
			if strings.HasPrefix(v.source, "/") { // a folder
				here = append(here, v)
			} else {
				nodes = append(nodes, v)
			}
		}
		if v.tells(func(s Snapshot) bool { return s.Frontend != nil || s.Engines != nil }) {
			out.LongestGapS = max(out.LongestGapS, v.gap())
		}
	}
	out.Frontend = sumFrontends(fronts)
	out.Workers = workers(all)
	out.GPUs = gpus(all)
	out.Node, out.Here = worstNode(nodes), worstNode(here)
	return out
}

func (v account) isFrontend() bool {
	return v.tells(func(s Snapshot) bool { return s.Frontend != nil })
}

func (v account) tells(what func(Snapshot) bool) bool { return slices.ContainsFunc(v.pages, what) }

// gap is the longest time without a good page.
func (v account) gap() float64 {
	times := make([]float64, len(v.pages))
	for i, s := range v.pages {
		times[i] = v.time(s)
	}
	return longestGap(times, v.end)
}

func frontend(s Snapshot) Reading { return s.Frontend }

// sumFrontends adds up what the frontends do. Settings and ages are no sums:
// of them the mean is meant. Min and Max of a counter's growth are bounds,
// since frontends need not peak together.
func sumFrontends(fronts []account) Stats {
	if len(fronts) == 0 {
		return nil
	}
	out, told := Stats{}, map[Metric]int{}
	for _, v := range fronts {
		for m, s := range v.stats(frontend) {
			old, was := out[m]
			told[m]++
			switch {
			case !was:
			case m.setting() || m == UptimeS:
				s = Stat{Mean: old.Mean + (s.Mean-old.Mean)/float64(told[m]), Min: min(old.Min, s.Min), Max: max(old.Max, s.Max), N: min(old.N, s.N)}
			default:
				s = Stat{Mean: old.Mean + s.Mean, Min: old.Min + s.Min, Max: old.Max + s.Max, Delta: old.Delta + s.Delta, N: min(old.N, s.N)}
			}
			out[m] = s
		}
	}
	for m, n := range told {
		if n > 1 && !m.Counter() && !m.setting() && m != UptimeS {
			s := out[m]
			s.Min, s.Max = extremes(fronts, m, s)
			out[m] = s
		}
	}
	return out
}

// extremes are those of the sum of a gauge over frontends that are read at
// different times.
func extremes(fronts []account, m Metric, s Stat) (lo, hi float64) {
	var all [][]point
	var times []float64
	for _, v := range fronts {
		p := v.points(m, frontend)
		if len(p) == 0 {
			continue
		}
		all = append(all, p)
		for _, at := range p {
			if at.t >= 0 && at.t <= v.end {
				times = append(times, at.t)
			}
		}
	}
	lo, hi = s.Mean, s.Mean
	slices.Sort(times)
	next := make([]int, len(all))
	for _, t := range times {
		total := 0.0
		for i, p := range all {
			for next[i] < len(p)-1 && p[next[i]].t < t {
				next[i]++
			}
			total += valueAt(p, next[i], t)
		}
		lo, hi = min(lo, total), max(hi, total)
	}
	return lo, hi
}

// valueAt is the value at t; p[i] is the first point not before t, or the last one.
func valueAt(p []point, i int, t float64) float64 {
	if i == 0 || p[i].t <= t || p[i].t == p[i-1].t {
		return p[i].v
	}
	return between(p[i-1], p[i], t)
}

// gpus takes each GPU from the source that read it most.
func gpus(all []account) map[string]Stats {
	best := map[string]int{}
	out := map[string]Stats{}
	for _, v := range all {
		n := map[string]int{}
		for _, s := range v.pages {
			for name := range s.GPUs {
				n[name]++
			}
		}
		for name, count := range n {
			if count > best[name] {
				best[name] = count
				out[name] = v.stats(func(s Snapshot) Reading { return s.GPUs[name] })
			}
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// worstNode is, for each kind of pressure, the node that has most of it.
func worstNode(nodes []account) Stats {
	var out Stats
	for _, v := range nodes {
		stats := v.stats(func(s Snapshot) Reading { return s.Node })
		for _, m := range slices.Sorted(maps.Keys(stats)) {
			if old, was := out[m]; !was || stats[m].Mean > old.Mean {
				if out == nil {
					out = Stats{}
				}
				out[m] = stats[m]
			}
		}
	}
	return out
}
