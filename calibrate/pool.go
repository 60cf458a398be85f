package calibrate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
)

// clusterLabel names the cluster that something was measured on.
const clusterLabel = "cluster"

// ToleranceClusters is the fewest clusters whose differences say more than the
// convention of sbPrior.
const ToleranceClusters = 3

// Cluster is the campaign of one of several clusters.
type Cluster struct {
	Name   string // of its file, for messages
	Curve  sweep.Curve
	Policy Policy // with its journal, its own anchors and approvals
}

// label is the cluster that the campaign states.
func (c Cluster) label() string { return strings.TrimSpace(c.Curve.Fingerprint.Labels[clusterLabel]) }

// ClusterRecord is what a sidecar keeps of a cluster. Rates are medians per GPU.
type ClusterRecord struct {
	Cluster         string  `json:"cluster"`
	Journal         Source  `json:"journal"`
	Runs            int     `json:"runs"`
	TokPerSecPerGPU float64 `json:"output_tok_per_s_per_gpu"`
	TTFTP99MS       float64 `json:"ttft_p99_ms"`
}

// NotPoolableError says why campaigns that measured one thing give no common gate:
// it is a refusal, not bad input.
type NotPoolableError struct{ Why string }

func (e *NotPoolableError) Error() string { return "not pooled: " + e.Why }

// Pooled is a proposal from several clusters. The curve and the policy are those of
// the slowest one, whose knee it has.
type Pooled struct {
	Proposal Proposal
	Cluster  Cluster
}

// Pool proposes one gate from the campaigns of several clusters. Each must meet
// every gate by itself but the second window (C6), which the others are, and the
// others are held against it as anchors; all must have confirmed one point. The
// clusters are the groups between which the floor's tolerance limit knows the
// spread (knee.md §18.3), so that it speaks of a further cluster.
//
// Errors are *PolicyError where the campaigns are not of one thing, and
// *NotPoolableError.
func Pool(clusters []Cluster, current recipes.Gate) (Pooled, error) {
	clusters = slices.Clone(clusters)
	slices.SortFunc(clusters, func(a, b Cluster) int {
		return cmp.Or(strings.Compare(a.label(), b.label()), strings.Compare(a.Name, b.Name))
	})
	if err := poolable(clusters); err != nil {
		return Pooled{}, err
	}
	var all []Pooled
	for i, c := range clusters {
		for j, o := range clusters {
			if i != j {
				c.Policy.Anchors = append(slices.Clone(c.Policy.Anchors), AnchorJournal{Source: o.Policy.Journal, Curve: o.Curve})
			}
		}
		p := Propose(c.Curve, current, c.Policy)
		if p.Err != nil {
			return Pooled{}, p.Err
		}
		all = append(all, Pooled{p, c})
	}
	// An anchor is one at the same point only: points are compared before C7 is.
	if refused, ok := firstRefused(all, "C6", "C7"); ok {
		return refused, nil
	}
	if why := pointsApart(all); why != "" {
		return Pooled{}, &NotPoolableError{why}
	}
	if refused, ok := firstRefused(all, "C6"); ok {
		return refused, nil
	}
	slow := slices.MinFunc(all, func(a, b Pooled) int {
		return cmp.Compare(a.Proposal.TokPerSecPerGPU, b.Proposal.TokPerSecPerGPU)
	})
	for _, c := range clusters {
		if c.label() != slow.Cluster.label() {
			slow.Cluster.Policy.Clusters = append(slow.Cluster.Policy.Clusters, c)
		}
	}
	slow.Proposal = Propose(slow.Cluster.Curve, current, slow.Cluster.Policy)
	return slow, nil
}

// firstRefused is the first campaign that cannot be one of several, whatever
// becomes of some gates.
func firstRefused(all []Pooled, but ...string) (Pooled, bool) {
	for _, p := range all {
		if why := p.notPoolable(but); why != "" {
			p.Proposal.Writable = false
			p.Proposal.Reasons = append([]string{fmt.Sprintf("cluster %s, %s: %s", printable(p.Cluster.label()), printable(p.Cluster.Name), why)}, p.Proposal.Reasons...)
			return p, true
		}
	}
	return Pooled{}, false
}

// notPoolable is what keeps a campaign from being one of several, "" if nothing does.
func (p Pooled) notPoolable(but []string) string {
	for _, g := range p.Proposal.Gates {
		if g.State == Unmet && !slices.Contains(but, g.ID) {
			return g.text()
		}
	}
	if odd := OddDates(p.Cluster.Curve, p.Cluster.Policy.Now); odd != "" {
		return odd // which C6 tells, and only of the slowest
	}
	if p.Proposal.Gate.Empty() {
		return p.Proposal.Reasons[0]
	}
	if none := attemptsAt(p.Cluster.Curve, p.Proposal.Point.ConcurrencyPerGPU, sweep.Confirm).undated(); none != "" { // which C6 tells as well
		return none + ": calibrate there again in a new journal, which dates its runs"
	}
	return ""
}

// pointsApart says what to do where clusters confirmed different points, "" where
// they confirmed one.
func pointsApart(all []Pooled) string {
	points := map[int][]string{}
	for _, p := range all {
		n := p.Proposal.Point.ConcurrencyPerGPU
		points[n] = append(points[n], printable(p.Cluster.label()))
	}
	if len(points) < 2 {
		return ""
	}
	var parts []string
	sorted := slices.Sorted(maps.Keys(points))
	for _, n := range sorted {
		parts = append(parts, fmt.Sprintf("%s at %d per GPU", strings.Join(points[n], ", "), n))
	}
	return fmt.Sprintf("the clusters confirmed different points (%s): prove the lowest on the others with --concurrency-per-gpu %d, into new journals", strings.Join(parts, "; "), sorted[0])
}

// poolable reports the first way in which campaigns are not of one thing on
// different clusters.
func poolable(clusters []Cluster) error {
	if len(clusters) < 2 {
		return policyErrorf("%s: one gate of several clusters needs two or more", plural.Of(len(clusters), "campaign"))
	}
	first := clusters[0]
	for i, c := range clusters {
		f := c.Curve.Fingerprint
		missing := Unstated(f, true)
		if slices.Contains(missing, clusterLabel) {
			return policyErrorf("%s does not say which cluster it is of: measure with --label %s=NAME", printable(c.Name), clusterLabel)
		}
		for _, o := range clusters[:i] {
			if strings.EqualFold(c.label(), o.label()) {
				return policyErrorf("%s and %s are both of cluster %s: one campaign a cluster; confirm a point again with --window in the cluster's own journal",
					printable(o.Name), printable(c.Name), printable(c.label()))
			}
		}
		if len(missing) > 0 {
			k := missing[0]
			return policyErrorf("%s does not state %s (--label %s=...): campaigns are pooled only where both state it", printable(c.Name), k, k)
		}
		if differs := differences(first.Curve.Fingerprint.Diff(f)); len(differs) > 0 {
			return policyErrorf("%s measured something else than %s, and the two are never pooled: %s", printable(c.Name), printable(first.Name), strings.Join(differs, "; "))
		}
		for _, o := range clusters[:i] {
			if sharesRuns(c.Curve, o.Curve) {
				return policyErrorf("%s and %s hold the same runs, which must not count twice", printable(o.Name), printable(c.Name))
			}
		}
	}
	return nil
}

// gateAttempts are the confirmation attempts at a point, those of further clusters
// after those of the campaign's own. A cluster then stands for a deployment.
func gateAttempts(c sweep.Curve, n int, p Policy) attempts {
	a := attemptsAt(c, n, sweep.Confirm)
	if len(p.Clusters) == 0 {
		return a
	}
	own := a
	a = attempts{gates: map[string]int{}, made: map[int]int{}, opens: map[int]bool{}}
	a.pool(own, clusterOf(c))
	for _, o := range p.Clusters {
		a.pool(attemptsAt(o.Curve, n, sweep.Confirm), clusterOf(o.Curve))
	}
	return a
}

// clusterOf is how a reading names the cluster that it is of.
func clusterOf(c sweep.Curve) string {
	return clusterLabel + " " + Cluster{Curve: c}.label()
}

// pool adds the attempts of a cluster. Their windows follow those that are there,
// and the first of them keeps the allowance of a first one.
func (a *attempts) pool(b attempts, cluster string) {
	last := 0
	for w := range a.made {
		last = max(last, w)
	}
	for w, made := range b.made {
		a.made[last+w], a.opens[last+w] = made, w == 1
	}
	for _, r := range b.valid {
		r.window, r.deployment = last+r.window, cluster
		a.valid = append(a.valid, r)
	}
	for g, n := range b.gates {
		a.gates[g] += n
	}
	a.total, a.stalled, a.shortP99 = a.total+b.total, a.stalled+b.stalled, a.shortP99+b.shortP99
}

// allowed is how many attempts a window needs and may make.
func (a attempts) allowed(w int) (valid, tries int) {
	if a.opens[w] {
		w = 1
	}
	return sweep.WindowAttempts(w)
}

// clusterRecords are the clusters of a pooled proposal, nil of any other.
func clusterRecords(c sweep.Curve, n int, p Policy) []ClusterRecord {
	if len(p.Clusters) == 0 {
		return nil
	}
	var out []ClusterRecord
	for _, o := range append([]Cluster{{Curve: c, Policy: p}}, p.Clusters...) {
		a := attemptsAt(o.Curve, n, sweep.Confirm)
		out = append(out, ClusterRecord{o.label(), o.Policy.Journal, len(a.valid), sweep.Median(a.throughputs()), sweep.Median(a.p99s())})
	}
	slices.SortFunc(out, func(a, b ClusterRecord) int { return strings.Compare(a.Cluster, b.Cluster) })
	return out
}

// group is what the floor's spread is between.
func (j *judgement) group() string {
	if len(j.policy.Clusters) > 0 {
		return clusterLabel
	}
	return "deployment"
}

// clusterLine says for the comment which clusters the floor rests on, and what it
// therefore states.
func (j *judgement) clusterLine() string {
	all := clusterRecords(j.curve, j.op(), j.policy)
	if len(all) == 0 {
		return ""
	}
	var parts []string
	for _, c := range all {
		parts = append(parts, fmt.Sprintf("%s (median %s, %s)", printable(c.Cluster), num(c.TokPerSecPerGPU), plural.Of(c.Runs, "run")))
	}
	s := fmt.Sprintf("From %s: %s; the knee is that of the slowest.", plural.Of(len(all), "cluster"), strings.Join(parts, ", "))
	switch {
	case j.policy.TTFTOnly:
		return s
	case len(all) < ToleranceClusters:
		return s + fmt.Sprintf(" Fewer than %d clusters do not tell what clusters differ by: s_b stays a convention.", ToleranceClusters)
	}
	return s + fmt.Sprintf(" A tolerance statement: with confidence 0.95, at least 95 %% of the gate runs on a further cluster of this fingerprint read %s or more, "+
		"and the evaluator's bound, %s, is not above that; s_b %.4f between clusters is %s, as their own spread and %d degrees of freedom of the convention %.2f make it.",
		num(j.limits.L), num(j.effectiveFloor()), j.limits.SB, j.limits.SBBasis, sbPriorWeight, sbPrior)
}
