package sweep

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/knee/kneetest"
	"github.com/perfsweep/perfsweep/loadgen"
	"pgregory.net/rapid"
)

// stalled and late are runs that a stall, and one seen by a tool that was late
// itself, made INVALID; slow is a run of another kind.
const (
	stalled = "V6"
	late    = "V6 V8"
	slow    = "slow"
)

// steadyAt is a steady run of a server that gives 100 tok/s a request up to 64.
func steadyAt(n int, what string) Run {
	e := loadgen.Estimate{Requests: 5000, OutputTokPerSec: 100 * float64(min(n, 64)), TTFTP50MS: 50, TTFTP99MS: 100}
	r := Run{Step: Step{ConcurrencyPerGPU: n, Kind: loadgen.Steady, Purpose: Coarse}}
	switch what {
	case "":
	case slow:
		e.OutputTokPerSec, e.TTFTP50MS, e.TTFTP99MS = 0.65*e.OutputTokPerSec, 3*e.TTFTP50MS, 9*e.TTFTP99MS
	default:
		for _, g := range strings.Fields(what) {
			r.Violations = append(r.Violations, Violation{Gate: g})
		}
	}
	r.Result.Window = e
	return r
}

func steadies(what string, levels ...int) []Run {
	var out []Run
	for _, n := range levels {
		out = append(out, steadyAt(n, what))
	}
	return out
}

func confirms(runs []Run) []Run {
	for i := range runs {
		runs[i].Step.Purpose = Confirm
	}
	return runs
}

func TestUnsteady(t *testing.T) {
	for _, c := range []struct {
		name string
		runs []Run
		upTo int
		says string
	}{
		{"nothing", nil, 0, ""},
		{"a whole curve, twice", steadies("", 8, 16, 32, 64, 128, 256, 8, 16, 32, 64, 128, 256), 512, ""},
		{"three stalls, and nothing above", steadies(stalled, 8, 8, 8), 0, ""},
		{"three stalls where there is room", slices.Concat(steadies(stalled, 8, 16), steadies("", 8), steadies(stalled, 8), steadies("", 16, 32)), 0, "3 of 4 runs in a row up to 16 per GPU"},
		{"two", slices.Concat(steadies(stalled, 8, 16), steadies("", 8, 16, 32)), 0, ""},
		{"this tool was late", slices.Concat(steadies(late, 8, 16, 8), steadies("", 8, 16, 32)), 0, ""},
		{"at the saturation", slices.Concat(steadies("", 8, 16, 32, 64, 128), steadies(stalled, 64, 128, 64)), 0, ""},
		{"at what is known to be bearable", slices.Concat(steadies("", 8, 16, 32, 64, 128), steadies(stalled, 64, 64, 64)), 64, "bursty"},
		{"while it is confirmed", slices.Concat(steadies("", 8, 16, 32, 64, 128), steadies(stalled, 64, 16), confirms(steadies(stalled, 64))), 0, "up to 64 per GPU"},
		{"29 in a row", slices.Concat(steadies("", 64), steadies(stalled, 8), steadies("", slices.Repeat([]int{8}, 26)...), steadies(stalled, 8, 8)), 0, "3 of 29 runs in a row up to 8"},
		{"30 in a row", slices.Concat(steadies("", 64), steadies(stalled, 8), steadies("", slices.Repeat([]int{8}, 27)...), steadies(stalled, 8, 8)), 0, ""},
		{"runs above do not dilute", slices.Concat(steadies("", 64), steadies(stalled, 8), steadies("", slices.Repeat([]int{32}, 27)...), steadies(stalled, 8, 8)), 0, "3 of 3 runs in a row up to 8"},
		{"two kinds at what is bearable", slices.Concat(steadies("", 64), steadies(slow, 64)), 64, "runs at 64 per GPU are of two kinds, ×1.54 apart in throughput and ×3.0 in TTFT p50"},
		{"two kinds, at the top", slices.Concat(steadies("", 32, 64), steadies(slow, 64)), 0, ""},
		{"two kinds below two good runs", slices.Concat(steadies("", 8), steadies(slow, 8), steadies("", 16, 16)), 0, "runs at 8 per GPU"},
		{"below one good run", slices.Concat(steadies("", 8), steadies(slow, 8), steadies("", 16)), 0, ""},
		{"below a level that stalled as well", slices.Concat(steadies("", 8), steadies(slow, 8), steadies(stalled, 16), steadies("", 16, 16)), 0, ""},
		{"below a level of two kinds", slices.Concat(steadies("", 8), steadies(slow, 8, 16), steadies("", 16, 16)), 0, ""},
		{"below a level that gives less", slices.Concat(steadies("", 64), steadies(slow, 64), steadies(slow, 128, 128)), 0, ""},
		{"for the pulse of checks", func() []Run {
			runs := slices.Concat(steadies("", 64), steadies(stalled, 8, 8, 8), steadies(slow, 64))
			for i := range runs[1:] {
				runs[i+1].Step.Purpose = Pulse
			}
			return runs
		}(), 64, ""},
		{"in windows apart", func() []Run {
			runs := slices.Concat(confirms(steadies("", 64, 64)), confirms(steadies(slow, 64, 64)))
			runs[2].Window, runs[3].Window = 2, 2
			return runs
		}(), 0, ""},
	} {
		got := Unsteady(c.runs, c.upTo)
		if (got == "") != (c.says == "") || !strings.Contains(got, c.says) || got != "" && !strings.HasPrefix(got, "unstable: ") {
			t.Errorf("%s: %q, want %q", c.name, got, c.says)
		}
	}
}

// TestUnsteadyLaws: what some runs show, these and any later ones show, in the
// same words; and more so if more levels are known not to be overloaded.
func TestUnsteadyLaws(t *testing.T) {
	levels := []int{8, 16, 32, 64, 128}
	rapid.Check(t, func(t *rapid.T) {
		var runs []Run
		for range rapid.IntRange(0, 40).Draw(t, "runs") {
			r := steadyAt(rapid.SampledFrom(levels).Draw(t, "level"), rapid.SampledFrom([]string{"", "", "", stalled, late, slow}).Draw(t, "what"))
			r.Window = rapid.SampledFrom([]int{0, 0, 0, 2}).Draw(t, "window")
			if rapid.IntRange(0, 5).Draw(t, "confirm") == 0 {
				r.Step.Purpose = Confirm
			}
			runs = append(runs, r)
		}
		slices.SortStableFunc(runs, func(a, b Run) int { return a.window() - b.window() })
		upTo := rapid.SampledFrom([]int{0, 8, 32, 128}).Draw(t, "up to")
		before := ""
		for k := range len(runs) + 1 {
			now := Unsteady(runs[:k], upTo)
			if before != "" && now != before {
				t.Fatalf("%d runs: %q, one more: %q", k-1, before, now)
			}
			if before = now; now != "" && Unsteady(runs[:k], upTo+32) == "" {
				t.Fatalf("up to %d: %q, up to %d nothing", upTo, now, upTo+32)
			}
		}
	})
}

// TestAttemptsEndWhenDecided: over all ways in which attempts may come out, they
// end as soon as no way is left to what is wanted, and not before; the verdict is
// that of all the attempts that might have been made.
func TestAttemptsEndWhenDecided(t *testing.T) {
	// An attempt is valid, INVALID, stalled, or valid and of another kind.
	for _, c := range []struct {
		want, tries int
		outcomes    string
	}{{confirmValid, confirmTries, "vis"}, {windowValid, windowTries, "viso"}} {
		made := map[string]int{} // attempts, by how they came out
		for _, way := range ways(c.tries, c.outcomes) {
			var runs []Run
			for i, kind := range way {
				runs = append(runs, attempt(i, kind)...)
			}
			tape := newTape(DefaultPlan(Standard), runs, nil)
			a, ok := tape.attempts(64, Confirm, c.want, c.tries, 0)
			if !ok {
				t.Fatalf("%s: more is asked for than may be", way)
			}
			if proved, want := a.verdict(64, c.want) == "", proves(string(way), c.want); proved != want {
				t.Fatalf("%s: proved %v after %d attempts, want %v", way, proved, a.made, want)
			}
			made[string(way[:a.made])] = a.made
		}
		for head := range made {
			if proves(head, c.want) {
				continue
			}
			if !lost(head, c.want, c.tries) || lost(head[:len(head)-1], c.want, c.tries) {
				t.Errorf("%d of %d: attempts that came out %q ended too late or too early", c.want, c.tries, head)
			}
		}
	}
}

// ways are all ways in which so many attempts may come out.
func ways(n int, outcomes string) []string {
	out := []string{""}
	for range n {
		var next []string
		for _, w := range out {
			for _, o := range outcomes {
				next = append(next, w+string(o))
			}
		}
		out = next
	}
	return out
}

func attempt(i int, how rune) []Run {
	gate, steady := steadyAt(64, ""), steadyAt(64, "")
	gate.Step.Kind = loadgen.Gate
	switch how {
	case 'i':
		gate.Violations = []Violation{{Gate: "V2"}}
	case 's':
		gate.Violations = []Violation{{Gate: "V6"}}
	}
	if gate.Result.WholeRun = gate.Result.Window; how == 'o' {
		gate.Result.WholeRun.TTFTP50MS *= 3
		gate.Result.WholeRun.TTFTP99MS *= 9
	}
	gate.Seq = i + 1
	if !gate.Valid() {
		return []Run{gate}
	}
	return []Run{gate, steady}
}

// proves reads attempts to the last that is made: valid ones until there are
// enough, of one kind, and at most one stall.
func proves(way string, want int) bool {
	seen := map[rune]int{}
	for _, how := range way {
		if seen[how]++; seen['v']+seen['o'] == want {
			return seen['s'] <= MaxStalls && (seen['v'] == 0 || seen['o'] == 0)
		}
	}
	return false
}

// lost: no further attempts make it prove anything.
func lost(head string, want, tries int) bool {
	for _, tail := range []string{"v", "o"} {
		if proves(head+strings.Repeat(tail, tries-len(head)), want) {
			return false
		}
	}
	return true
}

// unsteadyWorld is a world in which every third run stalls, so that it is
// INVALID, or so that it looks valid.
func unsteadyWorld(gate string, seed uint64) *world {
	w := newWorld(kneetest.GB300(210), 0.03, seed)
	w.judge = func(r *Run) {
		if r.Seq%3 != 2 {
			return
		}
		if gate != "" {
			r.Violations = []Violation{{Gate: gate}}
			return
		}
		for _, e := range []*loadgen.Estimate{&r.Result.Window, &r.Result.WholeRun} {
			e.OutputTokPerSec, e.TTFTP50MS, e.TTFTP99MS = 0.5*e.OutputTokPerSec, 4*e.TTFTP50MS, 16*e.TTFTP99MS
		}
	}
	return w
}

// TestSweepEndsWhenDecided: a bursty environment ends the sweep, not only its
// confirmation; levels that were asked for are measured nevertheless; a healthy
// campaign is never ended. An ended one stays so, and says when one more stall
// would do it.
func TestSweepEndsWhenDecided(t *testing.T) {
	search, levels := DefaultPlan(Standard), DefaultPlan(Standard)
	levels.Levels = []int{8, 16, 32, 64, 128, 256}
	for _, c := range []struct {
		name string
		plan Plan
		gate string
		most int
	}{
		{"stalls, calibration", confirmPlan(), "V6", 14},
		{"stalls, sweep", search, "V6", 14},
		{"valid runs of two kinds, calibration", confirmPlan(), "", 19},
	} {
		for seed := range uint64(3) {
			runs, d := unsteadyWorld(c.gate, seed).play(t, c.plan)
			if len(runs) > c.most || !d.Unstable() || d.Point.Healthy || d.Point.Reason != d.Reason {
				t.Errorf("%s, seed %d: %d runs, %+v", c.name, seed, len(runs), d)
			}
			if o := outlookOf(c.plan, runs); o != (Outlook{}) {
				t.Errorf("%s, seed %d: %+v is left", c.name, seed, o)
			}
			if healthy, d := newWorld(kneetest.GB300(210), 0.05, seed).play(t, c.plan); d.Unstable() {
				t.Errorf("%s, seed %d: healthy, and after %d runs %+v", c.name, seed, len(healthy), d)
			}
		}
	}
	if runs, d := unsteadyWorld("V6", 1).play(t, levels); len(runs) < 2*len(levels.Levels) || strings.Contains(d.Reason, "stood still") {
		t.Errorf("given levels: %d runs, %+v", len(runs), d)
	}
}

// TestSweepGoesOnWithAColdStart: one level of two kinds refuses a calibration,
// whatever follows; for a curve alone it takes a second one.
func TestSweepGoesOnWithAColdStart(t *testing.T) {
	for _, c := range []struct {
		plan  Plan
		cold  int // levels up to this one were slow at first
		ended bool
	}{{DefaultPlan(Standard), 8, false}, {DefaultPlan(Standard), 16, true}, {confirmPlan(), 8, true}} {
		w := newWorld(kneetest.GB300(210), 0.02, 1)
		w.judge = func(r *Run) {
			if r.Step.Purpose == Coarse && r.Step.ConcurrencyPerGPU <= c.cold {
				r.Result.Window.OutputTokPerSec *= 0.6
				r.Result.Window.TTFTP50MS *= 3
			}
		}
		runs, d := w.play(t, c.plan)
		if got := strings.Contains(d.Reason, "of two kinds"); got != c.ended {
			t.Errorf("confirm %v, cold up to %d: %d runs, %+v", c.plan.Confirm, c.cold, len(runs), d)
		}
	}
}

// TestBurstyCampaignInTime: a campaign that calibrates on a server which stands
// still for a minute in every five ends in its first half hour, of an hour and a
// half, with the last progress line saying that a stall would end it.
func TestBurstyCampaignInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, made := time.Now(), 0
		c := campaign(t, &made)
		healthy := c.Measure
		c.Measure = func(ctx context.Context, s Step, first uint64) (loadgen.Result, error) {
			r, err := healthy(ctx, s, first)
			r.Started = time.Now()
			for i := range r.Series { // one value a second
				if time.Since(began)%(5*time.Minute) >= 4*time.Minute {
					r.Series[i] = 0
				}
				time.Sleep(time.Second)
			}
			r.Ended = time.Now()
			return r, err
		}
		var last Outlook
		c.Notify = func(e Event) {
			if e.Run == nil {
				last = e.Outlook
			}
		}
		d, err := c.Run(t.Context())
		if err != nil || !d.Done || !strings.Contains(d.Reason, "stood still for a while (V6)") {
			t.Fatalf("%+v, %v", d, err)
		}
		if took := time.Since(began); took > 30*time.Minute || !last.LastStall || !strings.Contains(last.String(), "one more stall ends it") {
			t.Errorf("%v, %d runs, at last %q", took, made, last)
		}
		if again := NextStep(c.Curve.Plan, c.Curve.Runs); fmt.Sprint(again) != fmt.Sprint(d) {
			t.Errorf("resumed: %+v, was %+v", again, d)
		}
	})
}

// TestWindowEndsWhenDecided: a further window that reads another kind of gate
// run than the first is over with it.
func TestWindowEndsWhenDecided(t *testing.T) {
	p, runs := confirmedRuns(t)
	n := NextStep(p, runs).Point.ConcurrencyPerGPU
	p.Window = 2
	find := remember(knee.Find)
	for _, how := range []rune{'o', 'v'} {
		next := slices.Clone(runs)
		for _, r := range attempt(0, how) {
			r.Step.ConcurrencyPerGPU, r.Step.Purpose, r.Window = n, Confirm, 2
			first := runs[slices.IndexFunc(runs, func(r Run) bool { return r.Step.Kind == loadgen.Gate })].Result.WholeRun
			r.Result.WholeRun.TTFTP50MS *= first.TTFTP50MS / 50
			r.Result.WholeRun.TTFTP99MS *= first.TTFTP99MS / 100
			next = append(next, r)
		}
		if d := nextStep(p, next, find); d.Done != (how == 'o') || d.Done && !strings.Contains(d.Reason, "window 2: unstable: gate runs") {
			t.Errorf("%c: %+v", how, d)
		}
	}
}
