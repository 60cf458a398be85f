package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report"
	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
	"github.com/perfsweep/perfsweep/sweep/compare"
)

// turns are the two targets of an interleaved comparison, A first. Each step on
// the way is taken for both before the next one: neither journal is begun, and
// neither target loaded, while the other may still be refused.
type turns [2]struct {
	*campaign
	labels  map[string]string
	journal *openJournal
	old     *sweep.Curve
	target  *target
	curve   sweep.Curve
	cfg     loadgen.Config
}

func (t *turns) close(ctx context.Context) {
	for i := range t {
		t[i].release(ctx, t[i].target)
		if t[i].journal != nil {
			t[i].journal.close()
		}
	}
}

// open reads the journals and resolves the targets.
func (t *turns) open(ctx context.Context) (err error) {
	var made [2][]sweep.Run
	for i := range t {
		s := &t[i]
		if s.journal, s.old, err = s.openJournal(); err != nil {
			return err
		}
		if s.old != nil {
			made[i] = s.old.Runs
		}
	}
	if err := sweep.InTurns(made[0], made[1]); err != nil {
		return badInputf("%s and %s cannot be continued with --ab: %w; use a new --journal, or hold them against each other with perfsweep compare", t[0].flags.journal, t[1].flags.journal, err)
	}
	for i := range t {
		s := &t[i]
		if s.target, err = s.resolve(ctx); err != nil {
			return fmt.Errorf("target %s: %w", s.side, err)
		}
	}
	return nil
}

// preflight looks at both targets and refuses to compare different things. B is
// asked for A's model and follows A's plan.
func (t *turns) preflight(ctx context.Context, spec loadgen.WorkloadSpec) (err error) {
	for i := range t {
		s := &t[i]
		if i > 0 {
			s.model, s.modelFrom, s.plan = t[0].curve.Fingerprint.Model, "that of A", t[0].plan
		}
		if s.curve, s.cfg, err = s.campaign.preflight(ctx, s.target, spec, s.labels); err != nil {
			return fmt.Errorf("target %s: %w", s.side, err)
		}
	}
	fields, blocked := compare.Differences(t[0].curve.Fingerprint, t[1].curve.Fingerprint, nil)
	if len(blocked) > 0 {
		return badInputf("A and B are not comparable: they differ in %s (%s); measure each on its own and use perfsweep compare --across %s", strings.Join(blocked, ", "), strings.Join(fields, "; "), strings.Join(blocked, ","))
	}
	return nil
}

func (t *turns) begin() (*sweep.AB, error) {
	var sides [2]*sweep.Campaign
	for i := range t {
		s := &t[i]
		var err error
		if sides[i], err = s.campaign.begin(s.curve, s.cfg, s.journal, s.old); err != nil {
			return nil, err
		}
	}
	return &sweep.AB{A: sides[0], B: sides[1]}, nil
}

// judge compares the valid pairs. Knees and operating points are those of whole
// journals, as knee prints them.
func (t *turns) judge(ab *sweep.AB, d sweep.Decision) (report.Comparison, error) {
	f := usualChange()
	o, err := f.options(func(string) bool { return false })
	if err != nil {
		return report.Comparison{}, err
	}
	a, b := ab.A.Curve, ab.B.Curve
	o.Paired = true
	slo := a.Plan.Objective
	va, vb := sweep.ValidPairs(a.Runs, b.Runs)
	c := report.Comparison{
		NameA: t.name(0), NameB: t.name(1), A: pairedSide(a, va, slo), B: pairedSide(b, vb, slo), Options: o, Objective: slo,
		Differences: a.Fingerprint.Diff(b.Fingerprint),
		Turns:       &report.Turns{Pairs: len(va), Dropped: max(len(a.Runs), len(b.Runs)) - len(va), Reason: d.Reason},
	}
	if c.Report, err = compare.Curves(c.A, c.B, o); err != nil {
		return c, badInput(err)
	}
	for i, read := range []sweep.Curve{a, b} {
		if read.Rejudged != "" {
			c.Report.Warnings = append(c.Report.Warnings, fmt.Sprintf("%s: %s", t[i].side, read.Rejudged))
		}
	}
	for i, runs := range [][]sweep.Run{a.Runs, b.Runs} {
		if n, gates := failures(runs); n > 0 {
			c.Report.Warnings = append(c.Report.Warnings, fmt.Sprintf("%s failed run gates in %d of %s (%s): compared are the pairs in which neither did, its better moments",
				t[i].side, n, plural.Of(len(runs), "run"), gates))
		}
	}
	more := 0
	for _, x := range []*compare.Change{&c.Report.Throughput, c.Report.Goodput} {
		if x != nil && x.Verdict == compare.CannotTell {
			more = max(more, x.More)
		}
	}
	if more > 0 {
		c.Report.Warnings = append(c.Report.Warnings, advice(a.Plan, more, len(c.Report.Levels)))
	}
	return c, nil
}

// failures counts the INVALID runs and names the gates that they failed.
func failures(runs []sweep.Run) (n int, gates string) {
	failed := map[string]bool{}
	for _, r := range runs {
		if !r.Valid() {
			n++
		}
		causes, _ := r.Causes()
		for _, v := range causes {
			failed[v.Gate] = true
		}
	}
	return n, strings.Join(slices.Sorted(maps.Keys(failed)), ", ")
}

// advice is how to tell what could not be told. It is a new campaign: one that
// is extended until a change shows will show one.
func advice(p sweep.Plan, more, levels int) string {
	p.Repeats += more
	if err := p.Validate(); err != nil {
		return fmt.Sprintf("so many runs are beyond a sweep (%v); look for what makes runs differ, or for a larger change", err)
	}
	how := fmt.Sprintf("--repeats %d", p.Repeats)
	if want := p.Repeats * levels; want > p.MaxRuns {
		how += fmt.Sprintf(" --max-runs %d", want)
	}
	return fmt.Sprintf("to tell, measure anew with %s and another --journal", how)
}

// name says which target and which journal a side is.
func (t *turns) name(i int) string {
	s := &t[i]
	if s.flags.journal == "" {
		return s.target.public
	}
	return fmt.Sprintf("%s (%s)", s.target.public, s.flags.journal)
}

func pairedSide(c sweep.Curve, valid []sweep.Run, o loadgen.Objective) compare.Side {
	fit := c.Fit()
	s := compare.Side{All: valid, Fit: fit, Point: sweep.ChoosePoint(c.Plan, fit, c.Runs), Fingerprint: &c.Fingerprint}
	if !o.IsZero() {
		s.SLO = sweep.JudgeSLO(o, c.Runs)
	}
	c.Runs = valid
	s.Runs, s.Good = c.Points(), c.GoodRuns(o)
	return s
}
