package observe

import (
	"maps"
	"slices"
	"time"
)

// sighting is one worker at one scrape.
type sighting struct {
	at      time.Time
	running float64
	tokens  float64
}

// tokenMetrics are counters that grow with every token; engines publish one or
// the other.
func tokenMetrics() []Metric { return []Metric{OutputTokens, EngineITLN} }

// workerSilences are the stretches in which one worker held requests and made
// no token while another made some.
func workerSilences(from time.Time, snaps []Snapshot, c Client, silence float64) []Event {
	workers := tokenHistories(snaps)
	var events []Event
	for _, id := range slices.Sorted(maps.Keys(workers)) {
		h := workers[id]
		quiet := func(i int) bool { return h[i].running > 0 && h[i+1].running > 0 && h[i+1].tokens == h[i].tokens }
		for a, b := range stretches(len(h)-1, quiet) {
			start, end := h[a].at, h[b].at
			if start.Before(from) {
				start = from
			}
			length := end.Sub(start).Seconds()
			if length <= silence || !othersMoved(workers, id, start, end) {
				continue
			}
			e := Event{Kind: WorkerSilence, StartS: start.Sub(from).Seconds(), LengthS: length, Workers: []string{id}}
			e.Depth = c.depth(e.StartS, e.LengthS)
			events = append(events, e)
		}
	}
	return events
}

// tokenHistories orders what was told of each worker by time. Where a worker is
// on two pages, the one that tells more often is taken: they are not read at
// the same moments.
func tokenHistories(snaps []Snapshot) map[string][]sighting {
	pages := map[string]map[string][]sighting{}
	for _, s := range snaps {
		for id, r := range s.Engines {
			running, ok := r[Running]
			if !ok {
				continue
			}
			for _, m := range tokenMetrics() {
				if tokens, ok := r[m]; ok {
					if pages[id] == nil {
						pages[id] = map[string][]sighting{}
					}
					pages[id][s.Source] = append(pages[id][s.Source], sighting{s.At, running, tokens})
					break
				}
			}
		}
	}
	histories := map[string][]sighting{}
	for id, of := range pages {
		for _, source := range slices.Sorted(maps.Keys(of)) {
			if len(of[source]) > len(histories[id]) {
				histories[id] = of[source]
			}
		}
		slices.SortStableFunc(histories[id], func(a, b sighting) int { return a.at.Compare(b.at) })
	}
	return histories
}

// othersMoved holds when another worker made a token well inside a stretch.
func othersMoved(workers map[string][]sighting, but string, start, end time.Time) bool {
	for id, h := range workers {
		if id == but {
			continue
		}
		for i := range len(h) - 1 {
			if !h[i].at.Before(start) && !h[i+1].at.After(end) && h[i+1].tokens > h[i].tokens {
				return true
			}
		}
	}
	return false
}
