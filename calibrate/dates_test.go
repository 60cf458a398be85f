package calibrate

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/sweep"
)

// Dates at which nothing can have been measured are told; those that a clock an
// hour off explains are not.
func TestOddDates(t *testing.T) {
	c := newFixture().curve
	now := c.Runs[9].Result.Ended // 08:09
	for _, d := range []struct {
		name string
		bend func()
		want string // "" = none
	}{
		{"as measured", func() {}, ""},
		{"no date", func() { c.Runs[3].Started = time.Time{} }, ""},
		{"a day ahead", func() { c.Runs[3].Started = now.Add(24 * time.Hour) }, ""},
		{"more", func() { c.Runs[3].Started = now.Add(24*time.Hour + time.Second) }, "run 3 is dated 2026-09-03T"},
		{"the campaign", func() { c.Started = now.AddDate(1, 0, 0) }, "the campaign is dated 2027-09-02T08:09:00Z, which is still to come"},
		{"the campaign's epoch", func() { c.Started = time.Unix(60, 0) }, "the campaign is dated 1970-01-01T00:01:00Z, by a clock that was never set"},
		{"no date of the campaign", func() { c.Started = time.Time{} }, ""},
		{"a year", func() { c.Started = c.Runs[9].Started.Add(-365 * 24 * time.Hour) }, ""},
		{"more than a year", func() { c.Started = c.Runs[9].Started.Add(-365*24*time.Hour - time.Second) }, "the campaign is dated 2025-09-02, and its last run 2026-09-02: what lies more than 365 days apart"},
		{"its end", func() { c.Runs[5].Result.Ended = now.AddDate(73, 0, 0) }, "run 5 is dated 2099-09-02T08:09:00Z, which is still to come by this machine's clock: "},
		{"the epoch", func() { c.Runs[3].Started = time.Unix(60, 0) }, "run 3 is dated 1970-01-01T00:01:00Z, by a clock that was never set: "},
	} {
		c = newFixture().curve
		d.bend()
		if got := OddDates(c, now); d.want == "" && got != "" || !strings.HasPrefix(got, d.want) {
			t.Errorf("%s: %q", d.name, got)
		}
		if got := OddDates(c, time.Time{}); got != "" && !strings.Contains(got, "365 days") {
			t.Errorf("%s: without a clock %q", d.name, got)
		}
	}
}

// A sidecar of 2099 is told by its date, and by lint in the overlay.
func TestOddDatesOfASidecar(t *testing.T) {
	w := writtenOverlay(t, nil)
	p, err := ParseProvenance("o", []byte(w.sidecar))
	if err != nil {
		t.Fatal(err)
	}
	if got := p.OddDates(w.today); got != "" {
		t.Errorf("as written: %q", got)
	}
	for key, was := range map[string]string{"measured": p.Measured, "written": p.Written} {
		w.sidecar = strings.Replace(w.sidecar, `"`+key+`": "`+was, `"`+key+`": "2099-01-01T00:00:00Z`, 1)
	}
	told := 0
	for _, f := range w.lint(t) {
		if f.Rule == "stale-provenance" && strings.Contains(f.Message, "measured is 2099-01-01T00:00:00Z, which is still to come") {
			told++
		}
	}
	if told != 1 {
		t.Errorf("%+v", w.lint(t))
	}
	p.Written = "1970-01-01T00:00:00Z"
	if got := p.OddDates(w.today); !strings.HasPrefix(got, "written is 1970-01-01T00:00:00Z, by a clock that was never set") {
		t.Errorf("%q", got)
	}
}

// Dates that cannot be keep a gate from being written and a check from a verdict,
// whatever the numbers say; a waiver of C6 is none for them.
func TestOddDatesDecide(t *testing.T) {
	now := time.Date(2026, 9, 2, 12, 0, 0, 0, time.UTC)
	late := func(c *sweep.Curve) { c.Runs[len(c.Runs)-1].Result.Ended = now.AddDate(73, 0, 0) }
	apart := func(c *sweep.Curve) { c.Started = c.Started.AddDate(-20, 0, 0) }
	for name, bend := range map[string]func(*sweep.Curve){"to come": late, "decades apart": apart} {
		f := newFixture().simulated()
		f.policy.Now = now
		if g := gate(f.propose(), "C6"); g.State != Waived {
			t.Fatalf("as measured: %+v", g)
		}
		bend(&f.curve)
		p := f.propose()
		if g := gate(p, "C6"); g.State != Unmet || !strings.Contains(g.Observed, " is dated ") || !strings.Contains(g.Remedy, "clock") || p.Writable {
			t.Errorf("%s: writable %v, %+v", name, p.Writable, g)
		}
		if len(p.Comment) > 0 && p.Outcome == OutcomeSimulated {
			t.Errorf("%s: %s", name, p.Outcome)
		}
		k := checkFixture([]float64{21197, 21500, 20900}, steadyP99[:3])
		if r := check(testGate(), k.curve, 8, nil, noise{}, asRead{}, now); r.Verdict != Pass {
			t.Fatalf("as measured: %s %q", r.Verdict, r.Reasons)
		}
		bend(&k.curve)
		if r := check(testGate(), k.curve, 8, nil, noise{}, asRead{}, now); r.Verdict != Inconclusive || !strings.Contains(r.Reasons[0], " is dated ") {
			t.Errorf("%s: %s %q", name, r.Verdict, r.Reasons)
		}
	}
}

// An approval is given after its journal was measured, and not in the future. The
// hour of it is not known, and clocks lie a day apart.
func TestOddApproval(t *testing.T) {
	c := newFixture().curve // until 2026-09-02 08:09
	now := time.Date(2026, 9, 10, 12, 0, 0, 0, time.UTC)
	for _, row := range []struct{ approved, odd string }{
		{"2026-09-02", ""}, {"2026-09-01", ""}, {"2026-09-11", ""}, {"2026-09-10", ""},
		{"2026-08-31", "before its journal was measured, 2026-09-02"},
		{"2006-01-02", "before its journal was measured"},
		{"2026-09-12", "still to come"}, {"2099-01-01", "still to come"},
		{"1970-01-01", "never set"}, {"soon", "no date"},
	} {
		if got := oddApproval(row.approved, c, now); (got == "") != (row.odd == "") || !strings.Contains(got, row.odd) {
			t.Errorf("%s: %q", row.approved, got)
		}
	}
	f := newFixture()
	f.policy.Journal, f.policy.Now = Source{"own.jsonl", ownHash}, now
	word := Approval{JournalSHA256: ownHash, Journal: "own.jsonl", By: "A", Why: "B", Approved: "2026-09-03"}
	f.policy.Approvals = []Approval{word}
	if g := gate(f.propose(), "C7"); g.State != Met {
		t.Errorf("%+v", g)
	}
	word.Approved = "2016-09-03"
	f.policy.Approvals = []Approval{word}
	if g := gate(f.propose(), "C7"); g.State != Unmet || !strings.Contains(g.Observed, "the approval by A on 2016-09-03 is void: before its journal was measured") {
		t.Errorf("%+v", g)
	}
	if _, err := ParseApprovals("o", []byte(`{"schema_version":1,"approvals":[{"journal_sha256":"`+ownHash+`","by":"A","why":"B","approved":"yesterday"}]}`)); err == nil || !strings.Contains(err.Error(), "is no date") {
		t.Errorf("%v", err)
	}
}

// The dates of a sidecar follow each other.
func TestSidecarOrder(t *testing.T) {
	w := writtenOverlay(t, nil)
	p, err := ParseProvenance("o", []byte(w.sidecar))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		bend func(*Provenance)
		want string
	}{
		{func(*Provenance) {}, ""},
		{func(p *Provenance) { p.CampaignStarted = "" }, ""},
		{func(p *Provenance) { p.CampaignStarted = "2099-01-01T00:00:00Z" }, "measured is "},
		{func(p *Provenance) { p.Written = "2001-01-01T00:00:00Z" }, "written is 2001-01-01T00:00:00Z, before what it was written from was measured"},
		{func(p *Provenance) { p.CampaignStarted = p.Measured }, ""},
		{func(p *Provenance) { p.BaselineRuns[1].Started = "2001-01-01T00:00:00Z" }, "baseline_runs[1].started is 2001-01-01T00:00:00Z, not between"},
		{func(p *Provenance) { p.BaselineRuns[0].Started = "2099-01-01T00:00:00Z" }, "baseline_runs[0].started is 2099"},
	} {
		q := p
		q.BaselineRuns = slices.Clone(p.BaselineRuns)
		row.bend(&q)
		if err := q.order(); (err == nil) != (row.want == "") || err != nil && !strings.HasPrefix(err.Error(), row.want) {
			t.Errorf("%q: %v", row.want, err)
		}
	}
}

// Without the dates of its gate runs nothing is written, waived or not, and no
// year 1 is printed.
func TestUndatedRuns(t *testing.T) {
	f := newFixture().simulated()
	f.curve.Started = time.Time{}
	for i := range f.curve.Runs {
		r := &f.curve.Runs[i]
		r.Started, r.Result.Started, r.Result.Ended = time.Time{}, time.Time{}, time.Time{}
	}
	p := f.propose()
	if g := gate(p, "C6"); g.State != Unmet || !strings.Contains(g.Observed, "the date of 5 of 5 gate runs is not known") || g.Remedy == "" || p.Writable {
		t.Errorf("writable %v, %+v", p.Writable, g)
	}
	if said := strings.Join(p.Comment, "\n"); strings.Contains(said, "0001") || !strings.Contains(said, "unknown time") {
		t.Error(said)
	}
}

// A check is later than what the sidecar keeps, by clocks a day apart; how long
// ago it was is told.
func TestCheckOlderThanTheSidecar(t *testing.T) {
	made := newFixture()
	kept, _ := proved(made)
	side := Sidecar{Name: "o.provenance.json", Provenance: &kept, Overlay: OverlayState{Bytes: []byte("new"), Gate: kept.Gate}}
	c := checkFixture([]float64{21197, 21500, 20900}, steadyP99[:3]).curve
	measured := date(side.Provenance.Measured)
	shift := func(by time.Duration) sweep.Curve {
		d := c
		d.Runs = slices.Clone(c.Runs)
		off := measured.Add(by).Sub(lastRun(c))
		d.Started = c.Started.Add(off)
		for i := range d.Runs {
			r := &d.Runs[i]
			r.Started, r.Result.Started, r.Result.Ended = r.Started.Add(off), r.Result.Started.Add(off), r.Result.Ended.Add(off)
		}
		return d
	}
	undated := shift(0)
	for i := range undated.Runs {
		undated.Runs[i].Started = time.Time{}
	}
	side.Now = measured.Add(10 * 24 * time.Hour)
	const day = 24 * time.Hour
	for _, row := range []struct {
		name string
		c    sweep.Curve
		want Verdict
		says string
	}{
		{"a day before", shift(-day), Pass, "11 days ago: this says nothing of today"},
		{"more", shift(-day - time.Second), Inconclusive, "before what it is held against was measured"},
		{"five years", shift(-5 * 365 * day), Inconclusive, "before what it is held against was measured"},
		{"later", shift(2 * day), Pass, "8 days ago"},
		{"undated", undated, Inconclusive, "when the check was measured is not known"},
	} {
		r := side.Check(testGate(), row.c, 8, nil)
		if r.Verdict != row.want || !strings.Contains(strings.Join(r.Reasons, "; "), row.says) {
			t.Errorf("%s: %s %q", row.name, r.Verdict, r.Reasons)
		}
	}
	side.Now = measured.Add(12 * time.Hour)
	if r := side.Check(testGate(), shift(0), 8, nil); strings.Contains(strings.Join(r.Reasons, "; "), " ago") {
		t.Errorf("half a day: %q", r.Reasons)
	}
}
