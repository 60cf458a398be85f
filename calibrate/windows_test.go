package calibrate

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
)

// window adds valid attempts of a further window, which begins later after the
// run before has ended.
func (f *fixture) window(number int, deployment string, later time.Duration, x ...float64) {
	first := len(f.curve.Runs)
	end := f.curve.Runs[first-1].Result.Ended
	for i := range x {
		f.add(sweep.Confirm, 128, x[i], healthyP99()[i%5])
	}
	shift := end.Add(later).Sub(f.curve.Runs[first].Started)
	for i := first; i < len(f.curve.Runs); i++ {
		r := &f.curve.Runs[i]
		r.Window, r.Deployment = number, deployment
		r.Started, r.Result.Started, r.Result.Ended = r.Started.Add(shift), r.Result.Started.Add(shift), r.Result.Ended.Add(shift)
	}
}

// on names the deployment of the runs so far.
func (f *fixture) on(deployment string) *fixture {
	for i := range f.curve.Runs {
		f.curve.Runs[i].Deployment = deployment
	}
	return f
}

// C6 is met by two whole windows, on deployments that both are named and
// differ, or far enough apart.
func TestSecondWindow(t *testing.T) {
	const min = time.Minute
	for name, c := range map[string]struct {
		bend  func(*fixture)
		state GateState
		says  string
	}{
		"two deployments":       {func(f *fixture) { f.on("a").window(2, "b", min, 21000, 21100, 20900) }, Met, "deployments a and b"},
		"one deployment":        {func(f *fixture) { f.on("a").window(2, "a", 29*min, 21000, 21100, 20900) }, Unmet, "--window 3"},
		"half an hour":          {func(f *fixture) { f.on("a").window(2, "a", 30*min, 21000, 21100, 20900) }, Met, "30m0s apart"},
		"half an hour, unnamed": {func(f *fixture) { f.window(2, "", 30*min, 21000, 21100, 20900) }, Met, "30m0s apart"},
		"one named":             {func(f *fixture) { f.window(2, "b", min, 21000, 21100, 20900) }, Unmet, "--window 3"},
		"regression":            {func(f *fixture) { f.policy.Profile = Regression; f.window(2, "", 359*min, 21000, 21100, 20900) }, Unmet, "--window-gap 6h"},
		"regression, six hours": {func(f *fixture) { f.policy.Profile = Regression; f.window(2, "", 360*min, 21000, 21100, 20900) }, Met, "6h0m0s apart"},
		"third one far": {func(f *fixture) {
			f.window(2, "", min, 21000, 21100, 20900)
			f.window(3, "", 29*min, 21000, 21100, 20900)
		}, Met, "windows 1 and 3"},
		"before the first": {func(f *fixture) { f.window(2, "", -24*time.Hour, 21000, 21100, 20900) }, Unmet, "apart"},
		"no times": {func(f *fixture) {
			f.window(2, "", 30*min, 21000, 21100, 20900)
			for i := range f.curve.Runs {
				f.curve.Runs[i].Started = time.Time{}
			}
		}, Unmet, "8 of 8 gate runs is not known"},
		"not finished": {func(f *fixture) { f.on("a").window(2, "b", min, 21000, 21100) }, Unmet, "--resume"},
		"not continued": {func(f *fixture) {
			f.on("a").window(2, "b", min, 21000, 21100)
			f.window(3, "c", min, 21000, 21100, 20900)
		}, Unmet, "new journal"},
		"another speed": {func(f *fixture) { f.on("a").window(2, "b", min, 17000, 17100, 16900) }, Unmet, "changes between windows"},
		"just inside":   {func(f *fixture) { f.on("a").window(2, "b", min, 18700, 18800, 18600) }, Met, ""},
		"slow tail": {func(f *fixture) {
			f.on("a").window(2, "b", min, 21000)
			f.tail(3200)
			f.window(2, "b", min, 21100, 20900)
		}, Unmet, "changes between windows"},
		"failed: picked": {func(f *fixture) { f.on("a").window(2, "b", min, 21000, 21100, 21000, 21100, 20900); f.spoil(3) }, Unmet, "new journal"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture()
			c.bend(f)
			p := f.propose()
			g := gate(p, "C6")
			if g.State != c.state || !strings.Contains(g.text(), c.says) || (g.State == Unmet) != (g.Remedy != "") {
				t.Errorf("%s: %s", g.State, g.text())
			}
			apart := strings.Contains(c.says, "changes between")
			if (p.Outcome == OutcomeUnstable) != apart || p.Writable {
				t.Errorf("outcome %s, writable %v: %q", p.Outcome, p.Writable, p.Reasons)
			}
			// A second window of a simulation is waived only where there is none to be judged.
			sim := newFixture().simulated()
			c.bend(sim)
			waivable := c.state == Unmet && !apart && !strings.Contains(c.says, "is not known") && c.says != "--resume" && c.says != "new journal"
			if p := sim.propose(); p.Writable != (c.state == Met || waivable) || (gate(p, "C6").State == Waived) != waivable {
				t.Errorf("simulated: %s, C6 %s, writable %v", p.Outcome, gate(p, "C6").text(), p.Writable)
			}
		})
	}
}

// tail gives the last gate run a TTFT p99.
func (f *fixture) tail(p99 float64) {
	r := &f.curve.Runs[len(f.curve.Runs)-2].Result
	r.WholeRun.TTFTP99MS, r.Window.TTFTP99MS = p99, p99
}

// spoil fails the steady runs of the last n attempts.
func (f *fixture) spoil(n int) {
	for i := range n {
		f.curve.Runs[len(f.curve.Runs)-1-2*i].Violations = []sweep.Violation{{Gate: "V2", Observed: "bad", Threshold: "good"}}
	}
}

// Runs that stood still count up to the point or the knee, and only where this
// tool was not late itself: three within 29 runs are a burst, however many runs
// follow or came before.
func TestBurstyCampaign(t *testing.T) {
	still := func(n int, at ...int) func(*fixture) {
		return func(f *fixture) { f.still(30, n, "V6", at...) }
	}
	for name, c := range map[string]struct {
		bend func(*fixture)
		want Outcome
	}{
		"two":                 {still(64, 0, 1), OutcomeSimulated},
		"three within 30":     {still(64, 0, 10, 29), OutcomeSimulated},
		"three within 29":     {still(64, 1, 10, 29), OutcomeUnstable},
		"three at once":       {still(64, 0, 1, 2), OutcomeUnstable},
		"up to the knee":      {still(192, 0, 1, 2), OutcomeUnstable},
		"past the knee":       {still(256, 0, 1, 2, 3, 4), OutcomeSimulated},
		"with other gates":    {func(f *fixture) { f.still(20, 64, "V2 V6", 3, 7, 9) }, OutcomeUnstable},
		"this tool was late":  {func(f *fixture) { f.still(20, 64, "V6 V8", 3, 7, 9) }, OutcomeSimulated},
		"something else fell": {func(f *fixture) { f.still(20, 64, "V2", 3, 7, 9) }, OutcomeSimulated},
		"two kinds of runs":   {func(f *fixture) { f.kinds(64, 1/0.69, 2.1) }, OutcomeUnstable},
		"slower only":         {func(f *fixture) { f.kinds(64, 1/0.69, 1.9) }, OutcomeSimulated},
		"longer waits only":   {func(f *fixture) { f.kinds(64, 1/0.71, 9) }, OutcomeSimulated},
		"two, past the knee":  {func(f *fixture) { f.kinds(256, 1/0.69, 2.1) }, OutcomeSimulated},
		"two kinds of gate runs": {func(f *fixture) {
			f.add(sweep.Confirm, 128, 21197, 1370)
			f.curve.Runs[len(f.curve.Runs)-2].Result.WholeRun.TTFTP50MS = 420
		}, OutcomeUnstable},
		"two at a point that was left": {func(f *fixture) {
			for _, x := range []float64{1, 2.2} {
				f.add(sweep.Confirm, 192, 20000, 600*x)
				f.curve.Runs[len(f.curve.Runs)-2].Result.WholeRun.TTFTP50MS *= x
			}
		}, OutcomeUnstable},
	} {
		f := newFixture().simulated()
		c.bend(f)
		p := f.propose()
		if p.Outcome != c.want || (c.want == OutcomeUnstable) == p.Writable {
			t.Errorf("%s: %s, %q", name, p.Outcome, p.Reasons)
		}
	}
}

// still adds some steady runs at n, of which those at the given places failed
// run gates.
func (f *fixture) still(all, n int, gates string, at ...int) {
	for i := range all {
		r := run(f.curve.Runs, sweep.Coarse, loadgen.Steady, n, 1000, 100)
		if slices.Contains(at, i) {
			for _, g := range strings.Fields(gates) {
				r.Violations = append(r.Violations, sweep.Violation{Gate: g})
			}
		}
		f.curve.Runs = append(f.curve.Runs, r)
	}
}

// kinds adds two steady runs at n that differ by these ratios in throughput and
// TTFT p50.
func (f *fixture) kinds(n int, rates, waits float64) {
	f.still(2, n, "")
	slow := &f.curve.Runs[len(f.curve.Runs)-1].Result.Window
	slow.OutputTokPerSec /= rates
	slow.TTFTP50MS *= waits
}

// drawWindows is a list of readings in windows, some on named deployments.
func drawWindows(t *rapid.T) attempts {
	var a attempts
	for w := range rapid.IntRange(1, 5).Draw(t, "windows") {
		id := rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "deployment")
		for _, x := range rapid.SliceOfN(rapid.Float64Range(90, 110), 2, 5).Draw(t, "runs") {
			a.valid = append(a.valid, reading{tokPerSecPerGPU: x, window: w + 1, deployment: id})
		}
	}
	return a
}

func limitsOf(t *rapid.T, deployments [][]float64) Limits {
	l, err := FloorLimits(deployments)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// No run is lost or counted twice, there are as many deployments as names, and
// windows without a name never add one. Names and order mean nothing.
func TestDeploymentLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawWindows(t)
		names := map[string]bool{}
		for _, r := range a.valid {
			names[r.deployment] = true
		}
		delete(names, "")
		by := a.byDeployment()
		if len(by) != max(len(names), 1) {
			t.Fatalf("%d deployments of names %v", len(by), names)
		}
		all, want := slices.Concat(by...), a.throughputs()
		slices.Sort(all)
		slices.Sort(want)
		if !slices.Equal(all, want) {
			t.Fatalf("%v became %v", want, all)
		}
		before := limitsOf(t, by)
		renamed := attempts{valid: slices.Clone(a.valid)}
		for i := range renamed.valid {
			if r := &renamed.valid[i]; r.deployment != "" {
				r.deployment = "other " + r.deployment
			}
		}
		if after := limitsOf(t, renamed.byDeployment()); after != before {
			t.Fatalf("other names: %+v, were %+v", after, before)
		}
		slices.Reverse(by)
		for _, runs := range by {
			slices.Reverse(runs)
		}
		if after := limitsOf(t, by); math.Abs(after.L/before.L-1) > 1e-9 || after.Portable != before.Portable {
			t.Fatalf("another order: %+v, were %+v", after, before)
		}
	})
}

// L stays below the fifth percentile of what a new deployment may read, and
// rises with a further deployment only where that is evidence: not below L, and
// not by more than what is known of the spread or the centre has gained.
func TestLimitsByDeployment(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var deployments [][]float64
		for range rapid.IntRange(1, 5).Draw(t, "deployments") {
			deployments = append(deployments, rapid.SliceOfN(rapid.Float64Range(90, 110), 2, 5).Draw(t, "runs"))
		}
		l := limitsOf(t, deployments)
		if fifth := math.Exp(l.LogMean - z95*l.S); !(l.L < fifth) {
			t.Fatalf("L %v is above the fifth percentile %v", l.L, fifth)
		}
		share := rapid.Float64Range(0.5, 0.999).Draw(t, "share of L")
		slow := []float64{share * l.L, share * l.L, share * l.L}
		if with := limitsOf(t, append(slices.Clone(deployments), slow)); with.L > l.L {
			t.Fatalf("a deployment at %v raised L from %v to %v", slow[0], l.L, with.L)
		}
		again := limitsOf(t, append(slices.Clone(deployments), deployments[0]))
		if again.L > l.L && !(again.S < l.S || again.F > l.F || again.NPrime > l.NPrime || again.LogMean > l.LogMean) {
			t.Fatalf("L rose from %v to %v for no reason: %+v, %+v", l.L, again.L, l, again)
		}
	})
}

// The same data on more deployments is more evidence, up to a bound that no
// number of them exceeds.
func TestLimitsOfEqualDeployments(t *testing.T) {
	runs, last := []float64{100, 103, 97}, 0.0
	var all [][]float64
	for a := range 30 {
		all = append(all, runs)
		l, err := FloorLimits(all)
		if err != nil {
			t.Fatal(err)
		}
		if l.L < last || l.L > math.Exp(l.LogMean-z95*l.S) || l.Deployments != a+1 {
			t.Errorf("%d deployments: L %v after %v (%+v)", a+1, l.L, last, l)
		}
		last = l.L
	}
}

// What windows teach must reach the comment.
func TestWindowsInComment(t *testing.T) {
	f := newFixture().on("a")
	f.simulated().window(2, "b", time.Minute, 21000, 21100, 20900)
	p := f.propose()
	for _, want := range []string{"8 gate runs of 8 attempts", "In 2 windows", "on a", "on b", "2 deployments"} {
		if !strings.Contains(strings.Join(p.Comment, " "), want) {
			t.Errorf("%q is not in %s", want, p.Comment)
		}
	}
	if got := fmt.Sprintf("%d %d %s", p.Limits.Deployments, p.Limits.Runs, p.Limits.SBBasis); got != "2 8 assumed" {
		t.Error(got)
	}
}
