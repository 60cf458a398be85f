package main

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"github.com/perfsweep/perfsweep/sweep"
)

// windowFlags choose the window that a campaign is measured in.
type windowFlags struct {
	number  int  // 0 = the one that the journal is in
	counted bool // by --deployments
	gap     time.Duration
	// want is the time that gate C6 wants between windows of one deployment.
	want time.Duration
}

func (w *windowFlags) bind(f *pflag.FlagSet) {
	f.IntVar(&w.number, "window", 0, "from 2: confirm the point of --journal again, later or on another --deployment (default: go on with the window that the journal is in)")
	f.DurationVar(&w.gap, "window-gap", 0, "wait until this much time has passed since the window before ended, such as 30m")
}

// check refuses values and combinations before anything is opened. several says
// that --deployments numbers the windows.
func (w *windowFlags) check(changed func(string) bool, journal string, several bool) error {
	switch {
	case changed("window") && (w.number < 1 || w.number > sweep.MaxWindow):
		return badInputf("--window %d: must be between 1 and %d", w.number, sweep.MaxWindow)
	case w.number > 1 && journal == "":
		return badInputf("--window %d confirms the point of an earlier window: name its --journal", w.number)
	case w.gap < 0:
		return badInputf("--window-gap %s: must not be negative", w.gap)
	case changed("window-gap") && w.number < 2 && !several:
		return badInputf("--window-gap waits before a further window: add --window 2, or --deploy --deployments 2")
	}
	return nil
}

const maxDeploymentID = 253 // as a Kubernetes name

func checkDeployment(id string, given bool) error {
	switch {
	case !given:
		return nil
	case id == "":
		return badInputf("--deployment is empty: give the deployment a name, or drop the flag")
	case len(id) > maxDeploymentID || !utf8.ValidString(id) || strings.ContainsFunc(id, func(r rune) bool { return !unicode.IsPrint(r) }):
		return badInputf("--deployment %.40q: use at most %d printable characters", id, maxDeploymentID)
	}
	return nil
}

// windowAsked is the window that the flags ask for and the last one that an
// existing journal is in, or why the one cannot follow the other. Nothing of it
// needs the target.
func (c *campaign) windowAsked(old *sweep.Curve) (w, last int, err error) {
	w, asked := c.windows.number, c.windows.counted || c.changed("window")
	if old == nil {
		if w > 1 {
			return w, 0, badInputf("--window %d: %s holds no earlier window; calibrate into it without --window first", w, c.flags.journal)
		}
		return w, 0, nil
	}
	last = max(old.Windows(), 1)
	if !asked {
		w = last
	}
	switch {
	case w > last+1:
		return w, last, badInputf("--window %d: %s is in window %d; window %d comes first", w, c.flags.journal, last, last+1)
	case w < last:
		return w, last, badInputf("--window %d: %s is in window %d already; go on with that one, or with --window %d", w, c.flags.journal, last, last+1)
	}
	if c.plan.Confirm {
		err = c.windowOpen(*old, w, last, asked)
	}
	return w, last, err
}

// begunOn is the deployment of a window that a journal has begun.
func (c *campaign) begunOn(old sweep.Curve, w int) string {
	if c.plan.Confirm && w > 1 {
		return old.Runs[len(old.Runs)-1].Deployment
	}
	return old.Fingerprint.Deployment // of the first window
}

// chooseWindow sets the plan's window, and what is measured in it, from the
// flags and an existing journal. It comes before the first request.
func (c *campaign) chooseWindow(old *sweep.Curve) error {
	w, last, err := c.windowAsked(old)
	if err != nil || old == nil {
		return err
	}
	if c.plan.Confirm {
		c.plan.Window = w
	}
	if w > last {
		return nil
	}
	begun := c.begunOn(*old, w)
	if (c.changed("deployment") || c.named) && c.flags.deployment != begun {
		return badInputf("window %d of %s is measured on %s, not on %q: one window is one deployment; confirm its point on another one with --window %d",
			w, c.flags.journal, deploymentName(begun), c.flags.deployment, w+1)
	}
	c.flags.deployment = begun
	return nil
}

// windowOpen: a window is measured when the one before it is over, and until it
// is over itself.
func (c *campaign) windowOpen(old sweep.Curve, w, last int, asked bool) error {
	if w < 2 {
		return nil
	}
	p := old.Plan
	p.Confirm, p.Window, p.MaxRuns, p.MaxWall = true, last, c.plan.MaxRuns, c.plan.MaxWall
	switch d := sweep.NextStep(p, old.Runs); {
	case w > last && !d.Done:
		return badInputf("--window %d: window %d of %s is not finished; continue it first, without --window", w, last, c.flags.journal)
	case w == last && asked && d.Done:
		return badInputf("--window %d of %s is complete: %s; judge the journal without --target, or measure --window %d", w, c.flags.journal, d.Reason, w+1)
	}
	return nil
}

func deploymentName(id string) string {
	if id == "" {
		return "a deployment that was not stated"
	}
	return fmt.Sprintf("%q", id)
}

// elsewhere returns where a further window is measured, if its stated
// deployment is a new one that is found under another address than that of the
// fingerprint. A simulator's address says what it is, not where.
func (c *campaign) elsewhere(old *sweep.Curve, now sweep.Curve) (target string) {
	f := now.Fingerprint
	if old == nil || now.Plan.Window < 2 || f.Simulated || old.Fingerprint.Simulated || f.Target == old.Fingerprint.Target || c.flags.deployment == "" {
		return ""
	}
	for _, r := range old.Runs {
		if max(r.Window, 1) < now.Plan.Window && (r.Deployment == c.flags.deployment || r.Deployment == "") {
			return "" // it is, or may be, one whose address is known
		}
	}
	return f.Target
}

// awaitWindow waits for --window-gap to pass before a window that has no run
// yet, and says so where the gate on a second window will not be met.
func (c *campaign) awaitWindow(ctx context.Context, curve sweep.Curve) error {
	left, err := c.untilWindow(curve)
	if err != nil || left < 0 {
		return err
	}
	if apart := time.Since(curve.WindowEnd(1)) + left; apart < c.windows.want && !c.elseDeployed(curve) && !curve.Fingerprint.Simulated {
		c.say("note: window %d begins %s after the first one, on the same deployment as far as was stated: gate C6 wants %s, which --window-gap %s waits for, or two deployments named with --deployment",
			curve.Plan.Window, apart.Round(time.Second), c.windows.want, c.windows.want)
	}
	return c.waitForWindow(ctx, curve.Plan.Window, left)
}

// awaitDeploying waits for --window-gap before a deployment is brought up for the
// next window, whose GPUs would stand idle meanwhile.
func (c *campaign) awaitDeploying(ctx context.Context, old *sweep.Curve) error {
	w, _, err := c.windowAsked(old)
	if err != nil || old == nil {
		return err
	}
	curve := *old
	curve.Plan.Confirm, curve.Plan.Window = c.plan.Confirm, w
	left, err := c.untilWindow(curve)
	if err != nil || left < 0 {
		return err
	}
	return c.waitForWindow(ctx, w, left)
}

// beforeLoad waits for --window-gap before the pods are started that make the
// load in a cluster, which would stand idle meanwhile. What they are to measure may
// have changed by then, and is looked at again.
func (c *campaign) beforeLoad(ctx context.Context, t *target, old *sweep.Curve) (*target, error) {
	if t.place == nil || old == nil {
		return t, nil
	}
	curve := *old
	curve.Plan.Confirm, curve.Plan.Window = c.plan.Confirm, c.plan.Window
	curve.Fingerprint.Simulated = t.simulated
	left, err := c.untilWindow(curve)
	if err == nil {
		err = c.awaitWindow(ctx, curve)
	}
	if err != nil || left <= 0 {
		return t, err
	}
	now, err := c.resolve(ctx)
	if err != nil {
		return t, err
	}
	return now, c.chooseWindow(old)
}

// untilWindow is how long a window that has no run yet is still to be waited for;
// negative where none is about to begin.
func (c *campaign) untilWindow(curve sweep.Curve) (time.Duration, error) {
	w := curve.Plan.Window
	if w < 2 || curve.Windows() >= w || sweep.NextStep(curve.Plan, curve.Runs).Done {
		return -1, nil
	}
	end := curve.WindowEnd(w - 1)
	since := time.Since(end)
	if since < 0 {
		return -1, badInputf("window %d of %s ended at %s, after now: set this machine's clock", w-1, c.flags.journal, end.UTC().Format(time.RFC3339))
	}
	return max(c.windows.gap-since, 0), nil
}

func (c *campaign) waitForWindow(ctx context.Context, w int, left time.Duration) error {
	if left <= 0 {
		return nil
	}
	c.say("window %d begins in %s, at %s: %s after window %d ended; Ctrl-C ends the wait",
		w, left.Round(time.Second), time.Now().Add(left).UTC().Format(time.RFC3339), c.windows.gap, w-1)
	t := time.NewTimer(left)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for window %d: %w", w, ctx.Err())
	}
}

// elseDeployed reports whether an earlier window names another deployment than
// this one.
func (c *campaign) elseDeployed(curve sweep.Curve) bool {
	for _, r := range curve.Runs {
		if id := c.flags.deployment; id != "" && r.Deployment != "" && r.Deployment != id {
			return true
		}
	}
	return false
}
