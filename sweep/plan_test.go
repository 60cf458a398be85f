package sweep

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
)

func TestDefaultPlansAreValid(t *testing.T) {
	for _, e := range []Effort{Quick, Standard, Full} {
		if err := DefaultPlan(e).Validate(); err != nil {
			t.Errorf("%s: %v", e, err)
		}
	}
}

func TestPlanValidate(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Plan)
		want   string
	}{
		{"effort", func(p *Plan) { p.Effort = "much" }, "effort"},
		{"level 0", func(p *Plan) { p.Levels = []int{0, 8} }, "outside"},
		{"level 4097", func(p *Plan) { p.Levels = []int{8, 4097} }, "outside"},
		{"descending", func(p *Plan) { p.Levels = []int{16, 8} }, "ascending"},
		{"twice", func(p *Plan) { p.Levels = []int{8, 8} }, "once"},
		{"upper end", func(p *Plan) { p.MaxConcurrencyPerGPU = 0 }, "upper end"},
		{"point", func(p *Plan) { p.Point = 5000 }, "point"},
		{"point 1", func(p *Plan) { p.Point = 1 }, "half"},
		{"point and levels", func(p *Plan) { p.Point, p.Levels = 8, []int{8} }, "exclude"},
		{"point at the top", func(p *Plan) { p.Point = 4096 }, "above"},
		{"check without a point", func(p *Plan) { p.Check = true }, "check"},
		{"check and confirm", func(p *Plan) { p.Check, p.Confirm, p.Point = true, true, 8 }, "confirmation"},
		{"repeats", func(p *Plan) { p.Repeats = 0 }, "passes"},
		{"e*", func(p *Plan) { p.EStar = math.NaN() }, "e*"},
		{"SLO", func(p *Plan) { p.SLOMaxTTFTMS = 0 }, "TTFT"},
		{"runs", func(p *Plan) { p.MaxRuns = 0 }, "runs"},
		{"wall", func(p *Plan) { p.MaxWall = -1 }, "negative"},
	} {
		p := DefaultPlan(Standard)
		c.change(&p)
		if err := p.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", c.name, err, c.want)
		}
	}
	check := DefaultPlan(Standard)
	check.Check, check.Point = true, 1
	if err := check.Validate(); err != nil {
		t.Errorf("a check at 1 per GPU: %v", err)
	}
}

func TestLimits(t *testing.T) {
	step := func(n int, k loadgen.RunKind, p Purpose) Step {
		return Step{ConcurrencyPerGPU: n, Kind: k, Purpose: p}
	}
	for _, c := range []struct {
		effort   Effort
		step     Step
		total    int
		requests int64
		least    time.Duration
		most     time.Duration
	}{
		{Standard, step(32, loadgen.Steady, Coarse), 32, 1000, 30 * time.Second, 180 * time.Second},
		{Standard, step(256, loadgen.Steady, Coarse), 1024, 10240, 30 * time.Second, 180 * time.Second},
		{Standard, step(4, loadgen.Steady, Extend), 4, 300, 30 * time.Second, 180 * time.Second},
		{Standard, step(4, loadgen.Steady, Extend), 288, 2880, 30 * time.Second, 180 * time.Second},
		{Standard, step(128, loadgen.Steady, Confirm), 512, 5120, 60 * time.Second, 180 * time.Second},
		{Standard, step(128, loadgen.Gate, Confirm), 512, 4096, 0, 15 * time.Minute},
		{Standard, step(8, loadgen.Gate, Check), 8, 1000, 0, 15 * time.Minute},
		{Full, step(32, loadgen.Steady, Coarse), 32, 3000, 90 * time.Second, 540 * time.Second},
		{Full, step(128, loadgen.Steady, Confirm), 128, 3840, 180 * time.Second, 540 * time.Second},
		{Full, step(128, loadgen.Gate, Confirm), 512, 4096, 0, 15 * time.Minute},
		{Quick, step(8, loadgen.Steady, Coarse), 8, 200, 3 * time.Second, 8 * time.Second},
		{Quick, step(128, loadgen.Steady, Confirm), 128, 768, 3 * time.Second, 8 * time.Second},
		{Quick, step(128, loadgen.Gate, Confirm), 128, 768, 0, time.Minute},
	} {
		l := c.effort.Limits(c.step, c.total, time.Hour)
		if l.MinRequests != c.requests || l.MinDuration != c.least || l.MaxDuration != c.most {
			t.Errorf("%s %+v at %d: %+v", c.effort, c.step, c.total, l)
		}
		if c.step.Kind == loadgen.Gate && l.Ramp != 0 || c.step.Kind == loadgen.Steady && !(l.Ramp > 0 && l.Ramp <= maxRamp) {
			t.Errorf("%s %s: ramp %v", c.effort, c.step.Kind, l.Ramp)
		}
	}
	if l := Standard.Limits(step(8, loadgen.Steady, Coarse), 8, 2*time.Second); l.Ramp != 2*time.Second {
		t.Errorf("the ramp is %v, want one residence time", l.Ramp)
	}
}

func TestFingerprintDiff(t *testing.T) {
	a := Fingerprint{
		Target: "http://x", Model: "m", GPUs: 4, Effort: Standard, ToolVersion: "1",
		Workload: loadgen.WorkloadSpec{Name: "aicr", OSL: 128, Seed: 1<<63 + 1}, Labels: map[string]string{"image": "a"},
	}
	if d := a.Diff(a); len(d) != 0 {
		t.Errorf("equal fingerprints differ in %v", d)
	}
	b := a
	b.GPUs, b.Workload.OSL, b.Workload.Seed = 8, 512, 1<<63+2
	b.Labels = map[string]string{"image": "b", "driver": "9"}
	want := []string{
		"gpus: 4, now 8", "labels.driver: unknown, now 9", "labels.image: a, now b",
		"workload.osl: 128, now 512", "workload.seed: 9223372036854775809, now 9223372036854775810",
	}
	if d := a.Diff(b); !slices.Equal(d, want) {
		t.Errorf("%q, want %q", d, want)
	}
}

func TestPlanDiff(t *testing.T) {
	a := DefaultPlan(Standard)
	more := a
	more.MaxRuns, more.MaxWall, more.MinWatch, more.Confirm = 90, time.Hour, time.Minute, true
	if d := a.Diff(more); len(d) != 0 {
		t.Errorf("budgets and a confirmation cannot be added: %v", d)
	}
	if d := more.Diff(a); len(d) != 1 || !strings.Contains(d[0], "confirm") {
		t.Errorf("a confirmation taken away: %v", d)
	}
	other := a
	other.Levels, other.Seed = []int{8, 16}, 2
	if d := a.Diff(other); len(d) != 2 {
		t.Errorf("%v", d)
	}
}

func TestCurve(t *testing.T) {
	w := newWorld(rising(), 0, 1)
	w.gpus = 4
	c := Curve{Fingerprint: Fingerprint{GPUs: 4}, Plan: DefaultPlan(Standard), Preflight: loadgen.Preflight{OutputTokens: 7}}
	for i, s := range []Step{
		{ConcurrencyPerGPU: 8, Kind: loadgen.Steady}, {ConcurrencyPerGPU: 8, Kind: loadgen.Gate}, {ConcurrencyPerGPU: 16, Kind: loadgen.Steady},
	} {
		r := w.run(s, i+1)
		r.Result.TotalOutputTokens = 100
		c.Runs = append(c.Runs, r)
	}
	c.Runs[2].Violations = []Violation{{Gate: "V3"}}
	if n := c.OutputTokens(); n != 307 {
		t.Errorf("%d output tokens, want those of every run and of the preflight", n)
	}
	pts := c.Points()
	if len(pts) != 1 || math.Abs(pts[0].TokPerSecPerGPU/rising().X(8)-1) > 1e-12 || pts[0].TTFTP99MS == 0 {
		t.Fatalf("points %+v", pts)
	}
	c.Runs[0].Result.Window.Requests = 999
	if pts := c.Points(); pts[0].TTFTP99MS != 0 {
		t.Error("a TTFT p99 of 999 requests bears on the knee")
	}
	c.Plan.Effort = Quick
	if pts := c.Points(); pts[0].TTFTP99MS == 0 {
		t.Error("quick runs have no TTFT")
	}
	if back := points(FromPoints(pts), 1, Quick); !slices.Equal(back, pts) {
		t.Errorf("%+v became %+v", pts, back)
	}
}
