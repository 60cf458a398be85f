package main

import (
	"context"
	"maps"
	"strings"

	"github.com/spf13/pflag"

	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/loadgen/enginesim"
	"github.com/perfsweep/perfsweep/sweep"
	"github.com/perfsweep/perfsweep/sweep/compare"
)

const abHelp = `With --ab it measures a second target in turns with the first, such as another
router mode or image, and says what moved, as compare does, with an objective also
in what was served within it: each step is run on both, back to back, in the order
A B, B A, A B, so that what changes in the cluster meanwhile meets both. A, the
--target, decides which level comes next. A pair counts only if both of its runs
are valid and at most 10 minutes apart, else it is made again; the verdict over all
levels is the exact signed-rank test of the pairs. All other flags hold for both,
--max-runs counts pairs, --max-wall the run time of both. The runs of B are in the
journal FILE.b; both journals read like any other, and "compare FILE FILE.b" takes
other thresholds. Choose --repeats before: who measures on until a change shows
will find one. It ends with 0 when throughput, and with an objective goodput, were
judged and with 9 when that cannot be told.`

// abFlags are those of the second target.
type abFlags struct {
	target string
	labels []string
}

func (f *abFlags) bind(set *pflag.FlagSet) {
	set.StringVar(&f.target, "ab", "", "measure this target in turns with --target, into the journal FILE.b, and say what moved")
	set.StringArrayVar(&f.labels, "ab-label", nil, "key=value for the fingerprint of --ab, beside those of --label or in place of the one with this key; repeatable")
}

func (f *abFlags) asked(changed func(string) bool) bool { return changed("ab") || changed("ab-label") }

// check refuses what would be no comparison, before anything is opened.
func (f *abFlags) check(c *campaign) error {
	switch {
	case f.target == "":
		return badInputf("--ab-label is for the target of --ab, which is missing")
	case c.flags.target == "":
		return badInputf("--ab needs --target: both targets are measured in turns; two journals are held against each other by perfsweep compare")
	case c.flags.deploy.on:
		return badInputf("--deploy brings up one deployment, and --ab measures two in turns: bring both up before, and name them with --target and --ab")
	case c.flags.net.unixSocket != "":
		return badInputf("--unix-socket leads both targets to one server; give --target and --ab a host and a port each")
	case c.flags.deployment != "":
		return badInputf("--deployment names one deployment, and --ab measures two; name them with --label and --ab-label")
	case c.plan.MaxRuns > compare.MaxPairs:
		return badInputf("--max-runs %d: with --ab at most %d pairs can be compared; give that or less", c.plan.MaxRuns, compare.MaxPairs)
	case sameTarget(c.flags.target, f.target):
		return badInputf("--ab is the same server as --target: there is nothing to compare; name another one")
	}
	if err := c.flags.deploy.check(c.flags, c.changed); err != nil {
		return err
	}
	return c.flags.check()
}

// sameTarget reports whether two targets are one server. Two simulators may
// differ in what a fingerprint does not show.
func sameTarget(a, b string) bool {
	simA, isSim := strings.CutPrefix(a, "sim:")
	simB, both := strings.CutPrefix(b, "sim:")
	if isSim || both {
		pa, errA := enginesim.ParseTarget(simA)
		pb, errB := enginesim.ParseTarget(simB)
		return isSim && both && errA == nil && errB == nil && pa.String() == pb.String()
	}
	if isClusterTarget(a) || isClusterTarget(b) {
		return a == b
	}
	ua, errA := loadgen.ParseBaseURL(a)
	ub, errB := loadgen.ParseBaseURL(b)
	return errA == nil && errB == nil && strings.EqualFold(ua, ub)
}

// say names the side that a line is about.
func (c *campaign) say(format string, args ...any) {
	if c.side != "" {
		format = string(c.side) + ": " + format
	}
	c.app.say(format, args...)
}

// besideAB is the journal of B.
func besideAB(journal string) string { return journal + ".b" }

// second is the campaign of B: the flags of A, but for its own target, labels
// and journal. The journal may be missing where A's is not: a kill can fall
// between the two.
func (f *abFlags) second(a *campaign) *campaign {
	flags := *a.flags
	flags.target, flags.resume = f.target, false
	if flags.journal != "" {
		flags.journal = besideAB(flags.journal)
	}
	return &campaign{app: a.app, flags: &flags, changed: a.changed, side: sweep.SideB}
}

// sweepAB measures two targets in turns and prints what moved.
func (a *app) sweepAB(ctx context.Context, ca *campaign, f abFlags) error {
	if err := f.check(ca); err != nil {
		return err
	}
	ca.side = sweep.SideA
	cb := f.second(ca)
	if err := cb.flags.check(); err != nil {
		return err
	}
	spec, labels, err := ca.asked()
	if err != nil {
		return err
	}
	own, err := labelMap("ab-label", f.labels)
	if err != nil {
		return err
	}
	both := maps.Clone(labels)
	if both == nil {
		both = own
	}
	maps.Copy(both, own)
	t := turns{{campaign: ca, labels: labels}, {campaign: cb, labels: both}}
	defer t.close(ctx)
	if err := t.open(ctx); err != nil {
		return err
	}
	if err := t.preflight(ctx, spec); err != nil {
		return err
	}
	ab, err := t.begin()
	if err != nil {
		return err
	}
	if !t[0].target.simulated { // nor is the other one
		defer leanHeap()()
	}
	hide := a.showLive(ctx)
	defer hide() // whatever ends it
	d, err := ab.Run(ctx)
	hide()
	if err != nil {
		return err
	}
	c, err := t.judge(ab, d)
	if err != nil {
		return err
	}
	c.Next = afterComparison(c.Report, ca.flags.journal, cb.flags.journal, nil)
	return a.printComparison(c, false)
}
