package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/perfsweep/perfsweep/internal/plural"
)

const (
	// DefaultLoadWait is how long the pods may take to run: an image may have to
	// be pulled, and a node to be added.
	DefaultLoadWait = 5 * time.Minute
	// hopelessFor is how long a reason that does not go away by itself is
	// believed to be a hiccup, pullsFor where it is an image that does not come: a
	// lost DNS packet is enough for that, kubelets try again after 10 s, 20 s and
	// 40 s only, and tell the old reason while they pull.
	hopelessFor = 20 * time.Second
	pullsFor    = time.Minute
	// saidAfter keeps quiet about what every start goes through.
	saidAfter = 2 * time.Second
	pollEvery = 300 * time.Millisecond
	// eventsEvery polls the events are asked once.
	eventsEvery = 4
)

// Ready waits until every pod runs, replaced ones included, and takes note of
// which they are. It says why one does not, and gives up where that will not change.
func (j *LoadJob) Ready(ctx context.Context) error {
	wait := j.spec.Wait
	if wait <= 0 {
		wait = DefaultLoadWait
	}
	within, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	var last, said string
	var stuckSince, hopeless time.Time
	pods := 0
	for poll := 0; ; poll++ {
		run, why, who, err := j.look(within, poll%eventsEvery == eventsEvery-1)
		if err == nil {
			pods = run
		}
		switch {
		case err == nil && pods == len(j.pods):
			if limit := j.throttled(); limit != "" && !j.ran && j.spec.Say != nil {
				j.spec.Say(limit)
			}
			j.ran = true
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case within.Err() != nil:
			return fmt.Errorf("%d of %s %s after %s%s", pods, plural.Of(len(j.pods), "load generator"), plural.VerbOf(pods, len(j.pods), "runs", "run"), wait, because(last))
		case err != nil && passing(err):
			why = stuck{reason: err.Error()}
		case err != nil:
			return err
		case why.final, why.ended && !j.ran: // later ones are replaced, after a pause
			return errors.New(why.reason + j.c.lastWords(ctx, j.spec.Namespace, who, loadContainer, false))
		}
		if why.reason == "" {
			stuckSince = time.Time{}
		} else if last = why.reason; stuckSince.IsZero() {
			stuckSince = time.Now()
		}
		if last != said && !stuckSince.IsZero() && time.Since(stuckSince) >= saidAfter && j.spec.Say != nil {
			j.spec.Say(fmt.Sprintf("%d of %s %s: %s", pods, plural.Of(len(j.pods), "load generator"), plural.VerbOf(pods, len(j.pods), "runs", "run"), last))
			said = last
		}
		if !why.hopeless {
			hopeless = time.Time{}
		} else if hopeless.IsZero() {
			hopeless = time.Now()
		} else if within := time.Since(hopeless); within >= pullsFor || within >= hopelessFor && !why.pull {
			return errors.New("the load generators do not start: " + why.reason)
		}
		select {
		case <-within.Done():
		case <-tick.C:
		}
	}
}

func because(reason string) string {
	if reason == "" {
		return ": nothing says why; see kubectl describe"
	}
	return ": " + reason
}

// look reads the pods, and the events about the Job where asked, and says how
// many run and what the first other one waits for.
func (j *LoadJob) look(ctx context.Context, events bool) (run int, why stuck, who string, err error) {
	ns := j.spec.Namespace
	all, err := j.c.jobPods(ctx, ns, j.name)
	if err != nil {
		return 0, why, who, err
	}
	now := current(all, len(j.pods))
	for i, p := range now {
		if p.ready() {
			j.pods[i].is(p)
			run++
			continue
		}
		if s := p.waitsFor(); why.reason == "" && s.reason != "" {
			why, who = s, p.Metadata.Name
		}
	}
	missing := slices.ContainsFunc(now, func(p podView) bool { return p.Metadata.Name == "" })
	if why.reason != "" || !missing {
		j.refused = stuck{}
		return run, why, who, nil
	}
	if !events {
		return run, j.refused, who, nil
	}
	// Who may not read events is told less.
	list, err := j.c.resource(eventKind, ns).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.uid=" + string(j.uid)})
	if err != nil {
		return run, j.refused, who, nil
	}
	seen, err := views[eventView](list)
	if err != nil {
		return run, why, who, err
	}
	j.refused = refusal(seen, loadWays())
	return run, j.refused, who, nil
}

// throttled says that the pods have a limit of CPU that they did not ask for.
func (j *LoadJob) throttled() string {
	for _, p := range j.pods {
		for _, c := range p.now().Spec.Containers {
			if cpu := c.Resources.Limits["cpu"]; cpu != "" {
				return fmt.Sprintf("note: a LimitRange or a policy of namespace %s gives the load generators a limit of %s CPU: what it throttles is measured as the server's delay; name a namespace without one with --load-namespace", j.spec.Namespace, clip(cpu))
			}
		}
	}
	return ""
}

// current is the newest pod of each index that has not ended, or else the newest.
func current(all []podView, n int) []podView {
	now := make([]podView, n)
	for _, p := range all {
		i, err := strconv.Atoi(p.Metadata.Labels[indexLabel])
		if err != nil || i < 0 || i >= n {
			continue
		}
		was := now[i]
		newer := p.Metadata.CreationTimestamp >= was.Metadata.CreationTimestamp
		if was.Metadata.Name == "" || was.ended() && (!p.ended() || newer) || !was.ended() && !p.ended() && newer {
			now[i] = p
		}
	}
	return now
}
