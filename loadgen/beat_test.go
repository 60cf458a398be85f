package loadgen

import (
	"reflect"
	"slices"
	"testing"
	"time"
)

// beatAt is when the watch rested and the stamp with which it woke, in ms all.
type beatAt struct {
	rest int64
	wake stamp
}

// TestAbsences: what is told of a run by when its watch rested and woke.
func TestAbsences(t *testing.T) {
	regular := func(from, to int64) (b []beatAt) {
		for at := from; at < to; at += 100 {
			b = append(b, beatAt{at, stamp{at: at + 100, used: at + 100}})
		}
		return b
	}
	for name, c := range map[string]struct {
		beats []beatAt
		want  []absence
	}{
		"a run as usual":                      {regular(0, 3000), nil},
		"no beat at all":                      {nil, nil},
		"late, as on a busy CPU":              {[]beatAt{{0, stamp{at: 490}}}, nil},
		"stopped for 0.5 s":                   {[]beatAt{{0, stamp{at: 500}}}, []absence{{0, 500}}},
		"stopped for 2 s":                     {slices.Concat(regular(0, 1000), []beatAt{{1000, stamp{at: 3050, used: 1050}}}, regular(3050, 4000)), []absence{{1000, 2050}}},
		"stopped twice":                       {[]beatAt{{0, stamp{at: 2000}}, {2100, stamp{at: 4000, used: 100}}}, []absence{{0, 2000}, {2100, 1900}}},
		"the watch is late, the process runs": {[]beatAt{{0, stamp{at: 1000, used: 1900}}}, nil},
		"the watch itself takes long":         {[]beatAt{{0, stamp{at: 100}}, {9000, stamp{at: 9100}}}, nil},
		"the machine slept":                   {[]beatAt{{0, stamp{at: 100, slept: 50}}, {100, stamp{at: 200, slept: 36_050}}}, []absence{{100, 36_000}}},
		"slept, and took long to come back":   {[]beatAt{{0, stamp{at: 2000, slept: 36_000}}}, []absence{{0, 38_000}}},
		"clocks that are read late":           {[]beatAt{{0, stamp{at: 100, slept: 50}}, {100, stamp{at: 200, slept: 20}}, {200, stamp{at: 300, slept: 50}}}, nil},
	} {
		var b beat
		for _, s := range c.beats {
			b.rest(s.rest * 1e6)
			b.wake(stamp{s.wake.at * 1e6, s.wake.slept * 1e6, s.wake.used * 1e6})
		}
		for i := range b.away {
			b.away[i].from, b.away[i].length = b.away[i].from/1e6, b.away[i].length/1e6
		}
		if !reflect.DeepEqual(b.away, c.want) {
			t.Errorf("%s: %v, want %v", name, b.away, c.want)
		}
	}
}

// TestAbsencesAreBounded: of a process that is stopped again and again some are
// kept.
func TestAbsencesAreBounded(t *testing.T) {
	var b beat
	for i := range int64(3 * maxAbsences) {
		b.wake(stamp{at: (i + 1) * 1e9})
	}
	if len(b.away) != maxAbsences || b.woke != 3*maxAbsences*1e9 {
		t.Errorf("%d absences, the last ended at %d", len(b.away), b.woke)
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
	c.beat.last = c.stamp()
	c.beat.rest(run.now() - int64(50*time.Second))
	if c.beat.wake(c.stamp()); c.silent() {
		t.Error("the time for which this side was stopped counts as the server's silence")
	}
}

// TestMergedAbsences: a generator's own standstill travels with its records, and
// is told by name on the clock of the run.
func TestMergedAbsences(t *testing.T) {
	parts := []Part{emptyPart(1, 0), emptyPart(1, time.Second/2), emptyPart(1, 0)}
	parts[1].away = []absence{{from: 6.5e9, length: 3e9}}
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
	c := &campaign{clock: &clock{start: time.Now()}}
	for b.Loop() {
		c.beat.wake(c.stamp())
		c.beat.rest(c.clock.now())
	}
}
