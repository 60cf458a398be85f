package main

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/kube"
	"github.com/perfsweep/perfsweep/sweep"
)

// onDeployment runs what measures, on a deployment that is brought up for it
// where that was asked for and nothing is known to be in its way, and that is
// removed however the measuring ended.
func (c *campaign) onDeployment(ctx context.Context, ready func(kube.DeploySpec) error, measure func() (sweep.Curve, sweep.Decision, error)) (curve sweep.Curve, d sweep.Decision, err error) {
	if !c.flags.deploy.on {
		return measure()
	}
	s, err := c.flags.deploy.spec(c.flags, c.model)
	if err != nil {
		return curve, d, err
	}
	if err := ready(s); err != nil {
		return curve, d, err
	}
	remove, err := c.bringUp(ctx, s)
	if err == nil {
		c.precision = s.Precision
		curve, d, err = measure()
	}
	if left := remove(); left != nil {
		err = errors.Join(err, left)
	}
	return curve, d, err
}

// measureDeployments measures one window after the other, each on a fresh
// deployment, which its UID tells from the others, as far as the first one has a
// point that the others can confirm. What was broken off between two of them goes
// on with the next one.
func (c *campaign) measureDeployments(ctx context.Context) (sweep.Curve, sweep.Decision, error) {
	n := c.flags.deploy.times
	if n < 2 || !c.flags.deploy.on {
		return c.measure(ctx)
	}
	plan, model := c.plan, c.model
	if old, err := c.peekJournal(); err == nil { // else measure says what is wrong
		c.goOn(old)
	}
	for {
		curve, d, err := c.measure(ctx)
		w := max(curve.Windows(), 1)
		if err != nil || !confirmable(d) || w >= n {
			return curve, d, err
		}
		c.say("window %d of %d is done: the next one is measured on a fresh deployment", w, n)
		c.plan, c.model, c.flags.resume, c.flags.deployment = plan, model, true, ""
		c.windows.number, c.windows.counted = w+1, true
	}
}

// goOn begins with the window after one that is done.
func (c *campaign) goOn(old *sweep.Curve) {
	if old == nil {
		return
	}
	p, last := old.Plan, max(old.Windows(), 1)
	p.Confirm, p.Window, p.MaxRuns, p.MaxWall = true, last, c.plan.MaxRuns, c.plan.MaxWall
	if d := sweep.NextStep(p, old.Runs); last < c.flags.deploy.times && confirmable(d) {
		c.say("window %d of %d is done: going on with the next one", last, c.flags.deploy.times)
		c.windows.number, c.windows.counted = last+1, true
	}
}

// confirmable says that a window is over and has a point for the next one.
func confirmable(d sweep.Decision) bool {
	return d.Done && !d.Unstable() && d.Point.ConcurrencyPerGPU > 0
}

// moved lets a further window run on another node than the first one, whose node
// the journal's header keeps: what is deployed anew is placed anew. A node that
// the user states is compared like any label.
func (c *campaign) moved(now *sweep.Curve, old *sweep.Curve) {
	stated := func(label string) bool { return strings.HasPrefix(label, labelNode+"=") }
	if old == nil || now.Plan.Window < 2 || !isClusterTarget(c.flags.target) || slices.ContainsFunc(c.flags.labels, stated) {
		return
	}
	labels := maps.Clone(now.Fingerprint.Labels)
	was, is := old.Fingerprint.Labels[labelNode], labels[labelNode]
	if was == is || labels == nil {
		return
	}
	c.say("note: window %d runs on %s, the first one ran on %s", now.Plan.Window, cmp.Or(is, "several nodes"), cmp.Or(was, "several nodes"))
	if labels[labelNode] = was; was == "" {
		delete(labels, labelNode)
	}
	now.Fingerprint.Labels = labels
}
