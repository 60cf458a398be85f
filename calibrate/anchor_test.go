package calibrate

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
)

const (
	ownHash   = "1111111111111111111111111111111111111111111111111111111111111111"
	otherHash = "2222222222222222222222222222222222222222222222222222222222222222"
)

// withAnchor is a real campaign with two windows, beside another journal of the
// same thing, at a share of its speed, which bend changes.
func withAnchor(share float64, bend func(*AnchorJournal)) *fixture {
	f := newFixture()
	f.curve.Fingerprint.Labels["image"], f.curve.Fingerprint.Labels["precision"] = "sha256:01", "fp8"
	other := newFixture()
	other.curve.Fingerprint.Labels["image"], other.curve.Fingerprint.Labels["precision"] = "sha256:01", "fp8"
	f.curve.Fingerprint.Labels["node"], other.curve.Fingerprint.Labels["node"] = "n1", "n2"
	other.curve.Fingerprint.Target = "http://elsewhere:8000"
	other.attempts(sweep.Confirm, 128, scaled(healthyX(), share), healthyP99())
	for i := range other.curve.Runs {
		other.curve.Runs[i].Started = other.curve.Runs[i].Started.Add(24 * time.Hour)
	}
	a := AnchorJournal{Source{"other.jsonl", otherHash}, other.curve}
	if bend != nil {
		bend(&a)
	}
	f.policy.Journal, f.policy.Anchors = Source{"own.jsonl", ownHash}, []AnchorJournal{a}
	return f
}

func scaled(x []float64, by float64) []float64 {
	out := slices.Clone(x)
	for i := range out {
		out[i] *= by
	}
	return out
}

// One rule a line: what makes a journal an anchor, and what keeps it from
// being one.
func TestStrongAnchor(t *testing.T) {
	at := func(node, cluster string) func(*AnchorJournal) {
		return func(a *AnchorJournal) {
			a.Curve.Fingerprint.Labels["node"], a.Curve.Fingerprint.Labels["cluster"] = node, cluster
		}
	}
	for _, c := range []struct {
		name  string
		share float64
		bend  func(*AnchorJournal)
		want  GateState
		says  string
	}{
		{"a second node that agrees", 1, nil, Met, "on another node or cluster"},
		{"just within", 1 / 0.901, nil, Met, "x0.901"},
		{"just below", 1 / 0.899, nil, Unmet, "x0.899"},
		{"far faster than its anchor", 0.8, nil, Met, "renew the anchor"},
		{"an older tool", 1, func(a *AnchorJournal) { a.Curve.Fingerprint.ToolVersion = "v0.0.9" }, Met, ""},
		{"another image", 1, func(a *AnchorJournal) { a.Curve.Fingerprint.Labels["image"] = "sha256:02" }, Unmet, "measured something else (labels.image"},
		{"another size", 1, func(a *AnchorJournal) { a.Curve.Fingerprint.GPUs = 4 }, Unmet, "measured something else (gpus"},
		{"another model", 1, func(a *AnchorJournal) { a.Curve.Fingerprint.Model = "other" }, Unmet, "measured something else (model"},
		{"precision unknown", 1, func(a *AnchorJournal) { delete(a.Curve.Fingerprint.Labels, "precision") }, Unmet, "precision is not stated in both"},
		{"a simulation", 1, func(a *AnchorJournal) { a.Curve.Fingerprint.Simulated = true }, Unmet, "simulation and a measurement"},
		{"the same place, not approved", 1, at("n1", ""), Unmet, "nobody approved"},
		{"another URL of an unstated node", 1, at("", ""), Unmet, "state where (--label node=... or --label cluster=...), which nobody approved"},
		{"a blank node", 1, at(" ", "c2"), Unmet, "state where (--label node=... or --label cluster=...)"},
		{"the same node, spelled otherwise", 1, at("N1 ", "c1"), Unmet, "state where (--label cluster=...)"},
		{"another node", 1, at("n3", ""), Met, "on another node or cluster"},
		{"slower than one of an unstated node", 1 / 0.899, at("", ""), Unmet, "x0.899"},
		{"the same file", 1, func(a *AnchorJournal) { a.SHA256 = ownHash }, Unmet, "vouches for itself"},
		{"two gate runs", 1, func(a *AnchorJournal) { a.Curve.Runs = a.Curve.Runs[:4] }, Unmet, "2 valid gate runs at 128 per GPU"},
		{"three gate runs", 1, func(a *AnchorJournal) { a.Curve.Runs = a.Curve.Runs[:6] }, Met, ""},
		{"of a check", 1, func(a *AnchorJournal) {
			for i := range a.Curve.Runs {
				a.Curve.Runs[i].Step.Purpose = sweep.Check
			}
		}, Met, ""},
		{"another load", 1, func(a *AnchorJournal) {
			for i := range a.Curve.Runs {
				a.Curve.Runs[i].Step.ConcurrencyPerGPU = 96
			}
		}, Unmet, "0 valid gate runs at 128"},
		{"an anchor that stalls", 1, func(a *AnchorJournal) {
			a.Curve.Runs[0].Result.WholeRun.OutputTokPerSec /= 2
		}, Unmet, "its own gate runs fall apart"},
	} {
		p := withAnchor(c.share, c.bend).propose()
		g := gate(p, "C7")
		if g.State != c.want || !strings.Contains(g.Observed, c.says) {
			t.Errorf("%s: %+v", c.name, g)
		}
		if strong := p.Anchor.Strength == Strong; c.want == Met && !strong {
			t.Errorf("%s: %+v", c.name, p.Anchor)
		}
	}
}

// A copy of a journal under another name and with fewer runs is no witness.
func TestNoCampaignVouchesForItself(t *testing.T) {
	f := withAnchor(1, nil)
	f.policy.Anchors[0].Curve.Runs = f.curve.Runs[:6]
	if g := gate(f.propose(), "C7"); g.State != Unmet || !strings.Contains(g.Observed, "vouches for itself") {
		t.Errorf("%+v", g)
	}
}

// Of two anchors that contradict each other the lower ratio counts, and a
// person's word does not outweigh a measurement, nor does a waiver.
func TestAnchorThatDisagrees(t *testing.T) {
	f := withAnchor(1.3, nil)
	good := withAnchor(1, nil).policy.Anchors[0]
	good.Name = "good.jsonl"
	f.policy.Anchors = append(f.policy.Anchors, good)
	f.policy.Approvals = []Approval{{JournalSHA256: ownHash, By: "A", Why: "B", Approved: "2026-09-03"}}
	for _, sim := range []bool{false, true} {
		if sim {
			f.simulated()
			for i := range f.policy.Anchors {
				f.policy.Anchors[i].Curve.Fingerprint.Simulated = true
			}
		}
		p := f.propose()
		if g := gate(p, "C7"); g.State != Unmet || p.Outcome != OutcomeDegraded || p.Writable {
			t.Errorf("simulated %v: %s %+v", sim, p.Outcome, g)
		}
	}
}

// What both state decides: of two clusters one node's name is another node's,
// and nothing else that differs makes the same place another.
func TestElsewhere(t *testing.T) {
	for _, c := range []struct {
		cluster, node string
		want          bool
	}{{"c1", "n1", false}, {" C1", "N1", false}, {"c2", "n1", true}, {"c1", "n2", true}, {"", "n1", false}, {"c1", "", false}, {"c2", "", true}} {
		f := withAnchor(1, func(a *AnchorJournal) {
			a.Curve.Fingerprint.Labels["node"], a.Curve.Fingerprint.Labels["cluster"] = c.node, c.cluster
		})
		f.curve.Fingerprint.Labels["cluster"] = "c1"
		p := f.propose()
		if got := p.Anchor.Strength == Strong; got != c.want || p.Anchor.Refuses {
			t.Errorf("%+v: %+v", c, p.Anchor)
		}
	}
	slow := withAnchor(1.3, func(a *AnchorJournal) { delete(a.Curve.Fingerprint.Labels, "node") })
	slow.policy.Approvals = []Approval{{JournalSHA256: ownHash, By: "A", Why: "B", Approved: "2026-09-03"}}
	if p := slow.propose(); p.Outcome != OutcomeDegraded {
		t.Errorf("a baseline that cannot vouch speaks against: %s %+v", p.Outcome, p.Anchor)
	}
}

// An approval belongs to one state of one journal.
func TestApprovals(t *testing.T) {
	word := Approval{JournalSHA256: ownHash, Journal: "own.jsonl", By: "A. Tester", Why: "142,000 tok/s in the vendor's report", Approved: "2026-09-03"}
	for _, c := range []struct {
		name string
		bend func(*fixture, *Approval)
		want GateState
		says string
	}{
		{"its journal", func(*fixture, *Approval) {}, Met, "human anchor, approved by A. Tester on 2026-09-03: 142,000 tok a second"},
		{"the regression profile", func(f *fixture, _ *Approval) { f.policy.Profile = Regression }, Unmet, "human anchor"},
		{"a changed journal", func(f *fixture, _ *Approval) { f.policy.Journal.SHA256 = otherHash }, Unmet, "is void: own.jsonl has changed since"},
		{"another journal", func(f *fixture, _ *Approval) { f.policy.Journal = Source{"new.jsonl", otherHash} }, Unmet, "no anchor"},
		{"a simulation's", func(_ *fixture, a *Approval) { a.Simulated = true }, Unmet, "no anchor"},
	} {
		f, a := newFixture(), word
		f.policy.Journal = Source{"own.jsonl", ownHash}
		c.bend(f, &a)
		f.policy.Approvals = []Approval{a}
		p := f.propose()
		if g := gate(p, "C7"); g.State != c.want || !strings.Contains(g.Observed, c.says) {
			t.Errorf("%s: %+v", c.name, g)
		}
		if p.Writable {
			t.Errorf("%s: one window, and yet writable", c.name)
		}
		if human := slices.ContainsFunc(p.Comment, func(s string) bool { return strings.HasPrefix(s, "Anchor: HUMAN") }); human != (p.Anchor.Strength == Human) {
			t.Errorf("%s: the comment does not label the anchor: %q", c.name, p.Comment)
		}
	}
}

// An approved baseline of the same place is a strong anchor.
func TestApprovedBaseline(t *testing.T) {
	f := withAnchor(1, func(a *AnchorJournal) { a.Curve.Fingerprint.Labels["node"] = "n1" })
	f.policy.Approvals = []Approval{{JournalSHA256: otherHash, Approved: "2026-09-03"}}
	p := f.propose()
	if g := gate(p, "C7"); g.State != Met || p.Anchor.Strength != Strong || !strings.Contains(p.Anchor.Label, "approved baseline") {
		t.Errorf("%+v %+v", g, p.Anchor)
	}
	f.policy.Approvals[0].Simulated = true
	if g := gate(f.propose(), "C7"); g.State != Unmet {
		t.Errorf("approved as a simulation: %+v", g)
	}
	f.policy.Approvals[0].Simulated, f.policy.Approvals[0].Approved = false, "2001-09-03"
	if g := gate(f.propose(), "C7"); g.State != Unmet {
		t.Errorf("approved before it was measured: %+v", g)
	}
}

func TestApprove(t *testing.T) {
	journal := Source{"own.jsonl", ownHash}
	try := func(f *fixture, by, why string) (Approval, error) {
		return approve(journal, f.curve, f.propose(), f.policy, by, why, "2026-09-03")
	}
	f := newFixture().simulated()
	a, err := try(f, " A. Tester ", "the same as the bench in rack 7")
	if err != nil || a.By != "A. Tester" || a.JournalSHA256 != ownHash || !a.Simulated || a.ConcurrencyPerGPU != 128 || a.TokPerSecPerGPU != 21197 || a.ValidAttempts != 5 {
		t.Fatalf("%+v, %v", a, err)
	}
	text, err := AddApproval(nil, a)
	if err != nil {
		t.Fatal(err)
	}
	back, err := ParseApprovals("f.json", text)
	if err != nil || !slices.Equal(back, []Approval{a}) {
		t.Errorf("%+v, %v", back, err)
	}
	if again, _ := AddApproval(back, a); string(again) != string(text) {
		t.Errorf("the same word twice: %s", again)
	}
	for name, w := range map[string][2]string{
		"no name": {"", "why"}, "blank reason": {"A", " \t"}, "two lines": {"A", "one\ntwo"}, "an escape": {"A", "\x1b[1m"}, "bidirectional": {"A", "a\u202eb"},
		"too long": {"A", strings.Repeat("x", 301)}, "a marker": {"A", "see perfsweep: end"}, "not UTF-8": {"A", "\xff"},
	} {
		var pe *PolicyError
		if _, err := try(f, w[0], w[1]); !errors.As(err, &pe) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, bend := range map[string]func(*fixture){
		"one window of a real target": func(f *fixture) { f.curve.Fingerprint.Simulated = false },
		"simulated, not allowed":      func(f *fixture) { f.policy.AllowSimulated = false },
		"too few attempts":            func(f *fixture) { f.curve.Runs = f.curve.Runs[:8] },
		"unsteady":                    func(f *fixture) { f.curve.Runs[0].Result.WholeRun.OutputTokPerSec /= 2 },
		"a cross-check":               func(f *fixture) { f.curve.Fingerprint.Transport = "go-openai" },
		"a flagged level":             func(f *fixture) { f.level(64).Flags = []string{"split"} },
	} {
		f := newFixture().simulated()
		bend(f)
		var no *NotApprovableError
		if _, err := try(f, "A", "B"); !errors.As(err, &no) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Approve(journal, sweep.Curve{}, recipes.Gate{}, Policy{}, "A", "B", "2026-09-03"); err == nil {
		t.Error("nothing was measured, and yet it was approved")
	}
}

func FuzzParseApprovals(f *testing.F) {
	f.Add([]byte(`{"schema_version": 1, "approvals": [{"journal_sha256": "` + ownHash + `", "by": "A", "why": "B", "approved": "2026-01-01"}]}`))
	f.Add([]byte(`{"schema_version": 1, "approvals": [], "more": 1}`))
	f.Add([]byte(`{"schema_version": 2}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		all, err := ParseApprovals("f.json", b)
		if err != nil {
			return
		}
		for _, a := range all {
			if CheckWord("by", a.By) != nil || CheckWord("why", a.Why) != nil || !isSHA256(a.JournalSHA256) {
				t.Fatalf("accepted %+v", a)
			}
		}
	})
}

// An anchor that was confirmed a ladder step away is of use once that point is
// proved: the remedy names it, the one nearest to the campaign's.
func TestAnchorAtAnotherPoint(t *testing.T) {
	moved := func(to ...int) func(*AnchorJournal) {
		return func(a *AnchorJournal) {
			at := slices.Clone(a.Curve.Runs)
			a.Curve.Runs = nil
			for _, n := range to {
				for _, r := range at {
					r.Step.ConcurrencyPerGPU = n
					a.Curve.Runs = append(a.Curve.Runs, r)
				}
			}
		}
	}
	const prove = "prove that point with --concurrency-per-gpu "
	for _, c := range []struct {
		name string
		bend func(*AnchorJournal)
		want string // "" = no such remedy
	}{
		{"a step below", moved(96), "other.jsonl has its gate runs at 96 per GPU: " + prove + "96, into a new --journal; or measure the same"},
		{"two points", moved(32, 192, 64), prove + "192,"},
		{"at the point as well", moved(96, 128), ""},
		{"another model", func(a *AnchorJournal) { moved(96)(a); a.Curve.Fingerprint.Model = "other" }, ""},
		{"two gate runs there", func(a *AnchorJournal) { a.Curve.Runs = a.Curve.Runs[:4]; moved(96)(a) }, ""},
		{"of a check", func(a *AnchorJournal) {
			moved(96)(a)
			for i := range a.Curve.Runs {
				a.Curve.Runs[i].Step.Purpose = sweep.Check
			}
		}, prove + "96,"},
	} {
		f := withAnchor(1, c.bend)
		g := gate(f.propose(), "C7")
		if c.want == "" && strings.Contains(g.Remedy, prove) || !strings.Contains(g.Remedy, c.want) || c.want != "" && g.State != Unmet {
			t.Errorf("%s: %s %q", c.name, g.State, g.Remedy)
		}
	}
}

// A copy whose times are moved and whose place is relabelled is no witness either,
// whichever number of each run is altered, whichever runs are left out, and in
// whatever order: no two runs measure the same to the last bit. Another measurement
// of the same thing is.
func TestAShiftedCopyIsNoWitness(t *testing.T) {
	type estimate = loadgen.Estimate
	for _, c := range []struct {
		name   string
		alter  func(w *estimate, i int)
		choose func([]sweep.Run) []sweep.Run
		copied bool
	}{
		{"as it is", nil, nil, true},
		{"time", func(w *estimate, _ int) { w.Seconds *= 1 + 1e-7 }, nil, true},
		{"rate", func(w *estimate, _ int) { w.OutputTokPerSec *= 1 + 1e-7 }, nil, true},
		{"mean TTFT", func(w *estimate, _ int) { w.TTFTMeanMS *= 1 + 1e-7 }, nil, true},
		{"TTFT p99", func(w *estimate, _ int) { w.TTFTP99MS *= 1 + 1e-7 }, nil, true},
		{"ITL", func(w *estimate, _ int) { w.ITLMeanMS *= 1 + 1e-7 }, nil, true},
		{"E2E", func(w *estimate, _ int) { w.E2EMeanMS *= 1 + 1e-7 }, nil, true},
		{"a few runs", nil, func(runs []sweep.Run) []sweep.Run { return runs[2:5] }, true},
		{"another order", func(w *estimate, _ int) { w.Seconds *= 1 + 1e-7 }, func(runs []sweep.Run) []sweep.Run { slices.Reverse(runs); return runs }, true},
		{"another measurement", func(w *estimate, i int) {
			fresh := 1.0017 + 0.00011*float64(i)
			w.Seconds, w.OutputTokPerSec = w.Seconds*fresh, w.OutputTokPerSec/fresh
			w.TTFTMeanMS, w.TTFTP99MS, w.ITLMeanMS, w.E2EMeanMS = w.TTFTMeanMS*fresh, w.TTFTP99MS*fresh, w.ITLMeanMS*fresh, w.E2EMeanMS*fresh
		}, nil, false},
	} {
		f := withAnchor(1, nil)
		a := &f.policy.Anchors[0].Curve
		a.Runs = nil
		for i := range f.curve.Runs {
			r := &f.curve.Runs[i]
			w, part := &r.Result.WholeRun, 1+0.00123*float64(i)
			w.Seconds, w.TTFTMeanMS, w.TTFTP99MS, w.ITLMeanMS, w.E2EMeanMS = 30.123456789*part, 40.5123456*part, 600.4567891*part, 11.1234567*part, 900.2512345*part
			copied := *r
			copied.Started = r.Started.AddDate(0, -1, 0)
			if c.alter != nil {
				c.alter(&copied.Result.WholeRun, i)
			}
			a.Runs = append(a.Runs, copied)
		}
		if c.choose != nil {
			a.Runs = c.choose(a.Runs)
		}
		if got := sharesRuns(f.curve, *a); got != c.copied {
			t.Errorf("%s: shares runs: %v", c.name, got)
		}
	}
}
