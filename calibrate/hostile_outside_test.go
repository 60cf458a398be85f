package calibrate

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"
)

// No anchor, approval or other size, however damaged, makes Propose panic,
// print a NaN, or write for a real target without a second window, without
// something that vouches, or against something that contradicts.
func TestOutsideHostile(t *testing.T) {
	written := 0
	rapid.Check(t, func(t *rapid.T) {
		f := allMet()
		other := withAnchor(rapid.Float64Range(0.7, 1.4).Draw(t, "share"), nil)
		if rapid.Bool().Draw(t, "damage the anchor") {
			bend(t, other)
		}
		a := f.policy.Anchors[0]
		a.Curve.Runs, a.Curve.Fingerprint.GPUs = other.curve.Runs, other.curve.Fingerprint.GPUs
		if other.policy.Anchors != nil {
			a.Curve.Runs = other.policy.Anchors[0].Curve.Runs
		}
		f.policy.Anchors = []AnchorJournal{a}[:rapid.IntRange(0, 1).Draw(t, "anchors")]
		f.policy.Scaling = []AnchorJournal{a}
		f.policy.Approvals = []Approval{{JournalSHA256: rapid.SampledFrom([]string{"", ownHash, otherHash}).Draw(t, "approved"), By: "A", Why: "B"}}
		f.policy.Profile = rapid.SampledFrom([]Profile{Portable, Regression}).Draw(t, "profile")
		f.policy.PublicAnchor, f.policy.Service = rapid.Bool().Draw(t, "public"), "eks"
		f.curve.Fingerprint.Labels["precision"] = rapid.SampledFrom([]string{"fp8", "", "bf16"}).Draw(t, "precision")
		f.curve.Preflight.StreamITLMS = odd(t, "ITL", 3)
		if rapid.Bool().Draw(t, "damage the campaign") {
			policy := f.policy
			bend(t, f)
			f.policy = policy
		}
		p := f.propose()
		if _, err := json.Marshal(p); err != nil {
			t.Fatal(err)
		}
		if !p.Writable {
			return
		}
		written++
		if p.Anchor.Strength == "" || p.Anchor.Refuses || gate(p, "C6").State != Met || p.Anchor.Strength == Human && f.policy.Profile != Portable {
			t.Fatalf("written: %+v", p.Anchor)
		}
		if p.Anchor.Strength == Strong && !(p.Anchor.Ratio >= anchorAtLeast) {
			t.Fatalf("written at x%.3f of its anchor", p.Anchor.Ratio)
		}
	})
	if written == 0 {
		t.Error("no draw was ever written: the property is empty")
	}
}
