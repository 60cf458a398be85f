package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report"
	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/sweep"
)

// What a command prints ends with the command that comes next.

// clientBound is what follows runs that this machine limited: nothing that is
// asked of the server helps there.
const clientBound = "perfsweep selftest says what this machine reads; then the same command with another --journal on a less busy or larger one"

// firstLook is what follows a quick campaign, which is never written from a real
// target.
const firstLook = "this was a first look; the same command without --effort quick and with a new --journal"

// afterSweep is what follows a curve. A campaign goes on as it was planned, so
// other levels are another journal.
func afterSweep(s knee.Status, d sweep.Decision, c sweep.Curve, journal string) string {
	plan, runs := c.Plan, len(c.Runs)
	switch {
	case c.ClientBound():
		return clientBound
	case d.Unstable():
		return "find what made the runs disagree, then sweep again with another --journal"
	case s != knee.Knee && s != knee.LatencyLimited && (runs >= plan.MaxRuns || plan.MaxWall > 0) && journal != "":
		return "the same command with --resume and more --max-runs or --max-wall"
	}
	switch s {
	case knee.Knee, knee.LatencyLimited:
		if journal == "" {
			return "the same command with --journal FILE keeps the runs for calibrate and report"
		}
		return gateOf(journal)
	}
	return otherLevels(s, "sweep", anotherJournal)
}

// afterCalibration is what follows a proposal; unmet gates say themselves what
// they need.
func afterCalibration(r report.Calibration, write bool, journal string) string {
	p := r.Proposal
	switch {
	case r.Wrote && r.Shipped != "": // a candidate
		return checkOf(r)
	case r.Wrote:
		return "commit " + r.Overlay + " with " + r.Sidecar + "; " + checkOf(r)
	case p.Writable && !write:
		return "the same command with --write"
	case r.Curve.ClientBound():
		return clientBound
	case r.Curve.FirstLook() && journal != "" && p.Outcome == calibrate.OutcomeProvisional:
		return firstLook
	}
	unmet := map[string]bool{}
	for _, g := range p.Gates {
		unmet[g.ID] = g.State == calibrate.Unmet
	}
	switch {
	case p.Outcome == calibrate.OutcomeProvisional && unmet["C6"] && journal != "":
		return "the same command with --window 2, half an hour later or on another --deployment"
	case p.Outcome == calibrate.OutcomeProvisional && unmet["C7"]:
		return "the same command with --anchor JOURNAL, or --approve JOURNAL --by NAME --why TEXT"
	case p.Outcome == calibrate.OutcomeNotSaturated:
		return "a higher --max-concurrency-per-gpu, or prove a point with --concurrency-per-gpu N"
	case journal != "" && !r.Explain:
		return "perfsweep calibrate --overlay " + r.Overlay + " --journal " + journal + " --explain shows every gate"
	case journal == "":
		return "the same command with --journal FILE keeps the runs, so that more can be added"
	}
	return ""
}

// afterFrom is what follows bundles that give no gate: to one of several clusters
// nothing can be added but the others.
func afterFrom(r report.Calibration, bundles int) string {
	if bundles == 1 && lacksOthers(r) {
		return "the same command with the bundles of the other clusters, which are its second window and its anchors"
	}
	return ""
}

// checkOf is the check of a gate that was written: one of another effort is stale.
func checkOf(r report.Calibration) string {
	f, where := r.Curve.Fingerprint, " --target TARGET"
	switch {
	case strings.ContainsAny(f.Target, "?&"): // a shell would take them for its own
		where = " --target '" + f.Target + "'"
	case f.Target != "":
		where = " --target " + f.Target
	}
	if f.GPUs > 0 && !strings.HasPrefix(f.Target, "k8s:") { // a cluster tells its own
		where += fmt.Sprintf(" --gpus %d", f.GPUs)
	}
	if f.Effort != "" && f.Effort != sweep.Standard {
		where += " --effort " + string(f.Effort)
	}
	return "perfsweep check --overlay " + r.Overlay + where + " holds a cluster against it"
}

// otherEffort is what follows a check of another effort than the gate was calibrated
// with, "" where it is the same: that is known before minutes are spent on it.
func otherEffort(sidecar *calibrate.Provenance, now sweep.Effort, journal string) string {
	if sidecar == nil || sidecar.Fingerprint.Effort == "" || sidecar.Fingerprint.Effort == now {
		return ""
	}
	for _, again := range sidecar.Reconfirmed {
		if again.Fingerprint.Effort == now {
			return ""
		}
	}
	next := "the same command with --effort " + string(sidecar.Fingerprint.Effort)
	if journal != "" {
		next += anotherJournal
	}
	return next
}

// afterBundle is what follows a campaign of one of several clusters, which is
// complete as it is: the others are its second window and its anchors. "" where it
// is not one.
func afterBundle(r report.Calibration, file string) string {
	if file == "" || !lacksOthers(r) {
		return ""
	}
	return "carry " + file + " to the overlay: perfsweep calibrate --from with the bundles of the other clusters, which are its second window and its anchors"
}

// lacksOthers reports whether a campaign of one of several clusters lacks nothing
// but what the others are for it.
func lacksOthers(r report.Calibration) bool {
	p := r.Proposal
	if p.Writable || p.Outcome != calibrate.OutcomeProvisional || r.Curve.FirstLook() || len(calibrate.Unstated(r.Curve.Fingerprint, true)) > 0 {
		return false
	}
	return !slices.ContainsFunc(p.Gates, func(g calibrate.GateResult) bool {
		return g.State == calibrate.Unmet && g.ID != "C6" && g.ID != "C7"
	})
}

// afterCheck is what follows a verdict; a pass needs nothing.
func afterCheck(r report.CheckReport, baseline, journal string) string {
	switch {
	case r.Result.Verdict == calibrate.Pass, len(r.Curve.Runs) == 0:
		return ""
	case journal == "":
		return "the same command with --journal FILE keeps the runs, for perfsweep report FILE"
	case r.Result.Verdict == calibrate.Fail && baseline != "":
		return "perfsweep compare " + baseline + " " + journal + " says what moved"
	case r.Result.Verdict == calibrate.Fail:
		return "perfsweep report " + journal + " -o check.html shows the runs"
	}
	return "mend what the reasons name, then check again with another --journal"
}
