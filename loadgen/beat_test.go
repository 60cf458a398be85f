package loadgen

import (
	"reflect"
	"testing"
	"time"
)

// A beat is a rest and the wake after it; ms all.
type beats [][2]stamp

// TestAbsences: what is told of a run by when its watch rested and woke, and by
// when tokens came.
func TestAbsences(t *testing.T) {
	regular := func(from, to int64) (b beats) {
		for at := from; at < to; at += 100 {
			b = append(b, [2]stamp{{at: at}, {at: at + 100}})
		}
		return b
	}
	one := func(from, to, before, after int64) beats { return beats{{{from, before}, {to, after}}} }
	for name, c := range map[string]struct {
		beats  beats
		tokens []int64
		want   []absence
	}{
		"a run as usual":         {regular(0, 3000), nil, nil},
		"no beat at all":         {nil, nil, nil},
		"late, as on a busy CPU": {one(1000, 1590, 0, 0), nil, nil},
		"stopped for 2 s":        {one(1000, 3050, 0, 0), []int64{900, 3020}, []absence{{1000, 2020}}},
		"stopped in between": {append(append(regular(0, 1000), one(1000, 3050, 0, 0)...), regular(3050, 4000)...),
			[]int64{20, 980, 1060, 3030, 3040}, []absence{{1060, 1970}}},
		"stopped twice":                     {append(one(1000, 3000, 0, 0), one(3100, 5000, 0, 0)...), nil, []absence{{1000, 2000}, {3100, 1900}}},
		"the watch is late, tokens are not": {one(1000, 2000, 0, 0), []int64{1200, 1400, 1600, 1800}, nil},
		"a server's silence between beats":  {regular(0, 9000), []int64{100, 8900}, nil},
		"the machine slept":                 {one(1000, 1100, 50, 36_050), []int64{980, 1090}, []absence{{1000, 36_000}}},
		"slept, and took long to come back": {one(1000, 3000, 50, 36_050), []int64{980, 2990}, []absence{{1000, 37_990}}},
		"had slept before the run":          {one(1000, 1100, 7_000_000, 7_000_000), nil, nil},
		"clocks that are read late":         {one(1000, 1100, 50, 20), nil, nil},
	} {
		b := beat{every: int64(100 * time.Millisecond)}
		for _, s := range c.beats {
			b.rest(inNS(s[0]))
			b.wake(inNS(s[1]))
		}
		s := newShard()
		for _, at := range c.tokens {
			s.spread([]int64{at * 1e6}, &sample{outcome: InBand})
		}
		got := absences(b.gaps, s.bins)
		for i := range got {
			got[i].from, got[i].length = got[i].from/1e6, got[i].length/1e6
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func inNS(s stamp) stamp { return stamp{s.at * 1e6, s.slept * 1e6} }

// TestAbsencesAreBounded: a process that is stopped again and again keeps a few.
func TestAbsencesAreBounded(t *testing.T) {
	b := beat{every: 1}
	for i := range int64(3 * maxGaps) {
		b.rest(stamp{at: i * 1e9})
		b.wake(stamp{at: (i + 1) * 1e9})
	}
	if len(b.gaps) != maxGaps || b.woke != 3*maxGaps*1e9 {
		t.Errorf("%d gaps, the last ended at %d", len(b.gaps), b.woke)
	}
}

// TestSilenceIsTheServers: while this side did not run no token could come, and
// a run is not ended for that.
func TestSilenceIsTheServers(t *testing.T) {
	run := &clock{start: time.Now().Add(-time.Minute)}
	cfg := Config{Concurrency: 1, Limits: Limits{StopOnSilence: 10 * time.Second}}
	c := &campaign{cfg: cfg, clock: run, control: newControl(&cfg, run), shards: []*shard{newShard()}}
	c.control.inFlight = 1
	if !c.silent() {
		t.Error("a minute without a token is no silence")
	}
	c.beat.rest(stamp{at: run.now() - int64(50*time.Second)})
	if c.beat.wake(c.stamp()); c.silent() {
		t.Error("the time for which this side was stopped counts as the server's silence")
	}
}

// TestMergedAbsences: a generator's own standstill travels with its records, and
// is told by name on the clock of the run.
func TestMergedAbsences(t *testing.T) {
	parts := []Part{emptyPart(1, 0), emptyPart(1, 2*time.Second), emptyPart(1, 0)}
	parts[1].away = []absence{{from: 5e9, length: 3e9}}
	parts[2].away = []absence{{from: 6e9, length: 40e9}, {from: 9e9, length: 1e9}}
	for i := range parts {
		b, err := parts[i].MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		p := Part{Name: []string{"load-0", "load-1", "load-2"}[i]}
		if err := p.UnmarshalBinary(b); err != nil {
			t.Fatal(err)
		}
		parts[i] = p
	}
	r, err := MergeParts(Config{Concurrency: 3, Kind: Steady, Workload: &Workload{}}, parts)
	if err != nil {
		t.Fatal(err)
	}
	want := []Suspension{{6, 40, "load-2"}, {7, 3, "load-1"}, {9, 1, "load-2"}}
	if !reflect.DeepEqual(r.Suspended, want) || len(r.Warnings) < 3 {
		t.Errorf("%+v, want %+v; %q", r.Suspended, want, r.Warnings)
	}
}

// BenchmarkBeat is what the watch of a run does more ten times a second.
func BenchmarkBeat(b *testing.B) {
	c := &campaign{clock: &clock{start: time.Now()}, beat: beat{every: int64(watchEvery)}}
	for b.Loop() {
		c.beat.wake(c.stamp())
		c.beat.rest(c.stamp())
	}
}
