package calibrate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/perfsweep/perfsweep/sweep"
)

// anchorLabels are what two campaigns must both state to be of one thing: unknown
// equals unknown within one journal only.
func anchorLabels() []string { return []string{"gpu_product", "image", "precision"} }

// Unstated are the labels without which a campaign cannot be held against one of
// another place (C7), or, if it is to be pooled with those of other clusters, without
// which Pool refuses it. A journal keeps the labels that it began with, so the time
// to ask is before the first run.
func Unstated(f sweep.Fingerprint, pooled bool) []string {
	stated := func(k string) bool { return strings.TrimSpace(f.Labels[k]) != "" }
	var names []string
	if !f.Simulated { // a simulator has no product, and its anchors are waived
		names = anchorLabels()
	}
	switch {
	case pooled && f.Simulated:
		names = []string{clusterLabel}
	case pooled:
		names = append([]string{clusterLabel}, append(names, "gpus_per_worker")...)
	case !f.Simulated && !stated("node"):
		names = append(names, clusterLabel)
	}
	return slices.DeleteFunc(names, stated)
}

// place says for a reader what a comparable journal is, and why it does not vouch.
func (e *evidence) place(a AnchorJournal) (label, doubt string) {
	name := printable(a.Name)
	elsewhere, why := e.elsewhere(a)
	if elsewhere {
		return fmt.Sprintf("%s, measured on another node or cluster (%s)", name, printable(a.Curve.Fingerprint.Target)), ""
	}
	ok := slices.ContainsFunc(e.policy.Approvals, func(p Approval) bool {
		return p.JournalSHA256 == a.SHA256 && p.Simulated == a.Curve.Fingerprint.Simulated && oddApproval(p.Approved, a.Curve, e.policy.Now) == ""
	})
	if !ok {
		return name, why + ", which nobody approved in this state (calibrate --approve " + name + ")"
	}
	return "the approved baseline " + name, ""
}

// elsewhere reports whether both journals state places that differ, or what is
// missing to prove it. A URL proves nothing: one server has many.
func (e *evidence) elsewhere(a AnchorJournal) (proved bool, why string) {
	var unknown []string
	for _, k := range []string{"node", "cluster"} {
		f, g := strings.TrimSpace(e.curve.Fingerprint.Labels[k]), strings.TrimSpace(a.Curve.Fingerprint.Labels[k])
		switch {
		case f == "" || g == "":
			unknown = append(unknown, "--label "+k+"=...")
		case !strings.EqualFold(f, g):
			return true, ""
		}
	}
	if len(unknown) > 0 {
		return false, "it may be of the same place, as not both journals state where (" + strings.Join(unknown, " or ") + ")"
	}
	return false, "it is a baseline of the same place"
}

// differences are those of two fingerprints that make an anchor another thing:
// it may lie elsewhere, and be older than this tool.
func differences(diff []string) (differs []string) {
	for _, d := range diff {
		switch field, _, _ := strings.Cut(d, ":"); field {
		case "target", "deployment_id", "tool_version", "labels.node", "labels.cluster", "labels.hostname", "labels.zone", "labels.region":
		default:
			differs = append(differs, printable(d))
		}
	}
	return differs
}
