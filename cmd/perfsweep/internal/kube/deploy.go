package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/perfsweep/perfsweep/internal/plural"
)

// The bounds of single steps. A call that makes something is not broken off by
// a signal: what it made would not be known.
const (
	callTimeout   = 30 * time.Second
	removeTimeout = 3 * time.Minute
)

// Made is one object of a run, known by its UID: one of the same name that was
// made by somebody else is never touched.
type Made struct {
	Resource  schema.GroupVersionResource
	Kind      string
	Namespace string
	Name      string
	UID       types.UID
	At        time.Time // by the cluster's clock
}

func (m Made) String() string { return m.Kind + " " + m.Namespace + "/" + m.Name }

// Deployed is a deployment that this run brought up.
type Deployed struct {
	Spec       DeploySpec
	APIVersion string
	// Notes are for people: what could not be checked, versions that do not fit.
	Notes []string

	client *Client
	run    Run
	lease  *Lease
	made   []Made
}

// Deploy brings a deployment up and returns when it is ready. Whatever becomes
// of it, the caller removes it with Remove: on an error Deploy returns what it
// had made. Say hears what is waited for.
func (c *Client) Deploy(ctx context.Context, run Run, s DeploySpec, say func(string)) (*Deployed, error) {
	d := &Deployed{Spec: s, client: c, run: run}
	objects, err := d.plan(ctx)
	if err != nil {
		return d, err
	}
	if d.lease, err = c.HoldLease(ctx, run, s.Namespace); err != nil {
		return d, err
	}
	for _, o := range objects {
		if err := d.create(ctx, o); err != nil {
			return d, err
		}
		say("made " + d.made[len(d.made)-1].String())
		if o.resource == jobKind {
			if err := d.awaitPopulated(ctx, d.made[len(d.made)-1], say); err != nil {
				return d, err
			}
		}
	}
	return d, d.awaitReady(ctx, say)
}

// planned is an object that is to be made.
type planned struct {
	resource schema.GroupVersionResource
	object   map[string]any
}

// plan finds out everything that can be known before anything is made.
func (d *Deployed) plan(ctx context.Context) ([]planned, error) {
	s, c := d.Spec, d.client
	if err := s.Validate(); err != nil {
		return nil, &InputError{err}
	}
	version, err := c.pickVersion(ctx, graphKind, v1beta1, v1alpha1)
	if err != nil {
		return nil, fmt.Errorf("%w: is the Dynamo operator (dynamo-platform) installed?", err)
	}
	d.APIVersion = version
	if err := c.mayDo(ctx, s.Namespace, "--deploy", DeployAccess(s)); err != nil {
		return nil, err
	}
	var out []planned
	if s.GPUAccess == DRA {
		v, err := c.pickVersion(ctx, claimTemplateKind, "v1", "v1beta2", "v1beta1")
		if err != nil {
			return nil, fmt.Errorf("%w, and gpu_access: dra needs it; use gpu_access: device-plugin", err)
		}
		r := claimTemplateKind
		r.Version = v
		out = append(out, planned{r, s.ClaimTemplate(v)})
	}
	if s.cacheMade() {
		if err := d.checkStorage(ctx); err != nil {
			return nil, err
		}
		out = append(out, planned{claimKind, s.CacheClaim()}, planned{jobKind, s.PopulateJob()})
	}
	r := graphKind
	r.Version = version
	d.Notes = append(d.Notes, versionSkew(c.operators(ctx), s.Image)...)
	return append(out, planned{r, s.DGD(version)}), nil
}

// checkStorage fails before a claim is made that nothing will ever fill.
func (d *Deployed) checkStorage(ctx context.Context) error {
	list, err := d.client.resource(storageClassKind, "").List(ctx, metav1.ListOptions{})
	if apierrors.IsForbidden(err) {
		d.Notes = append(d.Notes, "whether the cluster has the StorageClass of the model cache is not known: this account may not list storageclasses")
		return nil
	}
	if err != nil {
		return explain(err, "list", "storageclasses.storage.k8s.io", "", "")
	}
	classes := map[string]bool{}
	for _, o := range list.Items {
		classes[o.GetName()] = o.GetAnnotations()[defaultClass] == "true"
	}
	if err := d.Spec.checkStorageClass(classes); err != nil {
		return &InputError{err}
	}
	return nil
}

// create makes one object, and records what it made.
func (d *Deployed) create(ctx context.Context, p planned) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("bringing up %s/%s: %w", d.Spec.Namespace, d.Spec.Name, err)
	}
	d.run.mark(p.object)
	if d.Spec.Keep {
		child(child(p.object, "metadata"), "annotations")[KeepAnnotation] = "true"
	}
	o := &unstructured.Unstructured{Object: p.object}
	got, err := d.client.createFor(ctx, d.run, p.resource, o)
	if apierrors.IsAlreadyExists(err) {
		return &InputError{d.taken(ctx, p.resource, o)}
	}
	if err != nil {
		return explain(err, "create", resourceName(p.resource), d.Spec.Namespace, o.GetName())
	}
	d.made = append(d.made, Made{p.resource, o.GetKind(), d.Spec.Namespace, got.GetName(), got.GetUID(), got.GetCreationTimestamp().Time})
	return nil
}

// resourceName is a resource as messages and RBAC write it.
func resourceName(r schema.GroupVersionResource) string { return r.GroupResource().String() }

// UID is that of the deployment itself, "" before it was made.
func (d *Deployed) UID() string { return string(d.graph().UID) }

// graph is the deployment itself among what was made.
func (d *Deployed) graph() Made {
	for _, m := range d.made {
		if m.Kind == dgdKind {
			return m
		}
	}
	return Made{}
}

// Kept says what stays in the cluster, and how it is removed.
func (d *Deployed) Kept() string {
	if len(d.made) == 0 {
		return "nothing was made that could be kept"
	}
	out := "kept:"
	for _, m := range d.made {
		out += " " + m.String() + ","
	}
	return out[:len(out)-1] + "; remove it with " + d.cleaning()
}

// cleaning is the command that removes what is left of the run.
func (d *Deployed) cleaning() string {
	return fmt.Sprintf("perfsweep discover -n %s --leftovers --clean=%s", d.Spec.Namespace, d.run.ID)
}

// Unfinished says what becomes of a removal that is broken off.
func (d *Deployed) Unfinished() string {
	return "another Ctrl-C leaves what is not removed yet, for " + d.cleaning()
}

// Keep ends the run's claim to what it made, which stays.
func (d *Deployed) Keep(ctx context.Context) error { return d.lease.release(ctx) }

// Remove removes what this run made, the last first, and waits until it and the
// pods of the deployment are gone: the next one needs their GPUs. It does so
// after a signal as well.
func (d *Deployed) Remove(ctx context.Context) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), removeTimeout)
	defer stop()
	var failed []error
	var left []Made
	for _, m := range slices.Backward(d.made) {
		if err := d.client.remove(ctx, m); err != nil {
			failed, left = append(failed, err), append(left, m)
		}
	}
	for _, m := range slices.Backward(d.made) {
		if len(failed) > 0 {
			break
		}
		if err := d.client.awaitMadeGone(ctx, m); err != nil {
			failed, left = append(failed, err), append(left, m)
		}
	}
	if len(failed) == 0 && d.UID() != "" {
		failed = appendError(failed, d.client.awaitNoPods(ctx, d.Spec.Namespace, d.Spec.Name))
	}
	failed = appendError(failed, d.lease.release(ctx))
	d.made = left
	switch {
	case len(left) > 0:
		return fmt.Errorf("removing what was deployed: %w; %s", errors.Join(failed...), d.Kept())
	case len(failed) > 0:
		return fmt.Errorf("removing what was deployed: %w", errors.Join(failed...))
	}
	return nil
}

func appendError(list []error, err error) []error {
	if err != nil {
		list = append(list, err)
	}
	return list
}

// remove deletes an object if it is still the one that was made.
func (c *Client) remove(ctx context.Context, m Made) error {
	background := metav1.DeletePropagationBackground
	err := c.resource(m.Resource, m.Namespace).Delete(ctx, m.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &m.UID}, PropagationPolicy: &background,
	})
	if gone(err) { // gone, or in its place another one
		return nil
	}
	return explain(err, "delete", resourceName(m.Resource), m.Namespace, m.Name)
}

// awaitMadeGone waits until an object, or its name, is no longer ours.
func (c *Client) awaitMadeGone(ctx context.Context, m Made) error {
	return poll(ctx, func() (bool, error) {
		o, err := c.resource(m.Resource, m.Namespace).Get(ctx, m.Name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err) || err == nil && o.GetUID() != m.UID:
			return true, nil
		case err != nil:
			return false, explain(err, "get", resourceName(m.Resource), m.Namespace, m.Name)
		}
		return false, nil
	}, func() string { return m.String() + " is being deleted, and does not go" })
}

func (c *Client) awaitNoPods(ctx context.Context, namespace, name string) error {
	left := 0
	return poll(ctx, func() (bool, error) {
		list, err := c.podsBy(ctx, namespace, dgdLabel+"="+name)
		left = len(list)
		return err == nil && left == 0, err
	}, func() string {
		return fmt.Sprintf("%s of %s/%s %s not go", plural.Of(left, "pod"), namespace, name, plural.Verb(left, "does", "do"))
	})
}

// poll asks every second until the answer is yes.
func poll(ctx context.Context, ask func() (bool, error), late func() string) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		ok, err := ask()
		if ok || err != nil && ctx.Err() == nil && !passing(err) {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("%s: %w", late(), ctx.Err()), err)
		}
	}
}
