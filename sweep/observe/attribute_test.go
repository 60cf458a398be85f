package observe

import (
	"fmt"
	"strings"
	"testing"
)

// levelAt is a level as both sides would tell it, with n scrapes behind every mean.
func levelAt(streams int, tokPerSec, ttftMS, itlMS float64, frontend Stats, workers ...Worker) Level {
	for i := range workers {
		if workers[i].ID == "" {
			workers[i].ID = fmt.Sprint(1000 + i)
		}
	}
	return Level{ConcurrencyPerGPU: streams, GPUs: 1,
		Client: Client{Streams: streams, InFlight: float64(streams), OK: 500, OutputTokPerSec: tokPerSec, TTFTP50MS: ttftMS, ITLMeanMS: itlMS},
		Span:   Span{Scrapes: 8, Frontends: 1, Frontend: frontend, Workers: workers}}
}

func gauge(mean float64) Stat { return Stat{Mean: mean, Min: mean, Max: mean, N: 8} }

func upTo(mean, most float64) Stat { return Stat{Mean: mean, Max: most, N: 8} }

func counter(delta float64) Stat { return Stat{Delta: delta, N: 8} }

func capOf(n float64) Stats { return Stats{MaxNumSeqs: gauge(n)} }

// runs is a worker with n running and w waiting.
func runs(n, w float64, more ...Stats) Worker {
	s := Stats{Running: upTo(n, n*1.06), Waiting: gauge(w), KVUsage: gauge(0.02)}
	for _, m := range more {
		for k, v := range m {
			s[k] = v
		}
	}
	return Worker{Stats: s}
}

// The tables of a real Dynamo 1.6.1 frontend with mocker workers: throughput,
// TTFT p50, ITL p50, running and waiting as measured.
func TestRealTables(t *testing.T) {
	oneWorker := func(c int, tok, ttft, itl, run, wait float64) Level {
		return levelAt(c, tok, ttft, itl, capOf(16), runs(run, wait))
	}
	twoWorkers := func(c int, tok, ttft, itl, run, wait float64) Level {
		return levelAt(c, tok, ttft, itl, capOf(16), runs(run/2, wait/2), runs(run/2, wait/2))
	}
	cache := func(c int, tok, ttft, itl, run, wait, kv, preempted float64) Level {
		return levelAt(c, tok, ttft, itl, capOf(64), runs(run, wait, Stats{KVUsage: upTo(kv*0.97, kv), Preemptions: counter(preempted)}))
	}
	frontend := func(c int, tok, ttft, inEngines, preprocessMS, sendMS float64) Level {
		f := capOf(256)
		f[PreprocessSum], f[PreprocessN] = counter(preprocessMS), counter(1000)
		f[SendSum], f[SendN] = counter(sendMS), counter(1000)
		return levelAt(c, tok, ttft, 0.5, f, runs(inEngines/2, 0), runs(inEngines/2, 0))
	}
	for name, c := range map[string]struct {
		levels []Level
		want   []Bottleneck
	}{
		"batch cap, one worker": {[]Level{
			oneWorker(4, 270, 59, 12.1, 3.8, 0.2), oneWorker(8, 468, 60, 12.8, 7.5, 0.3), oneWorker(12, 601, 61, 13.5, 11.4, 0.3),
			oneWorker(16, 734, 63, 14.3, 15.3, 0.5), oneWorker(20, 730, 375, 14.3, 15.3, 4), oneWorker(24, 718, 745, 14.4, 15.4, 8),
			oneWorker(32, 712, 1461, 14.2, 15.7, 16), oneWorker(48, 731, 3003, 14.3, 15.6, 32), oneWorker(64, 742, 4303, 14.7, 15.4, 48),
		}, []Bottleneck{Headroom, Headroom, Headroom, Headroom, BatchCap, BatchCap, BatchCap, BatchCap, BatchCap}},
		"batch cap, two workers": {[]Level{
			twoWorkers(8, 548, 58, 12.1, 7.5, 0.4), twoWorkers(16, 918, 59, 12.8, 15, 0.7), twoWorkers(24, 1150, 61, 13.5, 22.6, 1),
			twoWorkers(32, 1386, 65, 14.3, 30, 1.3), twoWorkers(48, 1446, 806, 14.4, 30.7, 16.5), twoWorkers(64, 1437, 1472, 14.3, 30.8, 32.3),
		}, []Bottleneck{Headroom, Headroom, Headroom, Headroom, BatchCap, BatchCap}},
		"KV wall": {[]Level{
			cache(4, 234, 53, 16.3, 3.9, 0, 0.25, 0), cache(8, 310, 72, 24.4, 7.8, 0.1, 0.5, 0), cache(12, 377, 88, 29.8, 11.9, 0, 0.75, 0),
			cache(16, 461, 99, 33.3, 15.1, 0.9, 1, 0), cache(24, 481, 132, 33.9, 16.9, 6.5, 1, 9), cache(32, 483, 2338, 33.9, 16.3, 14.5, 1, 9),
			cache(48, 479, 2425, 33.9, 17.1, 30.4, 1, 13),
		}, []Bottleneck{Headroom, Headroom, Headroom, Headroom, KVCapacity, KVCapacity, KVCapacity}},
		"frontend": {[]Level{
			frontend(8, 23371, 11, 7.4, 0.3, 1), frontend(32, 49394, 13, 29.7, 0.4, 1.1),
			frontend(64, 43669, 77, 40.3, 8, 9), frontend(128, 26356, 335, 63, 30, 30), frontend(256, 26278, 695, 66.2, 51, 50),
		}, []Bottleneck{Headroom, Headroom, FrontendBound, FrontendBound, FrontendBound}},
	} {
		t.Run(name, func(t *testing.T) {
			for i, f := range Attribute(c.levels) {
				if f.Bottleneck != c.want[i] || len(f.Evidence) == 0 || f.ConcurrencyPerGPU != c.levels[i].ConcurrencyPerGPU {
					t.Errorf("%d streams: %+v, want %s", c.levels[i].Client.Streams, f, c.want[i])
				}
			}
		})
	}
}

// TestOneLevel: each case is a level beside a light one at which all is well.
func TestOneLevel(t *testing.T) {
	const flat = 1000 // what the light level makes
	light := levelAt(8, flat, 50, 8, Stats{MaxNumSeqs: gauge(16), PreprocessSum: counter(0.3), PreprocessN: counter(1000)}, runs(4, 0), runs(4, 0))
	full := func(change func(*Level)) Level {
		l := levelAt(64, 1010, 900, 30, capOf(16), runs(15.5, 16), runs(15.5, 16))
		change(&l)
		return l
	}
	for name, c := range map[string]struct {
		level Level
		want  Bottleneck
		says  string // in the evidence, or against
	}{
		"the queue is the router's": {levelAt(32, 1010, 900, 14, Stats{MaxNumSeqs: gauge(16), RouterPending: gauge(15)}, runs(15, 1)), BatchCap, "15.0 wait in the router"},
		"the router's queue is not told": {levelAt(32, 1010, 900, 14, Stats{MaxNumSeqs: gauge(16), PreprocessSum: counter(0.3), PreprocessN: counter(1000)}, runs(15, 1)),
			Unknown, "no stage of the frontend"},
		"held, and no stage is told": {levelAt(256, 1010, 900, 14, capOf(256), runs(30, 0), runs(30, 0)), Unknown, "no page tells how long"},
		"held, and some wait": {full(func(l *Level) {
			l.Span.Frontend = Stats{MaxNumSeqs: gauge(64), PreprocessSum: counter(50), PreprocessN: counter(1000)}
			l.Span.Workers = []Worker{runs(10, 6, Stats{Running: upTo(10, 20)}), runs(10, 6, Stats{Running: upTo(10, 20)})}
		}), Unknown, "wait for an engine"},
		"round-robin over 16 and 4": {levelAt(24, 602, 157, 14, capOf(16), runs(4.6, 0.4), runs(3.3, 14.8)), Imbalance, "worker 1001"},
		"the cap of the small one is told": {levelAt(24, 602, 157, 14, capOf(4), runs(4.6, 0.4, Stats{Running: upTo(4.6, 9)}), runs(3.3, 14.8)),
			Imbalance, "worker 1001"},
		"least-loaded over 16 and 4": {levelAt(24, 1031, 100, 14, capOf(16), runs(11.6, 0.4), runs(3.6, 8)), Imbalance, "worker 1001"},
		"both full, one smaller":     {levelAt(48, 1010, 100, 14, capOf(16), runs(15.5, 15), runs(3.9, 13.6)), BatchCap, "never runs more"},
		"field case of eight": {levelAt(2048, 1010, 30743, 14, capOf(1022), runs(1022, 151), runs(366, 0), runs(16, 0), runs(90, 0), runs(120, 0), runs(80, 0), runs(100, 0), runs(103, 0)),
			Imbalance, "1022.0 with 151.0 waiting"},
		"one is slow": {levelAt(64, 1010, 50, 14, Stats{}, runs(16, 0, Stats{OutputTokens: counter(9000), Requests: counter(90)}), runs(16, 0, Stats{OutputTokens: counter(9100), Requests: counter(91)}),
			runs(16, 0, Stats{OutputTokens: counter(8900), Requests: counter(89)}), runs(16, 0, Stats{OutputTokens: counter(4500), Requests: counter(45)})), Imbalance, "worker 1003 made 4500 tokens"},
		"one is slow, of few requests": {levelAt(64, 2010, 50, 14, Stats{}, runs(32, 0, Stats{OutputTokens: counter(900), Requests: counter(9)}),
			runs(32, 0, Stats{OutputTokens: counter(450), Requests: counter(5)})), Headroom, "64.0 run"},
		"one gets more": {levelAt(64, 1010, 50, 14, Stats{}, runs(32, 0, Stats{Requests: counter(2000)}), runs(32, 0, Stats{Requests: counter(1000)})), Imbalance, "did 2000"},
		"one gets more, of a busy frontend": {levelAt(128, 1010, 900, 14, Stats{MaxNumSeqs: gauge(64), PreprocessSum: counter(800), PreprocessN: counter(1000), Active: gauge(127)},
			runs(0.1, 0, Stats{Requests: counter(411), OutputTokens: counter(9000)}), runs(0.1, 0, Stats{Requests: counter(303), OutputTokens: counter(6500)}), runs(0.1, 0, Stats{Requests: counter(303), OutputTokens: counter(6500)})),
			FrontendBound, "of 128.0 streams"},
		"held by the frontend, a step's wait in the engines": {levelAt(128, 1010, 900, 14, Stats{MaxNumSeqs: gauge(256), PreprocessSum: counter(254.6), PreprocessN: counter(1000), Active: gauge(127)},
			runs(1, 0.7), runs(0.9, 0.7)), FrontendBound, "1.9 run, 1.4 wait"},
		"one holds more":          {levelAt(64, 2010, 50, 14, Stats{}, runs(44, 0), runs(20, 0)), Imbalance, "holds 44.0"},
		"a ceiling below the cap": {full(func(l *Level) { l.Span.Frontend = capOf(64) }), Unknown, "none of them reaches"},
		"one left":                {full(func(l *Level) { l.Span.Workers[1].Left = true }), Imbalance, "worker 1001 left"},
		"one restarted":           {full(func(l *Level) { l.Span.Workers[0].Restarted = true }), Imbalance, "worker 1000 restarted"},
		"one is missing":          {full(func(l *Level) { l.Workers = 3 }), Imbalance, "2 of 3 workers serve"},
		"one stands still":        {full(func(l *Level) { l.Span.Events = []Event{{WorkerSilence, 3, 8, []string{"1001"}, 0.5}} }), Imbalance, "for 8.0 s"},
		"one is not watched": {full(func(l *Level) {
			l.Client.Streams, l.Client.InFlight = 96, 96
			l.Span.Workers = append(l.Span.Workers, Worker{ID: "1002", Stats: Stats{LastITLS: gauge(0.1)}})
		}), Unknown, "2 of 3 workers tell"},
		"full, more in the router's hands":      {full(func(l *Level) { l.Client.Streams, l.Client.InFlight = 96, 96 }), BatchCap, "33.0 streams are neither"},
		"full batch, slower tokens than before": {full(func(l *Level) { l.Client.ITLMeanMS = 30 }), BatchCap, "cap of 16"},
		"full batch and full cache":             {full(func(l *Level) { l.Span.Workers = []Worker{runs(15.5, 16, full95()), runs(15.5, 16, full95())} }), Unknown, "nearly full"},
		"no cap, no cache told":                 {full(func(l *Level) { l.Span.Frontend = nil; l.Span.Workers = []Worker{bare(15.5, 16), bare(15.5, 16)} }), Unknown, "either may hold"},
		"no cap told, cache free":               {full(func(l *Level) { l.Span.Frontend = nil }), BatchCap, "never run more"},
		"KV: waits below the cap":               {levelAt(64, 1010, 50, 14, capOf(256), runs(16, 16, full95()), runs(16, 16, full95())), KVCapacity, "a worker may run 256"},
		"KV is full and costs nothing":          {levelAt(64, 2010, 50, 14, capOf(256), runs(32, 0, full95()), runs(32, 0, full95())), Headroom, "64.0 run"},
		"compute":                               {levelAt(64, 1010, 50, 60, capOf(256), runs(32, 0), runs(32, 0)), Compute, "8.0 ms at 8, 60.0 ms at 64"},
		"compute, but tokens come as before":    {levelAt(64, 1010, 50, 8.1, capOf(256), runs(32, 0), runs(32, 0)), Unknown, "should rise"},
		"compute, but throughput falls":         {levelAt(64, 500, 50, 60, capOf(256), runs(32, 0), runs(32, 0)), Unknown, "falls with more streams"},
		"near a knee":                           {levelAt(64, 1680, 50, 40, capOf(256), runs(32, 0), runs(32, 0)), Unknown, "elasticity 0.25"},
		"others use it":                         {full(func(l *Level) { l.Client.Streams, l.Client.InFlight = 32, 32 }), Unknown, "not ours"},
		"the client":                            {full(func(l *Level) { l.Client.ClientBound, l.Client.ClientWhy = true, "92 % of its CPU" }), LoadGenerator, "92 %"},
		"the client was stopped": {full(func(l *Level) {
			l.Client.Series, l.Client.SeriesS, l.Client.ClientBound = series(map[int]float64{10: 0, 11: 0, 12: 0}), 1, true
			l.Client.Suspended = []Suspension{{10, 3}}
		}), LoadGenerator, "was not running for 3.0 s, from second 10.0 to second 13.0"},
		"the client was stopped, and the server stood still": {full(func(l *Level) {
			l.Client.Series, l.Client.SeriesS = series(map[int]float64{10: 0, 11: 0, 12: 0, 20: 0, 21: 0, 22: 0}), 1
			l.Client.Suspended = []Suspension{{10, 3}}
		}), Unknown, "for 3.0 s, from 20.0 s on, while this tool ran"},
		"the client gets no CPU":       {full(func(l *Level) { l.Client.RunQueueShare, l.Client.LagP99MS = 2.3, 662 }), LoadGenerator, "2.3 s a second"},
		"a busy machine, read in time": {full(func(l *Level) { l.Client.RunQueueShare, l.Client.LagP99MS = 2.3, 3 }), BatchCap, ""},
		"held, but not by the frontend": {full(func(l *Level) {
			l.Span.Frontend = Stats{MaxNumSeqs: gauge(64), PreprocessSum: counter(50), PreprocessN: counter(1000), Active: gauge(25)}
			l.Span.Workers = []Worker{runs(10, 0), runs(10, 0)}
		}), Unknown, "25.0 of them in its hands"},
		"held by the frontend, whose tasks wait": {full(func(l *Level) {
			l.Span.Frontend = Stats{MaxNumSeqs: gauge(64), PreprocessSum: counter(50), PreprocessN: counter(1000), Active: gauge(63), LoopQueue: gauge(204)}
			l.Span.Workers = []Worker{runs(10, 0), runs(10, 0)}
		}), FrontendBound, "204 tasks wait"},
		"held by the frontend": {full(func(l *Level) {
			l.Span.Frontend = Stats{MaxNumSeqs: gauge(64), PreprocessSum: counter(50), PreprocessN: counter(1000), Active: gauge(63)}
			l.Span.Workers = []Worker{runs(10, 0), runs(10, 0)}
		}), FrontendBound, "50.0 ms a request"},
		"the client is not full":          {full(func(l *Level) { l.Client.InFlight = 40 }), LoadGenerator, "40.0 requests in flight of 64"},
		"not full, because requests fail": {full(func(l *Level) { l.Client.InFlight, l.Client.Other = 58, 100 }), BatchCap, ""},
		"refused":                         {full(func(l *Level) { l.Client.Shed = 6; l.Span.Frontend[Shed] = counter(7) }), Shedding, "counts 7"},
		"hardly refused":                  {full(func(l *Level) { l.Client.Shed = 4 }), BatchCap, ""},
		"others are refused":              {full(func(l *Level) { l.Span.Frontend[Shed] = counter(70) }), BatchCap, "none of them ours"},
		"stands still":                    {full(func(l *Level) { l.Client.Series, l.Client.SeriesS = []float64{9, 9, 9, 0, 0, 0, 9, 9}, 1 }), Stalled, "for 3.0 s from second 3.0 on"},
		"four slow seconds of eight":      {full(func(l *Level) { l.Client.Series, l.Client.SeriesS = []float64{90, 90, 20, 30, 20, 30, 90, 90}, 1 }), Stalled, "43 % of the median"},
		"one slow second of 30":           {full(func(l *Level) { l.Client.Series, l.Client.SeriesS = series(map[int]float64{8: 20}), 1 }), BatchCap, ""},
		"a worker left, and all slowed": {full(func(l *Level) {
			l.Client.Series, l.Client.SeriesS = []float64{90, 90, 20, 30, 20, 30, 90, 90}, 1
			l.Span.Workers[1].Left = true
		}), Imbalance, "worker 1001 left"},
		"no scrape":      {full(func(l *Level) { l.Span = Span{} }), Unknown, "no server was watched"},
		"scrapes failed": {full(func(l *Level) { l.Span.Missed = 9 }), Unknown, "9 of 17 scrapes failed"},
		"two scrapes": {full(func(l *Level) {
			for _, w := range l.Span.Workers {
				w.Stats[Running] = Stat{Mean: 15.5, N: 2}
			}
		}), Unknown, "3 times"},
	} {
		t.Run(name, func(t *testing.T) {
			f := Attribute([]Level{light, c.level})[1]
			if f.Bottleneck != c.want {
				t.Errorf("%+v, want %s", f, c.want)
			}
			if !strings.Contains(strings.Join(append(f.Evidence, f.Against...), "\n"), c.says) {
				t.Errorf("%+v does not say %q", f, c.says)
			}
			if named := f.Bottleneck != Unknown && f.Bottleneck != Headroom; named && (f.Try == "" || len(f.Against) > 0) {
				t.Errorf("%+v: a named bottleneck says what to try, and nothing speaks against it", f)
			}
		})
	}
}

func full95() Stats { return Stats{KVUsage: upTo(0.95, 1)} }

// bare is a worker that tells of its requests only.
func bare(n, w float64) Worker {
	return Worker{Stats: Stats{Running: upTo(n, n*1.06), Waiting: gauge(w)}}
}

// A level alone, of a server that is watched: what needs no neighbour is said,
// and whether throughput still rises is not known.
func TestNoNeighbours(t *testing.T) {
	for want, l := range map[Bottleneck]Level{
		BatchCap: levelAt(64, 1010, 900, 30, capOf(16), runs(15.5, 16), runs(15.5, 16)),
		Unknown:  levelAt(16, 1010, 900, 30, capOf(16), runs(8, 0), runs(8, 0)),
	} {
		if f := Attribute([]Level{l})[0]; f.Bottleneck != want || len(f.Evidence) == 0 {
			t.Errorf("%+v, want %s", f, want)
		}
	}
	if got := Attribute(nil); len(got) != 0 {
		t.Errorf("no level has %v", got)
	}
}

// A level at which the client is the limit is nothing to compare with.
func TestClientBoundNeighbour(t *testing.T) {
	starved := levelAt(256, 1100, 50, 240, capOf(1024), runs(128, 0), runs(128, 0))
	starved.Client.RunQueueShare, starved.Client.LagP99MS = 2, 325
	f := Attribute([]Level{levelAt(64, 1000, 50, 60, capOf(1024), runs(32, 0), runs(32, 0)), starved})
	if f[0].Bottleneck != Unknown || f[1].Bottleneck != LoadGenerator {
		t.Errorf("%+v", f)
	}
	starved.Client.RunQueueShare, starved.Client.Suspended = 0, []Suspension{{3, 2}}
	f = Attribute([]Level{levelAt(64, 1000, 50, 60, capOf(1024), runs(32, 0), runs(32, 0)), starved})
	if f[0].Bottleneck != Unknown || f[1].Bottleneck != LoadGenerator || !strings.Contains(f[1].Try, "running") {
		t.Errorf("stopped: %+v", f)
	}
}

// Contradictions between levels.
func TestRisesAgain(t *testing.T) {
	f := Attribute([]Level{
		levelAt(16, 1000, 50, 10, capOf(16), runs(15.8, 0)),
		levelAt(32, 1010, 900, 10, capOf(16), runs(15.5, 16)),
		levelAt(64, 1900, 900, 10, capOf(16), runs(15.5, 48)),
	})
	if f[1].Bottleneck != Unknown || len(f[1].Against) != 1 || !strings.Contains(f[1].Against[0], "still rises") {
		t.Errorf("%+v: throughput nearly doubles beyond a full batch", f[1])
	}
	if f[2].Bottleneck != BatchCap {
		t.Errorf("%+v", f[2])
	}
	slower := Attribute([]Level{
		levelAt(32, 1000, 900, 10, capOf(16), runs(15.5, 16)),
		levelAt(64, 1000, 900, 20, capOf(16), runs(15.5, 48)),
	})
	if slower[1].Bottleneck != Unknown || !strings.Contains(slower[1].Against[0], "from 10.0 to 20.0 ms") {
		t.Errorf("%+v: the same batch takes twice as long", slower[1])
	}
}
