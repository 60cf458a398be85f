package loadgen

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/perfsweep/perfsweep/loadgen/internal/stream"
)

// round holds the parts of one run together: a step is due as soon as all parts
// have come to it.
type round struct {
	parts int
	gone  chan struct{}

	mu   sync.Mutex
	at   map[Step]int
	open map[Step]chan time.Time
}

func newRound(parts int) *round {
	r := &round{parts: parts, gone: make(chan struct{}), at: map[Step]int{}, open: map[Step]chan time.Time{}}
	for _, s := range []Step{Ready, Warm, Done} {
		r.open[s] = make(chan time.Time, parts)
	}
	return r
}

func (r *round) Await(ctx context.Context, s Step) (time.Time, error) {
	r.mu.Lock()
	if r.at[s]++; r.at[s] == r.parts {
		for range r.parts {
			r.open[s] <- time.Now().Add(300 * time.Millisecond)
		}
	}
	r.mu.Unlock()
	select {
	case t := <-r.open[s]:
		return t, nil
	case <-ctx.Done():
		return time.Time{}, ctx.Err()
	}
}

func (r *round) GivenUp() <-chan struct{} { return r.gone }

// together makes a run in parts, each over its own clock and over the wire.
func together(t *testing.T, cfg Config, parts int, peers func(i int) Peers) (Result, error) {
	t.Helper()
	split := cfg.Split(parts)
	out := make([]Part, len(split))
	errs := make([]error, len(split))
	var all sync.WaitGroup
	for i, c := range split {
		c.Peers = peers(i)
		all.Go(func() {
			var p Part
			if p, errs[i] = RunPart(t.Context(), c); errs[i] != nil {
				return
			}
			p.Offset = time.Duration(i)*7*time.Second + 3*time.Millisecond
			p.started, p.ended = p.started.Add(p.Offset), p.ended.Add(p.Offset)
			b, err := p.MarshalBinary()
			if err == nil {
				out[i] = Part{Offset: p.Offset}
				err = out[i].UnmarshalBinary(b)
			}
			errs[i] = err
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return Result{}, err
	}
	return MergeParts(cfg, out)
}

// TestPartsTogether: parts make the run that one generator would, of the same
// streams and requests, each number once.
func TestPartsTogether(t *testing.T) {
	for _, kind := range []RunKind{Steady, Gate} {
		for _, parts := range []int{1, 3, 4} {
			const n, requests = 14, 14*12 + 5
			e := &engine{ttft: 100 * time.Millisecond, itl: 10 * time.Millisecond}
			synctest.Test(t, func(t *testing.T) {
				dial, stop := e.serve()
				var mu sync.Mutex
				var numbers []uint64
				cfg := Config{
					BaseURL: "http://engine", Model: "m", Dial: dial, Workload: workload(t, tokens(20, 0)), FirstRequest: 1000,
					Concurrency: n, Kind: kind, Limits: Limits{MinRequests: requests, MinDuration: 20 * time.Second, MaxDuration: time.Minute, Ramp: 290 * time.Millisecond},
					OnRequest: func(r Request) { mu.Lock(); defer mu.Unlock(); numbers = append(numbers, r.Number) },
				}
				all := newRound(parts)
				r, err := together(t, cfg, parts, func(int) Peers { return all })
				stop()
				if err != nil {
					t.Fatal(err)
				}
				w := r.Estimate()
				if w.TTFTP99MS != 100 || w.ITLP99MS != 10 || w.E2EP50MS != 290 || !near(w.GapP99MS, 10, .001) {
					t.Errorf("%s in %d: %+v", kind, parts, w)
				}
				if law := n * 20 / .29; kind == Steady && !near(w.OutputTokPerSec, law, .005) {
					t.Errorf("%s in %d: %g tok/s, want %g", kind, parts, w.OutputTokPerSec, law)
				}
				if kind == Gate && (r.Measured.Total() != requests || r.All.Total() != requests+n) {
					t.Errorf("%s in %d: %v measured of %v", kind, parts, r.Measured, r.All)
				}
				if e.peak != n || r.Measured.Total() < requests || r.All.Total() != e.requests || e.conns != n {
					t.Errorf("%s in %d: the server saw %d at once, %d in all, %d connections; %v of %v", kind, parts, e.peak, e.requests, e.conns, r.Measured, r.All)
				}
				slices.Sort(numbers)
				if len(slices.Compact(slices.Clone(numbers))) != len(numbers) || numbers[0] != 1000 || r.NextRequest != numbers[len(numbers)-1]+1 {
					t.Errorf("%s in %d: %d requests, %d numbers, from %d to below %d", kind, parts, e.requests, len(numbers), numbers[0], r.NextRequest)
				}
				if (parts > 1) != (len(r.LoadPods) == parts) || r.StartSpreadMS > 1 {
					t.Errorf("%s in %d: %+v, spread %g ms", kind, parts, r.LoadPods, r.StartSpreadMS)
				}
				if kind == Steady && (!r.Health.LittleMeasured || r.Health.LittleResidual > .005) {
					t.Errorf("%s in %d: Little's law is off by %g", kind, parts, r.Health.LittleResidual)
				}
			})
		}
	}
}

// TestSplitIsExact: whatever the numbers, the parts add up, and none is empty.
func TestSplitIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := Config{Concurrency: rapid.IntRange(1, 5000).Draw(t, "streams"), Limits: Limits{
			MinRequests: rapid.Int64Range(0, 1e6).Draw(t, "requests"), WarmUpRequests: rapid.Int64Range(-1, 1e5).Draw(t, "warm-ups"),
		}}
		whole := cfg.Limits.withDefaults(cfg.Concurrency)
		parts := cfg.Split(rapid.IntRange(1, 64).Draw(t, "parts"))
		var streams int
		var requests, warm int64
		for _, p := range parts {
			l := p.Limits.withDefaults(p.Concurrency)
			streams, requests, warm = streams+p.Concurrency, requests+l.MinRequests, warm+l.WarmUpRequests
			if p.Concurrency < 1 || l.MinRequests < 1 || p.Share.check(p.Concurrency) != nil {
				t.Fatalf("%+v", p.Share)
			}
		}
		if streams != cfg.Concurrency || requests != whole.MinRequests || warm != whole.WarmUpRequests {
			t.Fatalf("%d streams, %d requests, %d warm-ups of %+v", streams, requests, warm, cfg)
		}
	})
}

// stubborn never lets a part go on from a step.
type stubborn struct {
	Peers
	at Step
}

func (s stubborn) Await(ctx context.Context, at Step) (time.Time, error) {
	if at != s.at {
		return time.Now(), nil
	}
	<-ctx.Done()
	return time.Time{}, ctx.Err()
}

// TestPeersThatDoNotCome: the bounds of a run hold whatever its peers do.
func TestPeersThatDoNotCome(t *testing.T) {
	for _, at := range []Step{Ready, Warm, Done} {
		e := &engine{ttft: 100 * time.Millisecond, itl: 10 * time.Millisecond}
		synctest.Test(t, func(t *testing.T) {
			dial, stop := e.serve()
			cfg := Config{
				BaseURL: "http://engine", Model: "m", Dial: dial, Workload: workload(t, tokens(20, 0)), Concurrency: 4, Kind: Steady,
				Limits: Limits{MinRequests: 20, MaxDuration: 20 * time.Second, RequestTimeout: 10 * time.Second, DrainTimeout: 10 * time.Second},
			}
			began := time.Now()
			r, err := together(t, cfg, 1, func(int) Peers { return stubborn{newRound(1), at} })
			stop()
			if took := time.Since(began); err != nil || r.Stopped != stoppedByPeers || took > 3*time.Minute {
				t.Errorf("%s: stopped %q after %v, %v", at, r.Stopped, took, err)
			}
		})
	}
}

// TestGivenUp: a part that the others give up ends at once, drained.
func TestGivenUp(t *testing.T) {
	e := &engine{ttft: 100 * time.Millisecond, itl: 10 * time.Millisecond}
	synctest.Test(t, func(t *testing.T) {
		dial, stop := e.serve()
		cfg := Config{BaseURL: "http://engine", Model: "m", Dial: dial, Workload: workload(t, tokens(20, 0)), Concurrency: 4, Kind: Steady,
			Limits: Limits{MinRequests: 1e6, MaxDuration: time.Hour}}
		p := newRound(1)
		time.AfterFunc(10*time.Second, func() { close(p.gone) })
		began := time.Now()
		r, err := together(t, cfg, 1, func(int) Peers { return p })
		stop()
		if took := time.Since(began); err != nil || r.Stopped != stoppedByPeers || took > 11*time.Second || r.All.Bad() > 0 {
			t.Errorf("stopped %q after %v: %v, %v", r.Stopped, took, r.All, err)
		}
	})
}

// emptyPart is one that began so long after the common zero.
func emptyPart(streams int, after time.Duration) Part {
	s := newShard()
	s.objective = Objective{TTFTMS: 500}
	zero := time.Unix(1_700_000_000, 0)
	return Part{
		started: zero.Add(after), ended: zero.Add(time.Minute), streams: streams, record: s, errors: map[Outcome][]string{},
		course: course{from: 1e9 - int64(after), until: 20e9 - int64(after)},
	}
}

// drawRequests draws requests on the common clock and files each in all parts,
// on their clocks.
func drawRequests(t *rapid.T, parts ...*Part) {
	for range rapid.IntRange(1, 12).Draw(t, "requests") {
		outcome := outcomes[rapid.SampledFrom([]int{0, 0, 0, 0, 1, 6}).Draw(t, "outcome")]
		sent := rapid.Int64Range(2e9, 20e9).Draw(t, "sent")
		times := []int64{}
		at := sent
		for range rapid.IntRange(1, 6).Draw(t, "chunks") {
			at += rapid.Int64Range(1e3, 1e9).Draw(t, "gap")
			times = append(times, at)
		}
		completion := rapid.Int64Range(1, 200).Draw(t, "tokens")
		for _, p := range parts {
			m := sample{phase: measured, outcome: outcome, asked: 200, askedIn: 10}
			e := &exchange{lags: []int64{sent % 3e6}, eventReads: 2, stampedReads: 1}
			begin := int64(p.started.Sub(time.Unix(1_700_000_000, 0)))
			for _, t := range times {
				e.script.times = append(e.script.times, t-begin)
			}
			m.sent, m.wanted, m.end = sent-begin, sent-begin-1000, max(at, sent+1e9)-begin
			m.headers, m.first, m.visible, m.last = e.script.times[0], e.script.times[0], e.script.times[0], at-begin
			if len(times) > 1 {
				m.second = e.script.times[1]
			}
			if m.ok() {
				m.tokens = stream.Tokens{Completion: completion, Prompt: 9}
			}
			p.record.add(e, &m)
			p.samples = append(p.samples, m)
			p.course.sent++
		}
	}
}

// TestMergeIsPooling: what parts give together is what one generator with all
// of their samples gives: latencies exactly, gaps to the histogram's precision,
// wherever the clocks of the parts stand.
func TestMergeIsPooling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 5).Draw(t, "parts")
		cfg := Config{Concurrency: 3 * n, Kind: rapid.SampledFrom([]RunKind{Steady, Gate}).Draw(t, "kind"), Workload: &Workload{}, Objective: Objective{TTFTMS: 500}}
		var parts []Part
		pool := emptyPart(3*n, 0)
		for i := range n {
			// Whole bins apart, or tokens would be in other bins.
			p := emptyPart(3, time.Duration(min(i, 1)*rapid.IntRange(0, 90).Draw(t, "bins"))*time.Duration(binWidth))
			drawRequests(t, &p, &pool)
			p.Offset = time.Duration(rapid.Int64Range(-1e12, 1e12).Draw(t, "offset"))
			p.started, p.ended = p.started.Add(p.Offset), p.ended.Add(p.Offset)
			b, err := p.MarshalBinary()
			q := Part{Offset: p.Offset}
			if err == nil {
				err = q.UnmarshalBinary(b)
			}
			if err != nil {
				t.Fatalf("part %d: %v", i, err)
			}
			if again, _ := q.MarshalBinary(); !bytes.Equal(again, b) {
				t.Fatalf("part %d is another after its travel", i)
			}
			parts = append(parts, q)
		}
		want, err := MergeParts(cfg, []Part{pool})
		if err != nil {
			t.Fatal(err)
		}
		got, err := MergeParts(cfg, parts)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.LoadPods) != n {
			t.Fatalf("%d generators of %d", len(got.LoadPods), n)
		}
		if got.StartSpreadMS > wideStartMS { // one generator has no start to share
			got.Warnings = got.Warnings[:len(got.Warnings)-1]
		}
		got.LoadPods, got.NextRequest, got.StartSpreadMS = nil, want.NextRequest, want.StartSpreadMS
		a, b := sums(&got), sums(&want)
		for i := range a {
			if math.Abs(a[i]-b[i]) > 1e-9*(1+math.Abs(b[i])) {
				t.Fatalf("sum %d is %g merged and %g pooled", i, a[i], b[i])
			}
		}
		x, _ := json.Marshal(got)
		if y, _ := json.Marshal(want); !bytes.Equal(x, y) {
			t.Fatalf("merged\n%s\npooled\n%s", x, y)
		}
	})
}

// sums takes what is added up in another order out of a result.
func sums(r *Result) []float64 {
	all := r.Series
	r.Series = nil
	for _, v := range []*float64{
		&r.Window.OutputTokens, &r.Window.OutputTokPerSec, &r.Window.RequestsPerSec, &r.WholeRun.RequestsPerSec,
		&r.Health.DeliveredConcurrency, &r.Health.DeliveredConcurrencyLow, &r.Health.LittleResidual,
		&r.Goodput.OutputTokPerSec, &r.Goodput.RequestsPerSec,
	} {
		all = append(all, *v)
		*v = 0
	}
	return all
}

// TestShiftedTokens: a clock that is a fraction of a bin behind moves tokens
// and loses none.
func TestShiftedTokens(t *testing.T) {
	s, total := randomShard(rand.New(rand.NewPCG(7, 8)), 30)
	for _, by := range []int64{1, binWidth / 3, binWidth, 7*binWidth + 12345} {
		moved := newShard()
		moved.mergeAt(s, by)
		end := int64(len(moved.bins)) * binWidth
		if got := tokensIn(moved.bins, span{0, end}); !near(got, total, 1e-9) {
			t.Errorf("by %d: %g tokens of %g", by, got, total)
		}
		if a, b := longestSilence(s.bins, span{0, end}), longestSilence(moved.bins, span{by, end + by}); a-b > binWidth || b-a > binWidth {
			t.Errorf("by %d: silence of %d became %d", by, a, b)
		}
	}
}

// FuzzPart: records from the wire are an error or make a result.
func FuzzPart(f *testing.F) {
	gen := rapid.Custom(func(t *rapid.T) Part { p := emptyPart(3, 0); drawRequests(t, &p); return p })
	for i := range 5 {
		b, _ := gen.Example(i).MarshalBinary()
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var p Part
		if p.UnmarshalBinary(b) != nil {
			return
		}
		cfg := Config{Concurrency: p.streams, Kind: Gate, Workload: &Workload{}}
		if _, err := MergeParts(cfg, []Part{p}); err != nil {
			t.Errorf("records that can be read make no result: %v", err)
		}
	})
}
