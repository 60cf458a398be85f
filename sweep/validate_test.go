package sweep

import (
	"math"
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/loadgen"
)

// healthyRun passes every gate.
func healthyRun(kind loadgen.RunKind) loadgen.Result {
	e := loadgen.Estimate{
		Seconds: 30, Requests: 2000, OutputTokens: 60000, OutputTokPerSec: 2000,
		TTFTP50MS: 40, TTFTP99MS: 200, ITLP50MS: 10, ITLP99MS: 20, E2EP50MS: 700,
	}
	series := make([]float64, 120) // windows of 250 ms
	for i := range series {
		series[i] = 500 + 20*float64(i%3-1)
	}
	if kind == loadgen.Gate { // starts with nothing in flight, drains in the open
		series[0], series[117], series[118], series[119] = 0, 200, 50, 5
	}
	return loadgen.Result{
		Kind: kind, Concurrency: 64, Window: e, WholeRun: e,
		Measured:               loadgen.Outcomes{loadgen.OK: 2000},
		All:                    loadgen.Outcomes{loadgen.OK: 2200},
		OutputTokensPerRequest: 30, RequestedOutputTokens: 32,
		Series: series, SeriesSeconds: 0.25, LongestSilenceMS: 300,
		Health: loadgen.Health{
			CPUShare: 0.3, LagP50MS: 0.05, LagP99MS: 0.4, KernelTime: true,
			LittleResidual: 0.02, LittleMeasured: true,
		},
	}
}

var eos, noEOS = loadgen.WorkloadSpec{}, loadgen.WorkloadSpec{IgnoreEOS: true}

// gateCase breaks one thing of a healthy run.
type gateCase struct {
	name   string
	kind   loadgen.RunKind
	spec   loadgen.WorkloadSpec
	change func(*loadgen.Result)
	gate   string // the only gate that may fire, "" = none
}

func outcomeCases() []gateCase {
	return []gateCase{
		{"healthy", loadgen.Steady, eos, func(*loadgen.Result) {}, ""},
		{"healthy", loadgen.Gate, eos, func(*loadgen.Result) {}, ""},

		{"errors", loadgen.Steady, eos, func(r *loadgen.Result) {
			r.Measured = loadgen.Outcomes{loadgen.OK: 1997, loadgen.Timeout: 3}
		}, "V2"},
		{"errors just inside", loadgen.Steady, eos, func(r *loadgen.Result) {
			r.Measured = loadgen.Outcomes{loadgen.OK: 1998, loadgen.InBand: 1, loadgen.Cancelled: 1}
		}, ""},
		{"one error in a short run", loadgen.Gate, eos, func(r *loadgen.Result) {
			r.Measured = loadgen.Outcomes{loadgen.OK: 998, loadgen.Shed: 1}
		}, "V2"},
		{"errors in the warm-up", loadgen.Gate, eos, func(r *loadgen.Result) { r.All[loadgen.Connect] = 3 }, "V2"},
		{"nothing measured", loadgen.Steady, eos, func(r *loadgen.Result) { r.Measured = nil }, "V2"},
		{"nothing but errors", loadgen.Steady, eos, func(r *loadgen.Result) {
			r.Stopped, r.Measured, r.All = "errors", nil, loadgen.Outcomes{loadgen.Connect: 64}
		}, "V2"},
		{"cancelled", loadgen.Steady, eos, func(r *loadgen.Result) { r.Stopped = "cancelled" }, "V2"},
		{"gate run cut off", loadgen.Gate, eos, func(r *loadgen.Result) { r.Capped = true }, "V2"},
		{"steady run cut off", loadgen.Steady, eos, func(r *loadgen.Result) { r.Capped = true }, ""},

		{"Little", loadgen.Steady, eos, func(r *loadgen.Result) { r.Health.LittleResidual = 0.101 }, "V3"},
		{"Little just inside", loadgen.Steady, eos, func(r *loadgen.Result) { r.Health.LittleResidual = 0.099 }, ""},
		{"Little not measured", loadgen.Steady, eos, func(r *loadgen.Result) { r.Health.LittleMeasured = false }, "V3"},
		{"Little of a gate run", loadgen.Gate, eos, func(r *loadgen.Result) { r.Health.LittleResidual = 0.5 }, ""},
	}
}

func streamCases() []gateCase {
	set := func(from, to int, v float64) func(*loadgen.Result) {
		return func(r *loadgen.Result) {
			for i := from; i < to; i++ {
				r.Series[i] = v
			}
		}
	}
	drift := func(share float64) func(*loadgen.Result) {
		return func(r *loadgen.Result) {
			for i := range r.Series {
				r.Series[i] = 500*(1+share*(float64(i)/120-0.5)) + float64(i%2)
			}
		}
	}
	return []gateCase{
		{"longer than usual", loadgen.Steady, eos, func(r *loadgen.Result) { r.OutputTokensPerRequest = 30.7 }, "V4"},
		{"longer, just inside", loadgen.Steady, eos, func(r *loadgen.Result) { r.OutputTokensPerRequest = 30.5 }, ""},
		{"shorter than requested", loadgen.Gate, noEOS, func(r *loadgen.Result) { r.OutputTokensPerRequest = 31.3 }, "V4"},
		{"shorter, just inside", loadgen.Gate, noEOS, func(r *loadgen.Result) { r.OutputTokensPerRequest = 31.4 }, ""},
		{"no usage", loadgen.Steady, eos, func(r *loadgen.Result) {
			r.OutputTokensPerRequest, r.Window.OutputTokens = 0, 0
		}, "V4"},
		{"prompts sent twice", loadgen.Gate, eos, func(r *loadgen.Result) { r.RepeatedPrompts = 1 }, "V4"},

		{"drift", loadgen.Steady, eos, drift(0.04), "V5"},
		{"drift just inside", loadgen.Steady, eos, drift(0.029), ""},
		{"drift of a gate run", loadgen.Gate, eos, drift(0.04), ""},
		{"too short for a drift", loadgen.Steady, eos, func(r *loadgen.Result) { r.Series = r.Series[:19] }, "V5"},

		{"stall of 2 s", loadgen.Steady, eos, set(48, 56, 0), "V6"},
		{"slow for 1 s", loadgen.Steady, eos, set(48, 52, 245), "V6"},
		{"slow, just inside", loadgen.Steady, eos, set(48, 52, 255), ""},
		{"stall in a gate run", loadgen.Gate, eos, set(49, 57, 0), "V6"},
		{"silence", loadgen.Steady, eos, func(r *loadgen.Result) { r.LongestSilenceMS = 2001 }, "V6"},
		{"silence just inside", loadgen.Steady, eos, func(r *loadgen.Result) { r.LongestSilenceMS = 1999 }, ""},
		{"silence as TTFT allows", loadgen.Steady, eos, func(r *loadgen.Result) {
			r.LongestSilenceMS, r.Window.TTFTP99MS = 2999, 1000
		}, ""},
		{"silence as ITL allows", loadgen.Steady, eos, func(r *loadgen.Result) {
			r.LongestSilenceMS, r.Window.ITLP99MS = 2999, 150
		}, ""},
		{"ended in silence", loadgen.Gate, eos, func(r *loadgen.Result) { r.Stopped = "silence" }, "V6"},
		{"gate run without a series", loadgen.Gate, eos, func(r *loadgen.Result) { r.Series = nil }, "V6"},

		{"CPU", loadgen.Steady, eos, func(r *loadgen.Result) { r.Health.CPUShare = 0.71 }, "V8"},
		{"CPU just inside", loadgen.Steady, eos, func(r *loadgen.Result) { r.Health.CPUShare = 0.69 }, ""},
		{"CPU not measured", loadgen.Steady, eos, func(r *loadgen.Result) { r.Health.CPUShare = 0 }, ""},
		{"a lost generator", loadgen.Steady, eos, func(r *loadgen.Result) {
			r.LostPods, r.Measured, r.Stopped = []string{"load-3"}, nil, "errors"
		}, "V8"},
		{"this tool was stopped", loadgen.Steady, eos, func(r *loadgen.Result) {
			set(48, 56, 0)(r)
			r.LongestSilenceMS, r.Suspended = 2001, []loadgen.Suspension{{StartS: 12, LengthS: 2}, {StartS: 20, LengthS: 1}}
			r.Measured[loadgen.Timeout] = 900
		}, "V8"},
		{"this tool was stopped as it drained", loadgen.Gate, eos, func(r *loadgen.Result) { r.Suspended = []loadgen.Suspension{{LengthS: 0.6}} }, "V8"},
		{"generators that missed each other", loadgen.Gate, eos, func(r *loadgen.Result) { r.Stopped = "peers" }, "V8"},
		{"lag", loadgen.Gate, eos, func(r *loadgen.Result) { r.Health.LagP99MS = 20.1 }, "V8"},
		{"lag just inside", loadgen.Gate, eos, func(r *loadgen.Result) { r.Health.LagP99MS = 19.9 }, ""},
		{"CPU at the limit", loadgen.Gate, eos, func(r *loadgen.Result) { r.Health.CPUShare = 0.70 }, ""},
		{"evidence only", loadgen.Steady, eos, func(r *loadgen.Result) {
			h := &r.Health
			h.EventsPerRead, h.RunQueueShare, h.GCPauseMS, h.LateStartP99MS, h.SlowConnects = 8, 3, 900, 900, 64
			h.ConnectMaxMS, h.LagMaxMS, h.QuickACK = 3000, 400, false
		}, ""},
		{"lag not measured", loadgen.Gate, eos, func(r *loadgen.Result) {
			r.Health.LagP99MS, r.Health.KernelTime = 99, false
		}, ""},
	}
}

// TestGates breaks one thing at a time: only its gate fires, and just inside
// the threshold none does.
func TestGates(t *testing.T) {
	const usual = 30.0 / 32
	for _, c := range append(outcomeCases(), streamCases()...) {
		r := healthyRun(c.kind)
		c.change(&r)
		var got []string
		for _, v := range Validate(r, c.spec, usual*orOne(c.spec), 2000) {
			got = append(got, v.Gate)
			if v.Observed == "" || v.Threshold == "" || v.Remedy == "" {
				t.Errorf("%s %s: an unexplained violation %+v", c.kind, c.name, v)
			}
		}
		if strings.Join(got, " ") != c.gate {
			t.Errorf("%s %s: gates %v fire, want %q", c.kind, c.name, got, c.gate)
		}
	}
}

// TestLagLimit: 1 % of the largest TTFT that is accepted, 1 ms at least.
func TestLagLimit(t *testing.T) {
	for _, c := range []struct {
		slo, lag float64
		invalid  bool
	}{
		{2000, 20, false}, {2000, 20.01, true}, {500, 5, false}, {500, 5.01, true},
		{50, 1, false}, {50, 1.01, true}, {0, 1, false}, {0, 1.01, true},
	} {
		r := healthyRun(loadgen.Gate)
		r.Health.LagP99MS = c.lag
		got := Validate(r, eos, 0, c.slo)
		if (len(got) == 1 && got[0].Gate == "V8" && strings.HasPrefix(got[0].Observed, "client-bound")) != c.invalid || !c.invalid && len(got) != 0 {
			t.Errorf("lag %g ms at %g ms: %+v", c.lag, c.slo, got)
		}
	}
}

// orOne: the usual length must not matter where the request is owed, so the
// table gives a wrong one there.
func orOne(w loadgen.WorkloadSpec) float64 {
	if w.IgnoreEOS {
		return 0.5
	}
	return 1
}

// TestIgnoreEOSHealthy: healthyRun gives 30 of 32 tokens, which ignore_eos
// forbids and a model that ends its answers may do.
func TestIgnoreEOSHealthy(t *testing.T) {
	r := healthyRun(loadgen.Steady)
	if v := Validate(r, noEOS, 0, 2000); len(v) != 1 || v[0].Gate != "V4" {
		t.Errorf("%+v", v)
	}
	if v := Validate(r, eos, 0, 2000); len(v) != 0 {
		t.Errorf("before the usual length is known: %+v", v)
	}
	r.RequestedOutputTokens = 0
	if v := Validate(r, noEOS, 0, 2000); len(v) != 1 || v[0].Gate != "V4" {
		t.Errorf("unknown request length: %+v", v)
	}
	if v := Validate(r, eos, 30.2, 2000); len(v) != 0 {
		t.Errorf("bare lengths: %+v", v)
	}
}

// TestStallLargerThanTheRest: the median must not be one of the stall's own.
func TestStallLargerThanTheRest(t *testing.T) {
	r := healthyRun(loadgen.Steady)
	for i := range r.Series[:90] {
		r.Series[i] = 0
	}
	found := false
	for _, v := range Validate(r, eos, 0, 2000) {
		found = found || v.Gate == "V6"
	}
	if !found {
		t.Error("a run that stood still for three quarters of its time passes V6")
	}
}

// TestSlowStreamsAreNoStall: one stream pauses before each first token.
func TestSlowStreamsAreNoStall(t *testing.T) {
	r := healthyRun(loadgen.Steady)
	r.Window.TTFTP50MS = 900
	for i := range r.Series {
		r.Series[i] = 25
		if i%20 >= 16 { // 4 s of tokens, 1 s of prefill
			r.Series[i] = 0
		}
	}
	for _, v := range Validate(r, eos, 0, 2000) {
		if v.Gate == "V6" {
			t.Errorf("%+v", v)
		}
	}
}

// TestDriftReference: the reference values of knee.md §18.5.
func TestDriftReference(t *testing.T) {
	sign := func(i int) float64 { return 1 - 2*float64(i%2) }
	for _, c := range []struct {
		n        int
		y        func(i int) float64
		t, drift float64
		invalid  bool
	}{
		{60, func(i int) float64 { return 100 + .1*float64(i) + 2*sign(i) }, 6.377, .0563, true},
		{60, func(i int) float64 { return 100 + .03*float64(i) + .5*sign(i) }, 7.697, .0173, false},
		{60, func(i int) float64 { return 100*(1-.3*math.Exp(-float64(i)/8)) + sign(i) }, 8.886, .1946, true},
		{20, func(i int) float64 { return 100 + 2*sign(i) }, -.369, -.0060, false},
	} {
		y := make([]float64, c.n)
		for i := range y {
			y[i] = c.y(i)
		}
		tt, drift := driftOf(y)
		if math.Abs(tt-c.t) > 5e-4 || math.Abs(drift-c.drift) > 5e-5 {
			t.Errorf("t %.3f drift %.4f, want %.3f and %.4f", tt, drift, c.t, c.drift)
		}
		r := healthyRun(loadgen.Steady)
		r.Series = y
		if got := len(checkDrift(r)) > 0; got != c.invalid {
			t.Errorf("t %.3f drift %.4f: invalid %v, want %v", tt, drift, got, c.invalid)
		}
	}
}

func TestRebin(t *testing.T) {
	if got := rebin(make([]float64, 181), 180); len(got) != 90 {
		t.Errorf("%d windows of 181", len(got))
	}
	if got := rebin([]float64{1, 2, 3, 4, 5}, 3); len(got) != 2 || got[0] != 3 || got[1] != 7 {
		t.Errorf("%v", got)
	}
}

func TestNotJudged(t *testing.T) {
	r := healthyRun(loadgen.Steady)
	if got := NotJudged(r, eos, 1); len(got) != 0 {
		t.Errorf("%v", got)
	}
	r.Health = loadgen.Health{}
	if got := NotJudged(r, eos, 0); len(got) != 3 {
		t.Errorf("%v", got)
	}
}
