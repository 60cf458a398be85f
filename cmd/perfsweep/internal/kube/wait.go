package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// How a wait is told: a change at once, else from time to time. What will not
// repair itself may last for stuckFor: a registry can have a bad minute.
const (
	lookEvery   = 2 * time.Second
	repeatAfter = 30 * time.Second
	stuckFor    = 3 * time.Minute
)

// state is what a look at the cluster saw.
type state struct {
	done  bool
	why   []string // what is not ready yet
	stuck string   // what of it will not repair itself
	sure  bool     // it is a rule that was applied, no bad minute of anything
}

// add takes what pods are refused for, where there are none yet.
func (s *state) add(r stuck) {
	if r.reason == "" {
		return
	}
	s.why = append(s.why, r.reason)
	if r.hopeless {
		s.stuck, s.sure = r.reason, true
	}
}

// await looks until it is done, tells what it sees, and gives up at the end of
// ctx or where nothing more will come.
func await(ctx context.Context, what string, say func(string), look func(context.Context) (state, error)) error {
	begun, told, toldAt := time.Now(), "", time.Time{}
	stuckSince := time.Time{}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var last state
	for {
		s, err := look(ctx)
		if ctx.Err() == nil {
			if err != nil && passing(err) {
				s, err = state{why: []string{err.Error()}, stuck: err.Error()}, nil
			}
			if err != nil {
				return fmt.Errorf("waiting for %s: %w", what, err)
			}
			if s.done {
				say(fmt.Sprintf("%s after %s", what, time.Since(begun).Round(time.Second)))
				return nil
			}
			last = s
			if s.stuck == "" {
				stuckSince = time.Time{}
			} else if stuckSince.IsZero() { // in other words it is the same: names of pods change
				stuckSince = time.Now()
			}
			limit := stuckFor
			if s.sure {
				limit = hopelessFor
			}
			if s.stuck != "" && time.Since(stuckSince) > limit {
				return fmt.Errorf("waiting for %s: %s, for %s now", what, s.stuck, limit)
			}
			if line := strings.Join(s.why, "; "); line != told || time.Since(toldAt) > repeatAfter {
				told, toldAt = line, time.Now()
				say(fmt.Sprintf("waiting for %s, %s: %s", what, time.Since(begun).Round(time.Second), told))
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("waited %s for %s: %s: %w", time.Since(begun).Round(time.Second), what, strings.Join(last.why, "; "), context.Cause(ctx))
		}
	}
}

// awaitPopulated waits until the model is in its volume.
func (d *Deployed) awaitPopulated(ctx context.Context, made Made, say func(string)) error {
	s := d.Spec
	return await(ctx, "the model cache to be filled", say, func(ctx context.Context) (state, error) {
		job, err := d.client.resource(jobKind, s.Namespace).Get(ctx, s.populateJob(), metav1.GetOptions{})
		if err != nil {
			return state{}, explain(err, "get", resourceName(jobKind), s.Namespace, s.populateJob())
		}
		list, err := d.client.podsBy(ctx, s.Namespace, jobLabel+"="+s.populateJob())
		if err != nil {
			return state{}, err
		}
		if done, _ := condition(job.Object, "Complete"); done == "True" {
			return state{done: true}, nil
		}
		if failed, why := condition(job.Object, "Failed"); failed == "True" {
			words := ""
			if len(list) > 0 {
				words = d.client.lastWords(ctx, s.Namespace, list[0].Metadata.Name, populateContainer, false)
			}
			return state{}, fmt.Errorf("the download of %s failed: %s%s", s.Model, why, words)
		}
		st := podsState(list)
		if len(list) == 0 {
			st.why = append(st.why, "the Job has no pod yet")
			st.add(d.client.refusals(ctx, made))
		}
		st.why = append(st.why, d.claimState(ctx)...)
		if len(st.why) == 0 {
			st.why = []string{"downloading " + s.Model}
		}
		return st, nil
	})
}

// claimState says what the cache's volume waits for. A class that binds with
// the first pod leaves it pending until then, which is no fault.
func (d *Deployed) claimState(ctx context.Context) []string {
	pvc, err := d.client.resource(claimKind, d.Spec.Namespace).Get(ctx, d.Spec.cachePVC(), metav1.GetOptions{})
	if err != nil {
		return nil // the pod's own reason is told in any case
	}
	phase, _, _ := unstructured.NestedString(pvc.Object, "status", "phase")
	if phase == "Bound" || phase == "" {
		return nil
	}
	return []string{fmt.Sprintf("PersistentVolumeClaim %s is %s", d.Spec.cachePVC(), clip(phase))}
}

// awaitReady waits until every part of the deployment is ready.
func (d *Deployed) awaitReady(ctx context.Context, say func(string)) error {
	s := d.Spec
	return await(ctx, fmt.Sprintf("%s/%s to be ready", s.Namespace, s.Name), say, func(ctx context.Context) (state, error) {
		dep, err := d.client.Deployment(ctx, s.Namespace, s.Name)
		var missing *InputError
		switch {
		case errors.As(err, &missing): // it was there: no mistake of the user's
			return state{}, fmt.Errorf("%s/%s is not there any more: somebody removed what was made", s.Namespace, s.Name)
		case err != nil:
			return state{}, err
		case dep.UID != d.UID():
			return state{}, fmt.Errorf("%s/%s is another one by now: somebody removed the one that was made", s.Namespace, s.Name)
		}
		if dep.Ready {
			return state{done: true}, nil
		}
		list, err := d.client.podsBy(ctx, s.Namespace, dgdLabel+"="+s.Name)
		if err != nil {
			return state{}, err
		}
		for _, p := range list {
			if why, crashed := p.podTrouble(); crashed != "" {
				return state{}, fmt.Errorf("%s%s", why.reason, d.client.lastWords(ctx, s.Namespace, p.Metadata.Name, crashed, true))
			}
		}
		st := podsState(list)
		if len(list) == 0 {
			st.why = append(st.why, "there are no pods yet: the operator makes them")
		}
		if len(list) < wanted(dep) {
			st.add(d.client.refusals(ctx, d.graph()))
		}
		st.why = append(st.why, dep.NotReady...)
		return st, nil
	})
}

// wanted is how many pods a deployment has at least.
func wanted(d Deployment) int {
	n := 0
	for _, c := range d.Components {
		n += c.Replicas
	}
	return n
}

// dgdLabel is the operator's mark on the pods and Services of a deployment.
const dgdLabel = "nvidia.com/dynamo-graph-deployment-name"

func (c *Client) podsBy(ctx context.Context, namespace, selector string) ([]podView, error) {
	list, err := c.resource(podKind, namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return nil, explain(err, "list", "pods", namespace, "")
	}
	return views[podView](list)
}

// podsState gathers what pods wait for, each reason once.
func podsState(list []podView) state {
	var s state
	for _, p := range list {
		why, _ := p.podTrouble()
		if why.reason != "" && !slices.Contains(s.why, why.reason) {
			s.why = append(s.why, why.reason)
		}
		if why.hopeless && s.stuck == "" {
			s.stuck = why.reason
		}
	}
	return s
}

// condition is a condition of a Job.
func condition(o map[string]any, kind string) (status, why string) {
	list, _, _ := unstructured.NestedSlice(o, "status", "conditions")
	for _, c := range list {
		if m, ok := c.(map[string]any); ok && m["type"] == kind {
			status, _ = m["status"].(string)
			reason, _ := m["reason"].(string)
			message, _ := m["message"].(string)
			return status, clip(strings.Trim(reason+": "+message, ": "))
		}
	}
	return "", ""
}
