package enginesim

import (
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"
)

// quiet is a preset without its default noise and faults.
func quiet(t testing.TB, name string) Params {
	p := target(t, name)
	p.Noise, p.Stall = 0, 0
	return p
}

func names() []string { return presetNames() }

// One wave of equal answers ends after exactly L·n/X(n): the law itself.
func TestOneWaveTakesWhatTheLawSays(t *testing.T) {
	const tokens = 40
	for _, name := range names() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := quiet(t, name)
				p.QueueLimit = 0
				p.Chunk = 16
				served(t, p, func(_ *Sim, c *client) {
					for _, n := range []int{1, 4, 24, 72} {
						if p.workerCap()*p.live() < n || p.Sick != 1 {
							continue // waves of their own: TestClosedLoop
						}
						if p.live() > 1 && n%p.live() != 0 {
							continue
						}
						start := time.Now()
						c.hold(n, 1, fixed(tokens))
						near(t, fmt.Sprintf("X(%d)", n), float64(n*tokens)/time.Since(start).Seconds(), p.Throughput(float64(n)), 1e-6)
					}
				})
			})
		})
	}
}

// A closed loop with answers of different lengths delivers X(n), below and
// past every knee, cap and edge.
func TestClosedLoopDeliversTheLaw(t *testing.T) {
	targets := append(names(), "kneed?gpus=2", "gb300?speed=0.5", "frontend-bound?gpus=2", "sick-worker?gpus=2",
		"sick-worker?router=round-robin", "kneed?gpus=2&lost=1", "kneed?gpus=4&sick=0.25")
	if testing.Short() { // one of each kind of bottleneck, for the race detector
		targets = []string{"kneed", "frontend-bound?gpus=2", "sick-worker"}
	}
	for _, name := range targets {
		t.Run(name, func(t *testing.T) {
			p := quiet(t, name)
			for _, n := range loads(p) {
				synctest.Test(t, func(t *testing.T) {
					p := p
					p.QueueLimit = 0
					// A chunk is what a window cannot halve: small where streams are few.
					p.Chunk = min(16, 1+n/8)
					served(t, p, func(_ *Sim, c *client) {
						want := p.Throughput(float64(n) / float64(p.GPUs))
						wave := time.Duration(32 * float64(n) / (want * float64(p.GPUs)) * float64(time.Second))
						// Waves, and a share. The order of events at one virtual instant is
						// chance; windows are long enough that it moves no rate by a third of
						// the share.
						fill, window, within := 2, 16, 0.015
						if p.Router == RoundRobin {
							// Requests pile up at the sick worker slowly, and lengths that
							// differ unsettle the balance that the law assumes.
							fill, window, within = 40, 150, 0.05
						}
						start := time.Now()
						replies := c.hold(n, 2*(fill+window), varied)
						from := start.Add(time.Duration(fill) * wave)
						got := rate(replies, from, from.Add(time.Duration(window)*wave)) / float64(p.GPUs)
						near(t, fmt.Sprintf("X(%d streams)", n), got, want, within)
					})
				})
			}
		})
	}
}

// loads are total streams below and past the knee.
func loads(p Params) []int {
	knee, ok := p.Knee(0.2)
	if !ok {
		knee = 40
	}
	if p.Edge == 0 {
		knee = min(knee, 120) // the law is one formula up to its knee
	}
	var totals []int
	for _, f := range []float64{0.4, 1.3} {
		totals = append(totals, max(2, int(f*knee))*p.GPUs)
	}
	return totals
}

func near(t testing.TB, what string, got, want, within float64) {
	t.Helper()
	if !(math.Abs(got/want-1) <= within) {
		t.Errorf("%s = %.6g, want %.6g: off by %+.3f %%", what, got, want, 100*(got/want-1))
	}
}

func TestPublicPoints(t *testing.T) {
	for _, tc := range []struct {
		name string
		n, x float64
	}{
		{"h100", 256, 17007}, {"gb200", 256, 23732}, {"rtx-pro-6000", 256, 9929},
		{"gb300", 128, 21197}, {"gb300", 256, 5192},
	} {
		near(t, tc.name, target(t, tc.name).Throughput(tc.n), tc.x, 1e-9)
	}
}

func TestKnees(t *testing.T) {
	for _, tc := range []struct {
		target string
		e      float64
		want   float64 // 0 = none
	}{
		{"h100", 0.2, 400}, {"gb200", 0.2, 360}, {"rtx-pro-6000", 0.2, 340}, {"b200", 0.2, 448},
		{"gb300", 0.2, 210}, {"gb300", 0.5, 210}, {"gb300", 0.9, 250.0 / 9},
		{"kneed", 0.2, 68}, {"retrograde", 0.2, 88}, {"still-rising", 0.2, 0}, {"flat", 0.2, 0},
		{"two-stage", 0.2, 116}, {"two-stage", 0.5, 24}, {"batch-cap", 0.2, 48}, {"compute", 0.2, 84}, {"compute", 0.5, 21},
		{"kv-bound", 0.2, 32}, {"frontend-bound", 0.2, 90}, {"client-bound", 0.2, 256},
		{"sick-worker", 0.2, 96}, {"lost-worker", 0.2, 72}, {"stall", 0.2, 68}, {"shedding", 0.2, 40},
		{"gb300?speed=0.7", 0.2, 210}, {"gb300?gpus=8", 0.2, 210}, {"kneed?gpus=4&lost=1", 0.2, 51},
		// n_f = a·C_f/(G − b·C_f) with a, b of the preset: knee.md's own form.
		{"frontend-bound?gpus=2", 0.2, frontendKnee(2)}, {"frontend-bound?gpus=4", 0.2, frontendKnee(4)},
	} {
		n, ok := target(t, tc.target).Knee(tc.e)
		if ok != (tc.want > 0) {
			t.Errorf("%s at e = %g: ok = %v, n = %g", tc.target, tc.e, ok, n)
		} else if ok {
			near(t, tc.target, n, tc.want, 1e-6)
		}
	}
}

func frontendKnee(gpus float64) float64 {
	p, _ := preset("frontend-bound")
	c := p.FrontendTokPerSec
	return p.StepS * c / (gpus - p.StepPerStreamS*c)
}

// The formulas of a sick worker: least-loaded (W−1+f)/W; round-robin
// X(n_o)/X(n) with f·X(n_s) = X(n_o). Reference values for h = 250, n = 128.
func TestSickAndLostWorkersAgainstReference(t *testing.T) {
	p := hyperbola(250, 128, 21197)
	p.GPUs = 8
	whole := p.Throughput(128)
	for lost, want := range map[int]float64{1: .9539, 2: .8986, 3: .8311} {
		q := p
		q.Lost = lost
		if got := q.Throughput(128) / whole; math.Abs(got-want) > 5e-5 {
			t.Errorf("%d of 8 lost: %.5f, want %.4f", lost, got, want)
		}
	}
	for f, want := range map[float64][2]float64{.8: {.9662, .9750}, .5: {.8393, .9375}, .25: {.5310, .9062}} {
		q := p
		q.Sick = f
		least := q.Throughput(128) / whole
		q.Router = RoundRobin
		robin := q.Throughput(128) / whole
		if math.Abs(robin-want[0]) > 1e-4 || math.Abs(least-want[1]) > 1e-4 {
			t.Errorf("one of 8 at %g: round-robin %.4f, least-loaded %.4f, want %.4f", f, robin, least, want)
		}
	}
}

// Scaling the number of GPUs scales the total and nothing else, unless a
// frontend is shared; speed scales throughput and leaves the knee.
func TestScalingLaws(t *testing.T) {
	for _, name := range names() {
		p := quiet(t, name)
		if p.FrontendTokPerSec > 0 || p.Sick != 1 || p.Lost > 0 {
			continue
		}
		q := p
		q.GPUs, q.Speed = 8, 0.7
		for _, n := range []float64{1, 3.7, 64, 300} {
			near(t, name, q.Throughput(n), 0.7*p.Throughput(n), 1e-12)
		}
	}
}
