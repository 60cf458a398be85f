package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/spf13/pflag"

	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/loadgen/enginesim"
	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
)

// virtual drives a campaign of one output length against a simulator in virtual time: the wiring of
// the commands, over in-memory connections. It must run inside a bubble.
func virtual(t *testing.T, spec string, osl int, plan sweep.Plan) (sweep.Curve, sweep.Decision, enginesim.Params) {
	t.Helper()
	curve, d, p, err := virtually(context.Background(), t, spec, osl, plan, "")
	if err != nil {
		t.Fatalf("%s: %v", spec, err)
	}
	return curve, d, p
}

// virtually drives a campaign with flags of calibrate, a --journal among them.
// address, if any, makes the simulator pass for a server found there.
func virtually(ctx context.Context, t *testing.T, spec string, osl int, plan sweep.Plan, address string, args ...string) (sweep.Curve, sweep.Decision, enginesim.Params, error) {
	t.Helper()
	p, err := enginesim.ParseTarget(spec)
	if err != nil {
		t.Fatal(err)
	}
	curve, d, err := virtualEngine(ctx, t, p, osl, plan, address, args...)
	return curve, d, p, err
}

// virtualEngine is virtually for an engine that no target may name.
func virtualEngine(ctx context.Context, t *testing.T, p enginesim.Params, osl int, plan sweep.Plan, address string, args ...string) (sweep.Curve, sweep.Decision, error) {
	t.Helper()
	sim := enginesim.New(p)
	defer func() { _ = sim.Close() }()
	tg := &target{baseURL: "http://sim.invalid", public: "sim:" + p.Public(), gpus: p.GPUs, simulated: true, dial: sim.Dial}
	ws, err := loadgen.DefaultSpec("aicr")
	if err != nil {
		t.Fatal(err)
	}
	ws.OSL = osl
	if address != "" {
		tg.public, tg.simulated = address, false
	}
	var flags measureFlags
	c := &campaign{app: &app{out: io.Discard, err: testLog{t}}, flags: &flags, plan: plan}
	c.windows.want = calibrate.Portable.WindowGap()
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.bind(set)
	c.windows.bind(set)
	if err := set.Parse(args); err != nil {
		t.Fatal(err)
	}
	c.changed = set.Changed
	journal, old, err := c.openJournal()
	if err != nil {
		t.Fatal(err)
	}
	defer journal.close()
	if err := c.chooseWindow(old); err != nil {
		return sweep.Curve{}, sweep.Decision{}, err
	}
	labels, err := labelMap("label", flags.labels)
	if err != nil {
		t.Fatal(err)
	}
	curve, d, err := c.drive(ctx, tg, ws, labels, journal, old)
	// The engine's counters are the truth.
	got, want := curve.OutputTokens(), sim.Counters().OutputTokens
	if old != nil {
		want += old.OutputTokens() - int64(old.Preflight.OutputTokens)
	}
	if err == nil && got != want {
		t.Errorf("%s: the campaign counted %d output tokens, the engine delivered %d", p.Preset, got, want)
	}
	return curve, d, err
}

// Output lengths: what --effort quick asks for, and AICR's, which makes fewer
// requests a second: virtual time costs nothing, requests do.
const quickOSL, longOSL = 32, 128

type testLog struct{ t *testing.T }

func (l testLog) Write(b []byte) (int, error) {
	l.t.Log(string(b[:len(b)-1]))
	return len(b), nil
}

// quickPlan is what calibrate --effort quick uses.
func quickPlan() sweep.Plan {
	p := sweep.DefaultPlan(sweep.Quick)
	p.Confirm, p.MaxConcurrencyPerGPU = true, 0 // as the server publishes
	return p
}

func propose(c sweep.Curve) calibrate.Proposal {
	return calibrate.Propose(c, recipes.Gate{Model: c.Fingerprint.Model}, calibrate.Policy{Profile: calibrate.Portable, AllowSimulated: true, SLOMaxTTFTMS: 2000})
}

// spec makes a preset cheap: few chunks an answer, and the engine that is
// too fast for any client slowed down. Neither moves a knee.
func spec(preset string) string {
	if preset == "client-bound" {
		return preset + "?chunk=32&speed=0.05"
	}
	return preset + "?chunk=32"
}

// refusals are the presets whose sickness forbids an answer although the law
// behind it has a knee: one stands still (its runs are INVALID, or disagree),
// and one sheds what is past its knee, so that no valid run exists there and
// the curve only rises.
func refusals() map[string][]calibrate.Outcome {
	return map[string][]calibrate.Outcome{
		"stall":    {calibrate.OutcomeUnstable, calibrate.OutcomeInvalid},
		"shedding": {calibrate.OutcomeNotSaturated},
	}
}

// TestVirtualPresets: the knee's interval covers the closed form, and presets
// without a knee report their status and write nothing.
func TestVirtualPresets(t *testing.T) {
	infos := enginesim.PresetInfos()
	if !everySystem {
		infos = slices.DeleteFunc(infos, func(i enginesim.PresetInfo) bool { return slices.Contains([]string{"h100", "gb200", "b200"}, i.Name) })
	}
	if testing.Short() { // the race detector is seven times slower
		infos = slices.DeleteFunc(infos, func(i enginesim.PresetInfo) bool { return i.Name != "batch-cap" && i.Name != "flat" })
	}
	for _, info := range infos {
		t.Run(info.Name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				curve, d, p := virtual(t, spec(info.Name), longOSL, quickPlan())
				foretold(t, curve)
				fit, r := curve.Fit(), propose(curve)
				want, ok := p.Knee(0.20)
				t.Logf("status %s knee %.1f [%.1f, %.1f] closed form %.1f %v; point %+v; outcome %s; %s", fit.Status, fit.Knee, fit.KneeLow, fit.KneeHigh, want, ok, d.Point, r.Outcome, d.Reason)
				if !ok {
					if fit.HasKnee() || r.Writable {
						t.Errorf("no knee in closed form, but status %s, writable %v", fit.Status, r.Writable)
					}
					return
				}
				if refused, special := refusals()[info.Name]; special {
					if r.Writable || !slices.Contains(refused, r.Outcome) {
						t.Errorf("outcome %s, writable %v; want one of %v and nothing written", r.Outcome, r.Writable, refused)
					}
					return
				}
				if !r.Writable {
					t.Errorf("outcome %s: %q", r.Outcome, r.Reasons)
				}
				if want < fit.KneeLow || want > fit.KneeHigh {
					t.Errorf("interval [%.2f, %.2f] does not cover the closed-form knee %.2f (status %s)", fit.KneeLow, fit.KneeHigh, want, fit.Status)
				}
			})
		})
	}
}

// TestVirtualGB300: 128 per GPU, and never more.
func TestVirtualGB300(t *testing.T) {
	last := uint64(seeds)
	if testing.Short() {
		last = 1
	}
	for seed := uint64(1); seed <= last; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				plan := quickPlan()
				plan.Seed = seed
				curve, d, _ := virtual(t, fmt.Sprintf("gb300?chunk=32&seed=%d", seed), quickOSL, plan)
				r := propose(curve)
				if d.Point.ConcurrencyPerGPU != 128 || r.Gate.ConcurrencyPerGPU != 128 || !r.Writable {
					t.Errorf("seed %d: point %+v, gate %+v, outcome %s, reasons %q; want 128 per GPU", seed, d.Point, r.Gate, r.Outcome, r.Reasons)
				}
			})
		})
	}
}

// TestVirtualPastKnee: measuring GB300 at 256 per GPU only, the mistake that
// shipped, is refused however it is asked for.
func TestVirtualPastKnee(t *testing.T) {
	for name, change := range map[string]func(*sweep.Plan){
		"one level": func(p *sweep.Plan) { p.Levels = []int{256} },
		"prove":     func(p *sweep.Plan) { p.Point = 256 },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				plan := quickPlan()
				change(&plan)
				curve, d, _ := virtual(t, "gb300?chunk=32", longOSL, plan)
				if r := propose(curve); r.Writable || r.Outcome == calibrate.OutcomeSimulated {
					t.Errorf("outcome %s, point %+v: a single level past the knee must be refused", r.Outcome, d.Point)
				}
			})
		})
	}
}

// TestVirtualCheck: a healthy engine passes, a slow one fails, and one that
// stands still gives no verdict.
func TestVirtualCheck(t *testing.T) {
	gate := recipes.Gate{Model: "Qwen/Qwen3-8B", ConcurrencyPerGPU: 128, FloorPerGPU: 18000, CeilingTTFTP99MS: 1400}
	for _, c := range []struct {
		target string
		want   calibrate.Verdict
	}{
		{"gb300", calibrate.Pass},
		{"gb300?gpus=2", calibrate.Pass},
		{"gb300?speed=0.7", calibrate.Fail},
		{"gb300?stall=0.3", calibrate.Inconclusive},
		{"gb300?stall=0.3&seed=2", calibrate.Inconclusive},
		{"gb300?stall=0.3&seed=3", calibrate.Inconclusive},
	} {
		t.Run(c.target, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				plan := sweep.DefaultPlan(sweep.Quick)
				plan.Check, plan.Point = true, gate.ConcurrencyPerGPU
				curve, _, p := virtual(t, c.target, longOSL, plan)
				if got := calibrate.Check(gate, curve, p.GPUs, nil); got.Verdict != c.want {
					t.Errorf("verdict %s, want %s: %q", got.Verdict, c.want, got.Reasons)
				}
			})
		})
	}
}
