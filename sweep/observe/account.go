package observe

import (
	"errors"
	"slices"
	"syscall"
	"time"
)

// account is what one source told around a span: its good pages in it, the last
// one before and the first one after, and what became of those that failed.
type account struct {
	source  string
	from    time.Time
	end     float64 // length of the span in seconds
	pages   []Snapshot
	scrapes int
	missed  int
	refused bool // at the end of the span nothing listened there any more
}

// accounts sorts snapshots by source. Sources that never answered are named.
func accounts(snapshots []Snapshot, from, to time.Time) (out []account, unanswered []string) {
	by := map[string][]Snapshot{}
	for _, s := range snapshots {
		by[s.Source] = append(by[s.Source], s)
	}
	for source, all := range by {
		slices.SortStableFunc(all, func(a, b Snapshot) int { return a.At.Compare(b.At) })
		v := account{source: source, from: from, end: to.Sub(from).Seconds()}
		v.fill(all, from, to)
		if slices.ContainsFunc(all, func(s Snapshot) bool { return s.Err == nil }) {
			out = append(out, v)
		} else {
			unanswered = append(unanswered, source)
		}
	}
	slices.SortFunc(out, func(a, b account) int {
		if a.source < b.source {
			return -1
		}
		return 1
	})
	slices.Sort(unanswered)
	return out, unanswered
}

// refusals in a row say that a server is gone; one may be a full backlog.
const refusals = 2

func (v *account) fill(all []Snapshot, from, to time.Time) {
	row := 0
	for _, s := range all {
		in := !s.At.Before(from) && !s.At.After(to)
		if s.Err != nil {
			if in {
				v.missed++
			}
			if errors.Is(s.Err, syscall.ECONNREFUSED) || errors.Is(s.Err, syscall.EHOSTUNREACH) {
				row++
			} else {
				row = 0
			}
			if !s.At.After(to) {
				v.refused = row >= refusals
			}
			continue
		}
		row = 0
		switch {
		case s.At.Before(from):
			v.pages = append(v.pages[:0], s)
		case in:
			v.pages = append(v.pages, s)
			v.scrapes++
		case len(v.pages) == 0 || !v.pages[len(v.pages)-1].At.After(to):
			v.pages = append(v.pages, s)
		}
		if !s.At.After(to) {
			v.refused = false
		}
	}
}

// maxFalls is how often a server may begin anew or leave; none does so again and
// again within a run.
const maxFalls = 2

// mixed holds for an address that answers with the pages of several servers in
// turn, as that of a Kubernetes Service does: counters fall, and workers come and
// go, again and again. Nothing can be told from such pages.
func (v account) mixed() bool {
	const frontends = "" // no engine has this name
	falls := map[string]int{}
	for i := 1; i < len(v.pages); i++ {
		before, after := v.pages[i-1], v.pages[i]
		if after.Frontend.fellFrom(before.Frontend) {
			falls[frontends]++
		}
		for id, was := range before.Engines {
			if is, there := after.Engines[id]; !there || is.fellFrom(was) {
				falls[id]++
			}
		}
	}
	for _, n := range falls {
		if n > maxFalls {
			return true
		}
	}
	return false
}

// fellFrom holds where something that only grows is below what it was.
func (r Reading) fellFrom(before Reading) bool {
	for m, was := range before {
		if is, told := r[m]; told && is < was && (m == UptimeS || m.Counter()) {
			return true
		}
	}
	return false
}

func (v account) time(s Snapshot) float64 { return s.At.Sub(v.from).Seconds() }

// points are the readings of one metric. A counter that an earlier page did not
// have was zero then: series appear with the first thing that they count.
func (v account) points(m Metric, of func(Snapshot) Reading) []point {
	var out []point
	absent, missing := 0.0, false
	for _, s := range v.pages {
		value, ok := of(s)[m]
		if !ok {
			absent, missing = v.time(s), true
			continue
		}
		if len(out) == 0 && missing && m.Counter() {
			out = append(out, point{absent, 0})
		}
		out = append(out, point{v.time(s), value})
	}
	return out
}

// stat sums up one metric.
func (v account) stat(m Metric, of func(Snapshot) Reading) (Stat, bool) {
	if m.Counter() {
		return counterStat(v.points(m, of), v.end)
	}
	return gaugeStat(v.points(m, of), v.end)
}

// stats sums up all metrics that there are.
func (v account) stats(of func(Snapshot) Reading) Stats {
	out := Stats{}
	for _, s := range v.pages {
		for m := range of(s) {
			if _, done := out[m]; done {
				continue
			}
			if stat, ok := v.stat(m, of); ok {
				out[m] = stat
			}
		}
	}
	return out
}
