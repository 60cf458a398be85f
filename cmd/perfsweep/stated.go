package main

import (
	"strings"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report"
	"github.com/perfsweep/perfsweep/sweep"
)

// What a gate will ask of a campaign's labels is asked before the first run: a
// journal keeps the labels that it began with, and an hour of runs without them is
// lost for it.

// checkStated refuses a bundle of one of several clusters that could not be pooled
// with the others afterwards.
func (c *campaign) checkStated(f sweep.Fingerprint) error {
	cluster := strings.TrimSpace(f.Labels["cluster"])
	if !c.carried || cluster == "" {
		return nil
	}
	missing := calibrate.Unstated(f, true)
	if len(missing) == 0 {
		return nil
	}
	return badInputf("--bundle: with --label cluster=%s the bundle is one of several clusters, and calibrate --from refuses it where it does not state %s: "+
		"add %s (nothing was measured; a journal that was begun keeps the labels that it has, so begin another)", cluster, listed(missing), labelFlags(missing))
}

// tellUnstated says what keeps a bundle from being more than one cluster's own.
func (c *campaign) tellUnstated(f sweep.Fingerprint) {
	if missing := calibrate.Unstated(f, true); c.carried && c.plan.Confirm && len(missing) > 0 {
		c.say("note: the bundle will not be pooled with those of other clusters (calibrate --from), as it does not state %s: if it is to be, stop and add %s", listed(missing), labelFlags(missing))
	}
}

// tellPooling is the same for a plan, and what an anchor will ask for where no bundle
// is made.
func (c *campaign) tellPooling(p *report.Plan, curve sweep.Curve) {
	if !c.plan.Confirm {
		return
	}
	p.Unstated, p.Pooled, p.Searched = calibrate.Unstated(curve.Fingerprint, c.carried), c.carried, curve.Plan.Point == 0
}

func labelFlags(names []string) string {
	return "--label " + strings.Join(names, "=... --label ") + "=..."
}

// listed joins names as a sentence does.
func listed(names []string) string {
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}
