package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/kube"
	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
)

// absence waits for a target that served and does not any more, where something
// brings it back: what was measured until then, and with --deploy the deployment,
// need not be lost for a frontend that is restarted.
type absence struct {
	within time.Duration // 0: nothing brings it back, or it is not known
	say    func(string, ...any)
	try    func(context.Context) (loadgen.Preflight, error)
	words  func(context.Context, error) string

	spent time.Duration // of waiting so far
	lost  int           // runs one after the other that met nobody
	notes []string
}

// mostLost is how often in a row a run may meet nobody, and how often the whole time
// may be waited: what takes the target down may be the load of the very step, and a
// Job in a cluster has a deadline.
const mostLost = 3

// absence is that of a target, as its fingerprint names it.
func (c *campaign) absence(target string, cfg loadgen.Config, spec loadgen.WorkloadSpec) *absence {
	a := &absence{say: c.say, words: func(ctx context.Context, err error) string { return c.frontendWords(ctx, target, err) }}
	if isClusterTarget(target) {
		a.within = answersFor
	}
	a.try = func(ctx context.Context) (loadgen.Preflight, error) {
		if err := c.stillThat(ctx, target); err != nil { // the cluster knows why, and more than a connection tells
			return loadgen.Preflight{}, err
		}
		return c.loaders.preflight(ctx, cfg, spec)
	}
	return a
}

// stillThat holds a deployment against the one that was measured: it may be ready
// only in part, removed, or another one by now.
func (c *campaign) stillThat(ctx context.Context, target string) error {
	namespace, name, err := splitClusterTarget(target)
	if err != nil {
		return err
	}
	cluster, err := c.flags.kube.open()
	if err != nil {
		return err
	}
	d, err := cluster.Deployment(ctx, namespace, name)
	var missing *kube.InputError
	switch {
	case errors.As(err, &missing): // no mistake of the user's: it was there
		return fmt.Errorf("%s was removed while it was measured", target)
	case err != nil:
		return &loadgen.NotYetError{Err: err}
	}
	if err := c.sameDeployment(d); err != nil {
		return err
	}
	err = c.measurable(target, d)
	if err != nil && !d.Ready {
		return &loadgen.NotYetError{Err: err}
	}
	return err
}

// sameDeployment refuses a deployment that was made anew, or changed.
func (c *campaign) sameDeployment(d kube.Deployment) error {
	if is := deploymentID(d); c.named && is != c.flags.deployment {
		return fmt.Errorf("k8s:%s/%s is another deployment by now (%s, and %s was measured): what comes next is not of the same thing; measure it into a --journal of its own, or as a further window with --window",
			d.Namespace, d.Name, is, c.flags.deployment)
	}
	return nil
}

// judge is nil for a run that counts. One that met nobody is not recorded, or a
// campaign that is resumed once the target is back would count it as tried.
func (a *absence) judge(ctx context.Context, r *loadgen.Result) error {
	n := r.All.Total()
	if n == 0 || r.All[loadgen.OK] > 0 {
		a.lost = 0
		r.Warnings, a.notes = append(r.Warnings, a.notes...), nil
		return nil
	}
	refused := gone(*r)
	if a.within == 0 || a.lost >= mostLost || a.spent >= mostLost*a.within || ctx.Err() != nil {
		return refused
	}
	if refused == nil { // it answers, with errors: is it the load, or is nobody there?
		_, err := a.try(ctx)
		if early := (*loadgen.NotYetError)(nil); !errors.As(err, &early) {
			return nil
		}
	}
	began := time.Now()
	what := plural.Verb(n, "the only request of the run was not served", "none of the "+plural.Of(n, "request")+" of the run was served") + instance(*r)
	a.say("%s: waiting up to %s for the target to serve again", what, a.within)
	if _, err := untilServed(ctx, a.within, a.say, a.try); ctx.Err() != nil {
		return ctx.Err()
	} else if err != nil {
		return fmt.Errorf("%s: %w%s; bring it back, and continue a journal with --resume", what, err, a.words(ctx, err))
	}
	a.lost++
	a.spent += time.Since(began)
	note := fmt.Sprintf("%s; the target served again after %s, and the run was made again", what, time.Since(began).Round(time.Second))
	a.notes = append(a.notes, note)
	a.say("%s", note)
	return sweep.ErrRepeat
}

// gone is the error of a run that never had a connection: the target is down,
// which says nothing of its curve.
func gone(r loadgen.Result) error {
	n := r.All.Total()
	if n == 0 || r.All[loadgen.Connect] < n {
		return nil
	}
	return fmt.Errorf("the target takes no connections any more, %s failed%s; bring it back, and continue a journal with --resume",
		plural.Verb(n, "the only request", "all "+plural.Of(n, "request")), instance(r))
}

// instance is one error of a run.
func instance(r loadgen.Result) string {
	for _, o := range []loadgen.Outcome{loadgen.Connect, loadgen.HTTPStatus, loadgen.Shed, loadgen.Timeout} {
		if texts := r.Errors[o]; len(texts) > 0 {
			return ": " + texts[0]
		}
	}
	return ""
}
