package calibrate

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"
)

// outside is what a campaign that meets every gate of its own is given by
// others: at 1, "fp8" and 3, with an anchor, all of it sound.
type outside struct {
	share     float64 // the anchor's throughput, in this campaign's
	anchored  bool
	approved  string // the hash of the journal that somebody approved
	profile   Profile
	public    bool
	precision string
	itl       float64
}

func drawOutside(t *rapid.T) outside {
	return outside{
		share:     rapid.Float64Range(0.7, 1.4).Draw(t, "share"),
		anchored:  rapid.Bool().Draw(t, "anchored"),
		approved:  rapid.SampledFrom([]string{"", ownHash, otherHash}).Draw(t, "approved"),
		profile:   rapid.SampledFrom([]Profile{Portable, Regression}).Draw(t, "profile"),
		public:    rapid.Bool().Draw(t, "public"),
		precision: rapid.SampledFrom([]string{"fp8", "", "bf16"}).Draw(t, "precision"),
		itl:       odd(t, "ITL", 3),
	}
}

// campaign is what all of it makes; bend damages the anchor, unless it is nil.
func (o outside) campaign(bend func(*fixture)) *fixture {
	f, other := allMet(), withAnchor(o.share, nil)
	if bend != nil {
		bend(other)
	}
	a := f.policy.Anchors[0]
	a.Curve.Runs, a.Curve.Fingerprint.GPUs = other.curve.Runs, other.curve.Fingerprint.GPUs
	if other.policy.Anchors != nil {
		a.Curve.Runs = other.policy.Anchors[0].Curve.Runs
	}
	f.policy.Anchors = nil
	if o.anchored {
		f.policy.Anchors = []AnchorJournal{a}
	}
	f.policy.Scaling = []AnchorJournal{a}
	f.policy.Approvals = []Approval{{JournalSHA256: o.approved, By: "A", Why: "B", Approved: "2026-09-03"}}
	f.policy.Profile = o.profile
	f.policy.PublicAnchor, f.policy.Service = o.public, "eks"
	f.curve.Fingerprint.Labels["precision"] = o.precision
	f.curve.Preflight.StreamITLMS = o.itl
	return f
}

// vouched fails where a campaign of a real target is written without a second
// window, without something that vouches, or against something that contradicts.
func vouched(t rapid.TB, f *fixture, p Proposal) {
	if _, err := json.Marshal(p); err != nil {
		t.Fatal(err)
	}
	if !p.Writable {
		return
	}
	if p.Anchor.Strength == "" || p.Anchor.Refuses || gate(p, "C6").State != Met || p.Anchor.Strength == Human && f.policy.Profile != Portable {
		t.Fatalf("written: %+v", p.Anchor)
	}
	if p.Anchor.Strength == Strong && !(p.Anchor.Ratio >= anchorAtLeast) {
		t.Fatalf("written at x%.3f of its anchor", p.Anchor.Ratio)
	}
}

// No anchor, approval or other size, however damaged, makes Propose panic,
// print a NaN, or write what nothing vouches for.
func TestOutsideHostile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawOutside(t)
		var damage func(*fixture)
		if rapid.Bool().Draw(t, "damage the anchor") {
			damage = func(f *fixture) { bend(t, f) }
		}
		f := o.campaign(damage)
		if rapid.Bool().Draw(t, "damage the campaign") {
			policy := f.policy
			bend(t, f)
			f.policy = policy
		}
		vouched(t, f, f.propose())
	})
}

// TestOutsideSound: the law of the damaged is not one of refusals only. Sound
// draws of it are written, on each of the two grounds that vouch.
func TestOutsideSound(t *testing.T) {
	for name, c := range map[string]struct {
		outside outside
		want    Strength
	}{
		"anchor":           {outside{share: 1, anchored: true, profile: Regression, precision: "fp8", itl: 3}, Strong},
		"slower anchor":    {outside{share: 0.7, anchored: true, profile: Portable, precision: "fp8", itl: 3}, Strong},
		"approval":         {outside{share: 1, approved: ownHash, profile: Portable, precision: "fp8", itl: 3}, Human},
		"public, approved": {outside{share: 1, approved: ownHash, profile: Portable, public: true, precision: "fp8", itl: 3}, Human},
	} {
		f := c.outside.campaign(nil)
		p := f.propose()
		vouched(t, f, p)
		if !p.Writable || p.Anchor.Strength != c.want {
			t.Errorf("%s: %s on %q, want one written on %q: %q", name, p.Outcome, p.Anchor.Strength, c.want, p.Reasons)
		}
	}
}
