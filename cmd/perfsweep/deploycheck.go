package main

import (
	"cmp"
	"context"
	"maps"
	"strings"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/kube"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
)

// beforeDeploying refuses what the flags, or the journal together with them, say
// wrong, before GPUs are taken for it: nothing of this is news once the
// deployment is up.
func (c *campaign) beforeDeploying(ctx context.Context, s kube.DeploySpec, spec loadgen.WorkloadSpec, labels map[string]string, old *sweep.Curve) error {
	if err := checkCountLabels(labels); err != nil {
		return err
	}
	if err := c.flags.net.apply(&loadgen.Config{}, c.changed("api-key-env")); err != nil {
		return err
	}
	if c.overlay {
		if err := recipes.ValidModel(s.Model); err != nil {
			return badInputf("the model cannot be pinned in an overlay: %w; name another with --model", err)
		}
	}
	if peak := c.plan.Peak(); peak > 0 {
		if err := loadgen.CheckStreams(peak * s.GPUs); err != nil {
			return badInputf("the largest level, %d per GPU: %w", peak, err)
		}
	}
	if err := c.tryLoaders(ctx, s.GPUs); err != nil {
		return err
	}
	return c.continues(s, spec, labels, old)
}

// tryLoaders looks at the flags of the pods that will make the load.
func (c *campaign) tryLoaders(ctx context.Context, gpus int) error {
	cluster, err := c.flags.kube.open()
	if err != nil || !c.fromPods(cluster) {
		return err
	}
	_, _, err = c.askedLoad(ctx, cluster, "", gpus)
	return err
}

// continues holds an old journal against what will be measured, as far as that
// is known before. A deployment that is made for it is another one than any that
// the journal knows, unless --deployment names it.
func (c *campaign) continues(s kube.DeploySpec, spec loadgen.WorkloadSpec, labels map[string]string, old *sweep.Curve) error {
	w, last, err := c.windowAsked(old)
	if err != nil || old == nil {
		return err
	}
	if begun := c.begunOn(*old, w); w <= last && (!c.changed("deployment") || c.flags.deployment != begun) {
		return badInputf("window %d of %s is measured on %s, and --deploy makes another one: one window is one deployment; name that one with --target, without --deploy, or begin a window with --window %d",
			w, c.flags.journal, deploymentName(begun), w+1)
	}
	return c.fits(*old, w, sweep.Fingerprint{
		Target: clusterTarget + s.Namespace + "/" + s.Name, Model: s.Model, GPUs: s.GPUs, Workload: spec, Effort: c.plan.Effort, Labels: labels,
	})
}

// fits holds an old journal against what is known of window w before the target
// was asked anything.
func (c *campaign) fits(old sweep.Curve, w int, known sweep.Fingerprint) error {
	was, now := old.Fingerprint, old.Fingerprint
	now.Model, now.GPUs, now.Workload, now.Effort, now.Labels = cmp.Or(known.Model, was.Model), known.GPUs, known.Workload, known.Effort, maps.Clone(was.Labels)
	if w < 2 {
		now.Target = known.Target
	}
	for k, v := range known.Labels {
		if now.Labels == nil {
			now.Labels = map[string]string{}
		}
		now.Labels[k] = v
	}
	if diff := was.Diff(now); len(diff) > 0 {
		return badInputf("%s was measured under another fingerprint (%s); use a new --journal", c.flags.journal, strings.Join(diff, "; "))
	}
	p := c.plan
	p.MaxConcurrencyPerGPU = cmp.Or(p.MaxConcurrencyPerGPU, old.Plan.MaxConcurrencyPerGPU)
	if diff := old.Plan.Diff(p); len(diff) > 0 {
		return badInputf("%s was planned differently (%s); use a new --journal or the same flags", c.flags.journal, strings.Join(diff, "; "))
	}
	return nil
}
