package observe

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"
)

// series is 30 windows of 100 tokens, but for the given ones.
func series(but map[int]float64) []float64 {
	s := slices.Repeat([]float64{100}, 30)
	for i, v := range but {
		s[i] = v
	}
	return s
}

func TestClientEvents(t *testing.T) {
	silent := Event{Kind: GlobalSilence, StartS: 10, LengthS: 4}
	for name, c := range map[string]struct {
		client Client
		span   Span
		want   []Event
	}{
		"steady":        {client: Client{Series: series(nil), SeriesS: 1}},
		"nothing known": {},
		"all zero":      {client: Client{Series: make([]float64, 30), SeriesS: 1}, want: []Event{{Kind: GlobalSilence, LengthS: 30}}},
		"noise":         {client: Client{Series: series(map[int]float64{3: 60, 4: 70, 9: 140}), SeriesS: 1}},
		"silence":       {client: Client{Series: series(map[int]float64{10: 0, 11: 0, 12: 0, 13: 0}), SeriesS: 1}, want: []Event{silent}},
		"silence, both edges": {client: Client{Series: series(map[int]float64{9: 50, 10: 0, 11: 0, 12: 0, 13: 0, 14: 25}), SeriesS: 1},
			want: []Event{{Kind: GlobalSilence, StartS: 9.5, LengthS: 5.25}}},
		"two seconds are short": {client: Client{Series: series(map[int]float64{10: 0, 11: 0}), SeriesS: 1}, want: []Event{{Kind: SlowWindows, StartS: 10, LengthS: 2}}},
		"as long as tokens take": {client: Client{Series: series(map[int]float64{10: 0, 11: 0, 12: 0, 13: 0}), SeriesS: 1, ITLMeanMS: 250},
			want: []Event{{Kind: SlowWindows, StartS: 10, LengthS: 4}}},
		"as long as a first token": {client: Client{Series: series(map[int]float64{10: 0, 11: 0, 12: 0, 13: 0}), SeriesS: 1, TTFTP50MS: 2100, OK: 100}},
		"a first token waits in a queue": {client: Client{Series: series(map[int]float64{10: 0, 11: 0, 12: 0, 13: 0}), SeriesS: 1, TTFTP50MS: 2100, OK: 300},
			span: Span{Workers: []Worker{runs(16, 20)}}, want: []Event{silent}},
		"a first token waits in the router": {client: Client{Series: series(map[int]float64{10: 0, 11: 0, 12: 0, 13: 0}), SeriesS: 1, TTFTP50MS: 2100, OK: 300},
			span: Span{Frontend: Stats{RouterPending: gauge(20)}}, want: []Event{silent}},
		"half of the median": {client: Client{Series: series(map[int]float64{5: 51, 6: 49, 7: 20, 8: 45, 20: 10}), SeriesS: 1},
			want: []Event{{Kind: SlowWindows, StartS: 6, LengthS: 3, Depth: 0.38}, {Kind: SlowWindows, StartS: 20, LengthS: 1, Depth: 0.1}}},
		"most windows stand still": {client: Client{Series: append(make([]float64, 20), 100, 100, 100, 100), SeriesS: 1},
			want: []Event{{Kind: GlobalSilence, LengthS: 20}}},
		// A window of 6 s never lies inside a silence of 5.
		"between windows": {client: Client{Series: []float64{600, 600, 350, 350, 600, 600}, SeriesS: 6, LongestSilenceMS: 5000},
			want: []Event{{Kind: GlobalSilence, StartS: 12, LengthS: 5}}},
		"only its length is known": {client: Client{LongestSilenceMS: 5000}, want: []Event{{Kind: GlobalSilence, LengthS: 5}}},
		"this tool was stopped": {client: Client{Series: series(map[int]float64{9: 50, 10: 0, 11: 0, 12: 0, 13: 0, 14: 25, 15: 180}), SeriesS: 1,
			LongestSilenceMS: 5200, Suspended: []Suspension{{9.5, 5.2}}}},
		"stopped within a window": {client: Client{Series: series(map[int]float64{10: 40}), SeriesS: 1, Suspended: []Suspension{{10.2, 0.6}}}},
		"stopped twice, out of order": {client: Client{Series: series(map[int]float64{3: 0, 4: 0, 5: 0, 10: 0, 11: 0, 12: 0, 13: 0}), SeriesS: 1,
			Suspended: []Suspension{{10, 4}, {3, 3}}}},
		"all streams begin anew after a stop": {client: Client{Series: series(map[int]float64{10: 0, 11: 0, 12: 0, 13: 30}), SeriesS: 1, Suspended: []Suspension{{10, 3}}}},
		"stopped, and silent elsewhere": {client: Client{Series: series(map[int]float64{2: 0, 3: 0, 4: 0, 10: 0, 11: 0, 12: 0, 13: 0}), SeriesS: 1, Suspended: []Suspension{{2, 3}}},
			want: []Event{silent}},
		"stopped within a silence": {client: Client{Series: series(map[int]float64{10: 0, 11: 0, 12: 0, 13: 0, 14: 0, 15: 0, 16: 0, 17: 0}), SeriesS: 1, Suspended: []Suspension{{11, 1}}},
			want: []Event{{Kind: GlobalSilence, StartS: 10, LengthS: 8}}},
		"stopped, and slow elsewhere": {client: Client{Series: series(map[int]float64{5: 49, 6: 20, 20: 0, 21: 0}), SeriesS: 1, Suspended: []Suspension{{20, 2}}},
			want: []Event{{Kind: SlowWindows, StartS: 5, LengthS: 2, Depth: 0.345}}},
		"stopped before the measured part": {client: Client{Series: series(map[int]float64{10: 0, 11: 0, 12: 0, 13: 0}), SeriesS: 1, Suspended: []Suspension{{-5, 3}}}, want: []Event{silent}},
		// EKS H100 (aicr.md §5.1): 84,049 tok/s instead of 120,000 for a whole run,
		// evenly. A run cannot know that by itself: no event, and the comparison
		// with other runs tells.
		"evenly slow": {client: Client{Series: slices.Repeat([]float64{84049}, 60), SeriesS: 1, TTFTP50MS: 4155, OK: 20000}},
	} {
		t.Run(name, func(t *testing.T) {
			got := Events(time.Time{}, nil, c.span, c.client)
			for i := range got {
				got[i].Depth = float64(int(got[i].Depth*1000+0.5)) / 1000
			}
			if !reflect.DeepEqual(got, c.want) && len(got)+len(c.want) > 0 {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

// scrapes are those of workers once a second; tokens says how many each has made
// by a second.
func scrapes(start time.Time, seconds int, ids []string, running float64, tokens func(worker, second int) float64) []Snapshot {
	var snaps []Snapshot
	for s := range seconds {
		for i, id := range ids {
			snaps = append(snaps, Snapshot{At: start.Add(time.Duration(s)*time.Second + time.Duration(i)*10*time.Millisecond), Source: "page " + id,
				Engines: map[string]Reading{id: {Running: running, OutputTokens: tokens(i, s)}}})
		}
	}
	return snaps
}

func TestWorkerSilences(t *testing.T) {
	start := time.Date(2026, 6, 4, 9, 0, 0, 0, time.UTC)
	ids := []string{"7", "8", "9"}
	grows := func(_, second int) float64 { return float64(100 * second) }
	stuck := func(worker, second int) float64 { // the second worker from 5 to 12
		if worker == 1 && second > 5 {
			return grows(worker, max(5, second-7))
		}
		return grows(worker, second)
	}
	client := Client{Series: series(map[int]float64{6: 60, 7: 60, 8: 60}), SeriesS: 1}
	for name, c := range map[string]struct {
		snaps []Snapshot
		want  []string // kind, start, length, workers
	}{
		"all go on":    {scrapes(start, 20, ids, 4, grows), nil},
		"one stuck":    {scrapes(start, 20, ids, 4, stuck), []string{"worker_silence 5.0 7.0 [8]"}},
		"one idle":     {scrapes(start, 20, ids, 0, stuck), nil},
		"the only one": {scrapes(start, 20, []string{"8"}, 4, func(_, s int) float64 { return stuck(1, s) }), nil},
		"all stuck":    {scrapes(start, 20, ids, 4, func(_, s int) float64 { return stuck(1, s) }), nil},
		"stuck for 2 s": {scrapes(start, 20, ids, 4, func(w, s int) float64 {
			return grows(w, s) - 200*float64(b2i(w == 1 && s == 7)) - 100*float64(b2i(w == 1 && s == 6))
		}), nil},
		"begins before the span": {scrapes(start.Add(-3*time.Second), 20, ids, 4, func(w, s int) float64 {
			if w == 1 {
				return float64(100 * max(0, s-8))
			}
			return grows(w, s)
		}), []string{"worker_silence 0.0 5.0 [8]"}},
		"no tokens told": {[]Snapshot{{At: start, Engines: map[string]Reading{"7": {Running: 3}}}, {At: start.Add(9 * time.Second), Engines: map[string]Reading{"7": {Running: 3}}}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, e := range Events(start, c.snaps, Span{}, client) {
				got = append(got, fmt.Sprintf("%s %.1f %.1f %v", e.Kind, e.StartS, e.LengthS, e.Workers))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	// Depth is what reached the client meanwhile.
	e := Events(start, scrapes(start, 20, ids, 4, stuck), Span{}, client)[0]
	if want := (60*3 + 100*4) / 700.0; e.Depth < want-0.01 || e.Depth > want+0.01 {
		t.Errorf("depth %.3f, want %.3f", e.Depth, want)
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A worker on two pages is judged by one of them: its counters as read at other
// moments must not look like standing still, nor like moving.
func TestWorkerOnTwoPages(t *testing.T) {
	start := time.Date(2026, 6, 4, 9, 0, 0, 0, time.UTC)
	ids := []string{"7", "8"}
	stuck := func(worker, second int) float64 {
		if worker == 1 {
			return 50
		}
		return float64(second)
	}
	snaps := scrapes(start, 10, ids, 4, stuck)
	for _, s := range scrapes(start, 9, ids, 4, stuck) {
		s.Source, s.At = "frontend", s.At.Add(500*time.Millisecond)
		snaps = append(snaps, s)
	}
	got := Events(start, snaps, Span{}, Client{})
	if len(got) != 1 || got[0].LengthS != 9 || got[0].Workers[0] != "8" {
		t.Errorf("%+v", got)
	}
}
