package observe

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// What counts as standing still: as run gate V6 does (knee.md §17), so that an
// event and an INVALID run never disagree.
const (
	silenceFloorS  = 2.0
	silenceTTFTs   = 2  // a client's own pause before a first token, twice
	silenceITLs    = 20 // and twenty pauses between tokens
	slowShare      = 0.5
	slowWindowS    = 1.0
	slowTokens     = 20 // a window of fewer says nothing
	slowPauses     = 4  // nor does one that is shorter than four regular pauses
	minSlowWindows = 4  // of so many a median can be told
)

// Events finds what stood still in a span that begins at from: all streams, one
// worker while others went on, or windows of less than half of the median
// throughput. Adjacent windows are one event. Silences of one worker rest on
// snapshots and are as long as two scrapes saw them; without snapshots only
// what the client saw is told.
func Events(from time.Time, snaps []Snapshot, s Span, c Client) []Event {
	pause := c.regularPauseS(s)
	silence := max(silenceFloorS, silenceTTFTs*pause, silenceITLs*c.ITLMeanMS/1000)
	events := globalSilences(c, silence)
	events = append(events, slowWindows(c, pause, events)...)
	events = append(events, workerSilences(from, snaps, c, silence)...)
	events = slices.DeleteFunc(events, func(e Event) bool { return len(c.Suspended) > 0 && c.slept(e, pause, silence) })
	slices.SortStableFunc(events, func(a, b Event) int { return cmp.Compare(a.StartS, b.StartS) })
	return events
}

// regularPauseS is how long all streams may be quiet on a healthy server: all
// before their first tokens at once, or between two chunks. The wait in a queue
// is no such pause, for what is queued waits because others are served; Little's
// law tells how much of the time to a first token it was.
func (c Client) regularPauseS(s Span) float64 {
	first := c.TTFTP50MS / 1000
	if seconds := c.seconds(); seconds > 0 && c.OK > 0 {
		first = max(0, first-s.queued()*seconds/float64(c.OK))
	}
	return max(first, c.GapP50MS/1000)
}

func (c Client) seconds() float64 { return float64(len(c.Series)) * c.SeriesS }

// queued is the mean number of requests that wait for an engine.
func (s Span) queued() float64 {
	n := s.Frontend[RouterPending].Mean
	for _, w := range s.Workers {
		n += w.Stats[Waiting].Mean
	}
	return n
}

// medianWindow is the median of windows with a token: a median that is one of
// the stalls' own would hide them.
func (c Client) medianWindow() float64 {
	var some []float64
	for _, v := range c.Series {
		if v > 0 {
			some = append(some, v)
		}
	}
	return median(some)
}

// depth is the throughput in part of the span as a share of the median window.
func (c Client) depth(startS, lengthS float64) float64 {
	m := c.medianWindow()
	if !(m > 0) || !(lengthS > 0) {
		return 0
	}
	sum := 0.0
	for i, v := range c.Series {
		a, b := max(startS, float64(i)*c.SeriesS), min(startS+lengthS, float64(i+1)*c.SeriesS)
		if b > a {
			sum += v * (b - a) / c.SeriesS
		}
	}
	return sum / (m * lengthS / c.SeriesS)
}

// globalSilences are stretches of windows without a token, with what the
// windows beside them lack: a silence seldom begins with a window. One whose
// windows all caught some of its edges is placed at the lowest one.
func globalSilences(c Client, silence float64) []Event {
	var events []Event
	longest, typical := 0.0, c.medianWindow()
	lacks := func(i int) float64 {
		if i < 0 || i >= len(c.Series) || !(typical > 0) {
			return 0
		}
		return c.SeriesS * max(0, 1-c.Series[i]/typical)
	}
	for a, b := range stretches(len(c.Series), func(i int) bool { return c.Series[i] == 0 }) {
		before := lacks(a - 1)
		length := before + float64(b-a)*c.SeriesS + lacks(b)
		longest = max(longest, length)
		if length > silence {
			events = append(events, Event{Kind: GlobalSilence, StartS: float64(a)*c.SeriesS - before, LengthS: length})
		}
	}
	if told := c.LongestSilenceMS / 1000; told > silence && len(events) == 0 && longest < told {
		e := Event{Kind: GlobalSilence, LengthS: told}
		if len(c.Series) > 0 {
			e.StartS = float64(slices.Index(c.Series, slices.Min(c.Series))) * c.SeriesS
		}
		events = append(events, e)
	}
	return events
}

// slowWindows are windows below half of the median that are no silence already.
func slowWindows(c Client, pause float64, silences []Event) []Event {
	m := c.medianWindow()
	if !(m > 0) || !(c.SeriesS > 0) {
		return nil
	}
	seconds := max(slowWindowS, slowPauses*pause, slowTokens*c.SeriesS/m)
	k := max(1, int(math.Ceil(seconds/c.SeriesS-1e-9)))
	windows := make([]float64, len(c.Series)/k)
	if len(windows) < minSlowWindows {
		return nil
	}
	for i := range windows {
		for _, v := range c.Series[i*k : (i+1)*k] {
			windows[i] += v
		}
	}
	step := float64(k) * c.SeriesS
	grouped := Client{Series: windows, SeriesS: step}
	typical := grouped.medianWindow()
	var events []Event
	for a, b := range stretches(len(windows), func(i int) bool { return windows[i] < slowShare*typical }) {
		e := Event{Kind: SlowWindows, StartS: float64(a) * step, LengthS: float64(b-a) * step}
		e.Depth = grouped.depth(e.StartS, e.LengthS)
		if !slices.ContainsFunc(silences, e.overlaps) {
			events = append(events, e)
		}
	}
	return events
}

func (e Event) overlaps(o Event) bool {
	return e.StartS < o.end() && o.StartS < e.end()
}

func (e Event) end() float64 { return e.StartS + e.LengthS }

// slept holds for an event that is this tool's own: of which it ran, and was past
// the wave of requests with which it went on, for no longer than an event takes.
// A window of throughput, and a reading of a worker, may begin that much earlier.
func (c Client) slept(e Event, pause, silence float64) bool {
	edge, least := max(slowWindowS, slowPauses*pause), silence
	if e.Kind == SlowWindows {
		least = edge
	}
	at, saw := e.StartS, 0.0
	for _, s := range slices.SortedFunc(slices.Values(c.Suspended), func(a, b Suspension) int { return cmp.Compare(a.StartS, b.StartS) }) {
		saw += max(0, min(s.StartS-edge, e.end())-at)
		at = max(at, s.StartS+s.LengthS+edge)
	}
	return saw+max(0, e.end()-at) < least
}

// stretches yields [a, b) for each longest run of indices that hold.
func stretches(n int, holds func(int) bool) func(yield func(a, b int) bool) {
	return func(yield func(a, b int) bool) {
		for a := 0; a < n; a++ {
			b := a
			for b < n && holds(b) {
				b++
			}
			if b > a && !yield(a, b) {
				return
			}
			a = b
		}
	}
}

func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	v = slices.Sorted(slices.Values(v))
	n := len(v)
	return (v[(n-1)/2] + v[n/2]) / 2
}
