package observe

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// telling is what one source says of one worker: a reading for each of its
// pages, nil where the worker was not on it.
type telling struct {
	account
	id       string
	own      bool // its own page, not a frontend's hearsay
	readings []Reading
	n        int
}

// workers sums up each worker. What several sources tell is taken from one: the
// worker's own page before a frontend's, then the one that tells most.
func workers(all []account) []Worker {
	by := map[string][]telling{}
	for _, v := range all {
		ids := map[string]bool{}
		for _, s := range v.pages {
			for id := range s.Engines {
				ids[id] = true
			}
		}
		for id := range ids {
			if t := v.telling(id); t.n > 0 {
				by[id] = append(by[id], t)
			}
		}
	}
	var out []Worker
	for _, id := range slices.Sorted(maps.Keys(by)) {
		tellings := by[id]
		slices.SortStableFunc(tellings, func(a, b telling) int {
			if a.own != b.own {
				if a.own {
					return -1
				}
				return 1
			}
			return cmp.Compare(b.n, a.n) // sources come in their order
		})
		out = append(out, summarizeWorker(id, tellings))
	}
	return out
}

func (v account) telling(id string) telling {
	t := telling{account: v, id: id}
	for _, s := range v.pages {
		r := s.Engines[id]
		t.readings = append(t.readings, r)
		if r == nil {
			continue
		}
		if at := v.time(s); at <= v.end { // one that came later was not there
			t.n++
		}
		_, running := r[Running]
		_, tokens := r[OutputTokens]
		t.own = t.own || running || tokens
	}
	return t
}

func summarizeWorker(id string, tellings []telling) Worker {
	w := Worker{ID: id, Stats: Stats{}, Left: true}
	if t := tellings[0]; t.own && t.alone() && t.source != id {
		w.Page = t.source
	}
	for _, t := range tellings {
		for m, s := range t.stats(func(s Snapshot) Reading { return s.Engines[id] }) {
			if _, known := w.Stats[m]; !known {
				w.Stats[m] = s
			}
		}
		if t.own || !tellings[0].own {
			w.Left = w.Left && t.left()
		}
		if t.own {
			w.Restarted = w.Restarted || t.restarted()
			w.Joined = w.Joined || t.joined()
		}
	}
	w.SilentS, w.UnreadS = tellings[0].silence(), tellings[0].unread()
	return w
}

// alone holds where a page tells of no other worker and is not a frontend's.
func (t telling) alone() bool {
	worker, _, _ := strings.Cut(t.id, "/")
	return !t.isFrontend() && !t.tells(func(s Snapshot) bool {
		for id := range s.Engines {
			if id != worker && !strings.HasPrefix(id, worker+"/") {
				return true
			}
		}
		return false
	})
}

// left: the last page in the span lacks the worker, or nothing listens at its
// own address any more. A page that only times out says nothing.
func (t telling) left() bool {
	if t.own && t.refused {
		return true
	}
	for i := len(t.pages) - 1; i >= 0; i-- {
		if t.time(t.pages[i]) <= t.end {
			return t.readings[i] == nil
		}
	}
	return false
}

// pairs are the readings that follow each other and reach into the span.
func (t telling) pairs(visit func(before, after Reading, t0, t1 float64)) {
	for i := 1; i < len(t.pages); i++ {
		t0, t1 := t.time(t.pages[i-1]), t.time(t.pages[i])
		if overlap(t0, t1, t.end) > 0 {
			visit(t.readings[i-1], t.readings[i], t0, t1)
		}
	}
}

// restarted: it is up for a shorter time than before, or one of its counters
// fell.
func (t telling) restarted() bool {
	found := false
	t.pairs(func(before, after Reading, _, _ float64) {
		found = found || after.fellFrom(before)
	})
	return found
}

// joined: an earlier page was without it. A further rank of a worker that was
// there may only have had nothing to count.
func (t telling) joined() bool {
	worker := t.id
	if i := strings.LastIndexByte(worker, '/'); i >= 0 {
		worker = worker[:i]
	}
	absent := false
	for i, s := range t.pages {
		if t.time(s) > t.end {
			break
		}
		if t.readings[i] != nil {
			return absent
		}
		absent = true
		for id := range s.Engines {
			if id == worker || strings.HasPrefix(id, worker+"/") {
				absent = false
			}
		}
	}
	return false
}

// silence is the longest time without a new token while requests were running,
// as far as readings show it. A gap in them ends it.
func (t telling) silence() float64 {
	longest, now := 0.0, 0.0
	t.pairs(func(before, after Reading, t0, t1 float64) {
		was, ok0 := before[OutputTokens]
		is, ok1 := after[OutputTokens]
		if !ok0 || !ok1 || is != was || before[Running] == 0 || after[Running] == 0 || t1-t0 > blindS {
			now = 0
			return
		}
		now += overlap(t0, t1, t.end)
		longest = max(longest, now)
	})
	return longest
}

// unread is the longest time without a reading of it.
func (t telling) unread() float64 {
	var times []float64
	for i, s := range t.pages {
		if t.readings[i] != nil {
			times = append(times, t.time(s))
		}
	}
	return longestGap(times, t.end)
}
