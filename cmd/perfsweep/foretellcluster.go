package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/kube"
	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report"
	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
)

// part is something that a campaign makes in a namespace, with the rights for it.
type part struct {
	makes, namespace string
	rights           []kube.Access
}

// foretellLoading is --plan of a target whose load pods would make.
func (c *campaign) foretellLoading(ctx context.Context, t *target, apart time.Duration, spec loadgen.WorkloadSpec, labels map[string]string, old *sweep.Curve, files []string) error {
	curve, err := c.unasked(sweep.Fingerprint{Target: t.public, Model: c.model, GPUs: t.gpus, Workload: spec, Labels: c.labelled(t, labels)}, old)
	if err != nil {
		return err
	}
	if err := c.checkStated(curve.Fingerprint); err != nil {
		return err
	}
	p := planOf(curve, sweep.BridgePlan{}, apart, files)
	c.tellPooling(&p, curve)
	load, err := c.loadPart(ctx, t.place.cluster, t.place.namespace, t.gpus, &p)
	if err != nil {
		return err
	}
	return c.printParts(ctx, t.place.cluster, p, load)
}

// foretellDeploying is --plan of a deployment that --deploy would bring up.
func (c *campaign) foretellDeploying(ctx context.Context, apart time.Duration, spec loadgen.WorkloadSpec, labels map[string]string, old *sweep.Curve, files []string) error {
	s, err := c.flags.deploy.spec(c.flags, c.model)
	if err != nil {
		return err
	}
	if c.flags.deploy.times > 1 {
		c.goOn(old)
	}
	if err := c.beforeDeploying(ctx, s, spec, labels, old); err != nil {
		return err
	}
	w, _, err := c.windowAsked(old)
	if err != nil {
		return err
	}
	if c.plan.Confirm {
		c.plan.Window = w
	}
	curve, err := c.unasked(sweep.Fingerprint{Target: clusterTarget + s.Namespace + "/" + s.Name, Model: s.Model, GPUs: s.GPUs, Workload: spec, Labels: labels}, old)
	if err != nil {
		return err
	}
	cluster, err := c.flags.kube.open()
	if err != nil {
		return err
	}
	p := planOf(curve, sweep.BridgePlan{}, apart, files)
	p.Deployments, p.WindowRuns = max(c.flags.deploy.times-max(w, 1)+1, 1), windowRuns()
	parts := []part{{s.Makes(), s.Namespace, kube.DeployAccess(s)}}
	if c.fromPods(cluster) {
		load, err := c.loadPart(ctx, cluster, s.Namespace, s.GPUs, &p)
		if err != nil {
			return err
		}
		parts = append(parts, load)
	}
	return c.printParts(ctx, cluster, p, parts...)
}

// unasked is the campaign as far as it is known without a request to the target:
// neither a batch cap nor how long a request takes, unless its journal tells.
func (c *campaign) unasked(known sweep.Fingerprint, old *sweep.Curve) (sweep.Curve, error) {
	known.Effort = c.plan.Effort
	curve := sweep.Curve{Fingerprint: known, Plan: c.plan}
	if old != nil {
		curve.Plan.MaxConcurrencyPerGPU = cmp.Or(c.plan.MaxConcurrencyPerGPU, old.Plan.MaxConcurrencyPerGPU)
		c.moved(&curve, old)
		if err := c.fits(*old, c.plan.Window, curve.Fingerprint); err != nil {
			return curve, err
		}
		curve.Runs, curve.Preflight = old.Runs, old.Preflight
	}
	curve.Plan.MaxConcurrencyPerGPU = cmp.Or(curve.Plan.MaxConcurrencyPerGPU, sweep.DefaultUpperEnd)
	if err := loadgen.CheckStreams(curve.Plan.Peak() * known.GPUs); err != nil {
		return curve, fmt.Errorf("the largest level, %d per GPU: %w", curve.Plan.Peak(), err)
	}
	return curve, nil
}

// loadPart is the Job of load generators, whose number the plan tells.
func (c *campaign) loadPart(ctx context.Context, cluster *kube.Client, namespace string, gpus int, p *report.Plan) (part, error) {
	s, why, err := c.askedLoad(ctx, cluster, namespace, gpus)
	if err != nil {
		return part{}, err
	}
	p.LoadPods = s.Pods
	makes := fmt.Sprintf("a Job of %s that %s the load, with %s CPU and %s of memory each, and its Secret (%s)", plural.Of(s.Pods, "pod"), plural.Verb(s.Pods, "makes", "make"), s.CPU, s.Memory, why)
	return part{makes, s.Namespace, cluster.LoadAccess()}, nil
}

// printParts completes a plan with what is made in the cluster, asks for the
// rights, and prints it. What is missing is an error, as it will be then.
func (c *campaign) printParts(ctx context.Context, cluster *kube.Client, p report.Plan, parts ...part) error {
	var missing []string
	for _, m := range parts {
		p.Makes = append(p.Makes, "in namespace "+m.namespace+": "+m.makes)
		granted := "; all are granted"
		lacking, err := cluster.Lacking(ctx, m.namespace, m.rights)
		switch {
		case err != nil:
			granted = "; whether they are granted is not known: " + err.Error()
		case len(lacking) > 0:
			granted = "; NOT granted: " + kube.Summary(lacking)
			missing = append(missing, fmt.Sprintf("a Role in namespace %s needs the rules %s", m.namespace, kube.Rules(lacking)))
		}
		p.Permissions = append(p.Permissions, "in namespace "+m.namespace+": "+kube.Summary(m.rights)+granted)
	}
	if err := c.printPlan(p); err != nil || len(missing) == 0 {
		return err
	}
	return errors.New("this account may not do all of that: " + strings.Join(missing, "; "))
}
