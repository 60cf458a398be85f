package observe

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fate is what a table says of a worker.
type fate struct{ Restarted, Left, Joined bool }

func TestFateOfWorkers(t *testing.T) {
	up := func(s float64) Snapshot {
		return worker("w", s, Reading{Running: 1, UptimeS: 100 + s, OutputTokens: s})
	}
	other := func(s float64) Snapshot {
		return Snapshot{Source: "w", At: clock(s), Engines: map[string]Reading{"new": {Running: 1, UptimeS: s}}}
	}
	hears := func(s float64, ids ...string) Snapshot {
		out := front("f", s, Reading{Active: 1})
		out.Engines = map[string]Reading{}
		for _, id := range ids {
			out.Engines[id] = Reading{LastITLS: 0.1}
		}
		return out
	}
	for name, c := range map[string]struct {
		pages []Snapshot
		want  map[string]fate
	}{
		"stays":                               {[]Snapshot{up(0), up(1), up(2)}, map[string]fate{"w": {}}},
		"up for less":                         {[]Snapshot{up(0), up(1), worker("w", 2, Reading{Running: 1, UptimeS: 1, OutputTokens: 9})}, map[string]fate{"w": {Restarted: true}}},
		"a counter fell":                      {[]Snapshot{up(0), up(1), worker("w", 2, Reading{Running: 1, OutputTokens: 0})}, map[string]fate{"w": {Restarted: true}}},
		"replaced at one address":             {[]Snapshot{up(0), up(1), other(2), other(3)}, map[string]fate{"w": {Left: true}, "new": {Joined: true}}},
		"refuses":                             {[]Snapshot{up(0), up(1), failed("w", 2, errGone), failed("w", 3, errGone)}, map[string]fate{"w": {Left: true}}},
		"refused once":                        {[]Snapshot{up(0), up(1), failed("w", 2, errGone)}, map[string]fate{"w": {}}},
		"is slow":                             {[]Snapshot{up(0), up(1), failed("w", 2, errSlow), failed("w", 3, errSlow), failed("w", 4, errSlow)}, map[string]fate{"w": {}}},
		"comes back":                          {[]Snapshot{up(0), failed("w", 1, errGone), failed("w", 2, errGone), up(3)}, map[string]fate{"w": {}}},
		"leaves only later":                   {[]Snapshot{up(0), up(1), failed("w", 11, errGone), failed("w", 12, errGone)}, map[string]fate{"w": {}}},
		"left right before":                   {[]Snapshot{up(-1), other(1)}, map[string]fate{"w": {Left: true}, "new": {Joined: true}}},
		"comes only later":                    {[]Snapshot{other(1), other(9), up(11)}, map[string]fate{"new": {}}},
		"a frontend lists it no more":         {[]Snapshot{hears(0, "w", "v"), hears(1, "w")}, map[string]fate{"w": {}, "v": {Left: true}}},
		"a frontend lists it late":            {[]Snapshot{hears(0), hears(1, "w")}, map[string]fate{"w": {}}},
		"its own page goes before a frontend": {[]Snapshot{up(0), up(1), hears(0, "w"), hears(1)}, map[string]fate{"w": {}}},
		"one of two frontends lists it":       {[]Snapshot{hears(0, "w"), hears(1), {Source: "g", At: clock(1), Engines: map[string]Reading{"w": {LastITLS: 1}}}}, map[string]fate{"w": {}}},
		"a rank counts its first request": {[]Snapshot{up(0), {Source: "w", At: clock(1), Engines: map[string]Reading{"w": {Running: 1, UptimeS: 101}, "w/1": {Running: 1}}}},
			map[string]fate{"w": {}, "w/1": {}}},
	} {
		t.Run(name, func(t *testing.T) {
			got := map[string]fate{}
			for _, w := range Summarize(c.pages, clock(0), clock(10)).Workers {
				got[w.ID] = fate{w.Restarted, w.Left, w.Joined}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestSilence(t *testing.T) {
	for name, c := range map[string]struct {
		tokens, running []float64 // a reading a second
		silent, unread  float64
		missing         []int
	}{
		"makes tokens":          {[]float64{0, 1, 2, 3, 4}, []float64{1, 1, 1, 1, 1}, 0, 1, nil},
		"stands still":          {[]float64{0, 1, 1, 1, 4}, []float64{1, 1, 1, 1, 1}, 2, 1, nil},
		"has nothing to do":     {[]float64{0, 1, 1, 1, 4}, []float64{1, 0, 0, 0, 1}, 0, 1, nil},
		"the longer one counts": {[]float64{5, 5, 6, 6, 6}, []float64{1, 1, 1, 1, 1}, 2, 1, nil},
		"restarts":              {[]float64{7, 7, 0, 0, 0}, []float64{1, 1, 1, 1, 1}, 2, 1, nil},
		"does not answer":       {[]float64{7, 0, 0, 7, 8}, []float64{1, 0, 0, 1, 1}, 3, 3, []int{1, 2}},
		"counts no tokens":      {nil, []float64{1, 1, 1, 1, 1}, 0, 1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var all []Snapshot
		pages:
			for i := range 5 {
				for _, m := range c.missing {
					if i == m {
						continue pages
					}
				}
				r := Reading{Running: c.running[i]}
				if c.tokens != nil {
					r[OutputTokens] = c.tokens[i]
				}
				all = append(all, worker("w", float64(i), r))
			}
			w := Summarize(all, clock(0), clock(4)).Workers[0]
			if w.SilentS != c.silent || w.UnreadS != c.unread {
				t.Errorf("silent %v s, unread %v s; want %v and %v", w.SilentS, w.UnreadS, c.silent, c.unread)
			}
		})
	}
}

// What a frontend hears of a worker joins what the worker says itself.
func TestTwoSourcesOfOneWorker(t *testing.T) {
	f := front("f", 1, Reading{Active: 1})
	f.Engines = map[string]Reading{"w": {LastITLS: 0.5, Running: 99}}
	s := Summarize([]Snapshot{f, worker("w", 0, Reading{Running: 3}), worker("w", 1, Reading{Running: 3})}, clock(0), clock(2))
	if len(s.Workers) != 1 || s.Workers[0].Stats[Running].Max != 3 || s.Workers[0].Stats[LastITLS].Max != 0.5 {
		t.Errorf("got %+v", s.Workers)
	}
}

// A worker's id is found on its own page; the address stands beside it in what
// is said, but for a page that is shared or a frontend's, and one without an id.
func TestWorkerIsCalledByItsPage(t *testing.T) {
	running := func(source string, t float64, ids ...string) Snapshot {
		s := Snapshot{Source: source, At: clock(t), Engines: map[string]Reading{}}
		for _, id := range ids {
			s.Engines[id] = Reading{Running: 1}
		}
		return s
	}
	var all []Snapshot
	for second := range 10 {
		at := float64(second)
		common := running("front", at, "4")
		common.Frontend = Reading{Active: 1}
		all = append(all, running("w1:9090", at, "1", "1/1"), running("both", at, "2", "3"), common, running("w5:8000", at, "w5:8000"))
	}
	got := map[string]string{}
	for _, w := range Summarize(all, clock(0), clock(10)).Workers {
		got[w.ID] = w.called()
	}
	want := map[string]string{"1": "1 (w1:9090)", "1/1": "1/1 (w1:9090)", "2": "2", "3": "3", "4": "4", "w5:8000": "w5:8000"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
