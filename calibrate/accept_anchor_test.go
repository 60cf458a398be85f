package calibrate

import (
	"slices"
	"testing"

	"github.com/perfsweep/perfsweep/knee/kneetest"
	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
)

// realCurve makes a curve one of a real target at an address, with what an anchor
// must have in common with a campaign.
func realCurve(c sweep.Curve, target string) sweep.Curve {
	c.Fingerprint.Target = target
	c.Fingerprint.Labels = map[string]string{"workers": "8", "gpu_product": "GB300", "image": "sha256:01", "precision": "fp8", "node": target}
	return c
}

// anchored calibrates a real target over two windows on two deployments, against
// the journal of a healthy deployment of the same law elsewhere. change makes
// the campaign's own environment another one, throughout.
// Where it proves a point, that is the anchor's.
func anchored(t *testing.T, seed uint64, trial int, prove bool, change func(*deployment)) (p Proposal, healthy float64) {
	t.Helper()
	const sw, sb = 0.04, 0.03
	reference := draw(seed, trial, sw, sb)
	reference.real = true
	anchor := AnchorJournal{Source{"reference.jsonl", otherHash}, realCurve(reference.measure(t, confirmed(sweep.Standard)), "http://reference:8000")}
	first, second := reference.fresh(sb), reference.fresh(sb)
	for _, d := range []*deployment{first, second} {
		d.real = true
		change(d)
	}
	plan := confirmed(sweep.Standard)
	if prove {
		plan.Point = Propose(anchor.Curve, recipes.Gate{}, Policy{}).Point.ConcurrencyPerGPU
	}
	c := realCurve(first.measure(t, plan), "http://own:8000")
	for i := range c.Runs {
		c.Runs[i].Deployment = "a"
	}
	c = second.again(t, c, "b")
	p = Propose(c, recipes.Gate{}, Policy{Journal: Source{"own.jsonl", ownHash}, Anchors: []AnchorJournal{anchor}})
	return p, reference.law.X(float64(p.Point.ConcurrencyPerGPU))
}

// A10 with an anchor: a steady wrong environment is refused by the ratio to the
// anchor or by the signature of k of W workers, or it has its knee, and so its
// point, where the anchor was not measured; what is written all the same is not
// degraded. Below the knee five of eight workers carry the load of all, and an
// anchor sees less of it than of a slow device. Worker counts (V1) would see it
// every time, and are left out here: a URL does not tell them.
func TestAcceptAnchoredCampaigns(t *testing.T) {
	s := newSuite(t)
	trials := len(laws()) * max(acceptTrials/2, 1)
	if !s.Full {
		trials = 3
	}
	slow := func(d *deployment) { d.factor *= 0.8 }
	five := func(d *deployment) { d.law = lost(d.law, 8, 3) }
	for _, c := range []struct {
		name   string
		prove  bool
		change func(*deployment)
	}{
		{"healthy", false, func(*deployment) {}},
		{"−20 % throughout", false, slow},
		{"5 of 8 workers throughout", false, five},
		{"5 of 8 workers throughout, proving the anchor's point", true, five},
	} {
		written, degraded, apart, ratio, signature := newShares(s), newShares(s), newShares(s), newShares(s), newShares(s)
		for i, seed := range s.Seeds {
			for trial := range trials {
				p, healthy := anchored(t, seed, trial, c.prove, c.change)
				count(&written[i], p.Writable)
				count(&degraded[i], p.Writable && p.TokPerSecPerGPU < 0.9*healthy)
				count(&apart[i], p.Anchor.Strength == "")
				count(&ratio[i], p.Anchor.Strength == Strong && p.Anchor.Ratio < anchorAtLeast)
				count(&signature[i], slices.ContainsFunc(p.Anchor.Vetoes, func(v Veto) bool { return v.Fired && v.Name == "k of W workers" }))
			}
		}
		at := c.name + ", a real target with an anchor: "
		s.Judge(t, kneetest.Shares("A10", at+"written", kneetest.Stated, 0, written))
		s.Judge(t, kneetest.Shares("A10", at+"written and > 10 % degraded", kneetest.AtMost, 0.01, degraded))
		s.Judge(t, kneetest.Shares("A10", at+"no anchor at its point", kneetest.Stated, 0, apart))
		s.Judge(t, kneetest.Shares("A10", at+"below 0.90 of the anchor", kneetest.Stated, 0, ratio))
		s.Judge(t, kneetest.Shares("A10", at+"the signature of k of W workers", kneetest.Stated, 0, signature))
	}
}
