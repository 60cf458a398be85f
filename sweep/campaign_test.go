package sweep

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/perfsweep/perfsweep/knee/kneetest"
	"github.com/perfsweep/perfsweep/loadgen"
)

// measurer makes healthy runs of the GB300 curve; run and noise depend on the
// first request number alone, which a resumed campaign continues.
func measurer(t *testing.T, made *int) func(context.Context, Step, uint64) (loadgen.Result, error) {
	return func(_ context.Context, s Step, first uint64) (loadgen.Result, error) {
		*made++
		w := newWorld(kneetest.GB300(210), 0.03, first)
		r := w.run(s, int(first/1000)+1).Result
		h := healthyRun(s.Kind)
		r.Series, r.SeriesSeconds, r.Health = h.Series, h.SeriesSeconds, h.Health
		for i := range r.Series {
			r.Series[i] *= r.WholeRun.OutputTokens / h.WholeRun.OutputTokens
		}
		r.OutputTokensPerRequest = r.WholeRun.OutputTokens / float64(r.WholeRun.Requests)
		r.RequestedOutputTokens = r.OutputTokensPerRequest * 32 / 30
		r.NextRequest = first + 1000
		return r, nil
	}
}

func campaign(t *testing.T, made *int) *Campaign {
	return &Campaign{
		Curve:   Curve{Fingerprint: Fingerprint{GPUs: 1}, Plan: confirmPlan()},
		Measure: measurer(t, made),
	}
}

func TestCampaign(t *testing.T) {
	made := 0
	c := campaign(t, &made)
	var before, after int
	c.Notify = func(e Event) {
		switch {
		case e.Run == nil:
			if e.Done != before {
				t.Errorf("before run %d: %d done", before+1, e.Done)
			}
			before++
		default:
			after++
			if e.Run.Seq != after || e.Done != after || e.Run.Step != e.Step {
				t.Errorf("after run %d: %+v", after, e)
			}
		}
	}
	d, err := c.Run(t.Context())
	if err != nil || !d.Done || d.Point.ConcurrencyPerGPU != 128 {
		t.Fatalf("%+v, %v", d, err)
	}
	if before != made || after != made || len(c.Curve.Runs) != made {
		t.Errorf("%d measured, %d announced, %d reported, %d kept", made, before, after, len(c.Curve.Runs))
	}
	for i, r := range c.Curve.Runs {
		if !r.Valid() || r.Seq != i+1 || r.Result.NextRequest != uint64(i+1)*1000 {
			t.Errorf("run %d: seq %d, next request %d, %+v", i+1, r.Seq, r.Result.NextRequest, r.Violations)
		}
	}
	if got := NextStep(c.Curve.Plan, c.Curve.Runs); !reflect.DeepEqual(got, d) {
		t.Errorf("the pure planner ends with %+v, the campaign with %+v", got, d)
	}
}

// A run that met nobody is made again with the same requests, watched anew, and
// not recorded.
func TestCampaignRepeats(t *testing.T) {
	made, heard, repeats := 0, 0, 0
	c := campaign(t, &made)
	next := uint64(0)
	measure := c.Measure
	c.Measure = func(ctx context.Context, s Step, first uint64) (loadgen.Result, error) {
		if first != next {
			t.Errorf("requests from %d, want %d", first, next)
		}
		if repeats%3 < 2 {
			repeats++
			return loadgen.Result{}, fmt.Errorf("wrapped: %w", ErrRepeat)
		}
		repeats++
		next = first + 1000
		return measure(ctx, s, first)
	}
	c.Hear = func(context.Context) func(loadgen.Result) *Servers {
		heard++
		return func(loadgen.Result) *Servers { return nil }
	}
	announced := 0
	c.Notify = func(e Event) {
		if e.Run == nil {
			announced++
		}
	}
	d, err := c.Run(t.Context())
	if err != nil || !d.Done || len(c.Curve.Runs) != made || announced != made || repeats != 3*made || heard != 3*made {
		t.Errorf("%+v, %v: %d runs of %d, %d announced, %d calls, %d heard", d, err, len(c.Curve.Runs), made, announced, repeats, heard)
	}
	ctx, cancel := context.WithCancel(t.Context())
	again := campaign(t, &made)
	again.Measure = func(context.Context, Step, uint64) (loadgen.Result, error) {
		cancel()
		return loadgen.Result{}, ErrRepeat
	}
	if _, err := again.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// TestCampaignKeepsWholeRunsOnly: a run that was cut short by the caller or
// that could not be made is not recorded, and the campaign goes on from there.
func TestCampaignKeepsWholeRunsOnly(t *testing.T) {
	made := 0
	path := filepath.Join(t.TempDir(), "j")
	c := campaign(t, &made)
	j, err := CreateJournal(path, c.Curve)
	if err != nil {
		t.Fatal(err)
	}
	c.Journal = j
	ctx, cancel := context.WithCancel(t.Context())
	good := c.Measure
	c.Measure = func(ctx context.Context, s Step, first uint64) (loadgen.Result, error) {
		if made == 4 {
			cancel()
			return loadgen.Result{Stopped: "cancelled"}, nil
		}
		return good(ctx, s, first)
	}
	if _, err := c.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("cancelled: %v", err)
	}
	broken := errors.New("the world")
	c.Measure = func(context.Context, Step, uint64) (loadgen.Result, error) { return loadgen.Result{}, broken }
	if _, err := c.Run(t.Context()); !errors.Is(err, broken) {
		t.Fatalf("a run that could not be made: %v", err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	back, err := ReadJournal(path)
	if err != nil || len(back.Runs) != 4 {
		t.Fatalf("%d runs in the journal, %v", len(back.Runs), err)
	}

	whole := campaign(t, &made)
	if _, err := whole.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.Measure = good
	j, c.Curve, err = ResumeJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = j.Close() }()
	c.Journal = j
	if _, err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	sameRuns(t, c.Curve.Runs, whole.Curve.Runs)
}

// TestOutputLengthOfTheCampaign: the first runs are taken as they are, later
// ones are held against their median, and one odd run does not move it.
func TestOutputLengthOfTheCampaign(t *testing.T) {
	made := 0
	c := campaign(t, &made)
	good := c.Measure
	c.Measure = func(ctx context.Context, s Step, first uint64) (loadgen.Result, error) {
		r, err := good(ctx, s, first)
		if made == 1 || made == 6 {
			r.OutputTokensPerRequest *= 2. / 3
		}
		return r, err
	}
	if _, err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, r := range c.Curve.Runs {
		if want := i != 5; r.Valid() != want {
			t.Errorf("run %d: %+v", i+1, r.Violations)
		}
	}
	if w := c.Curve.Runs[0].Result.Warnings; len(w) != 1 {
		t.Errorf("the first run does not say that V4 did not judge it: %q", w)
	}
}
