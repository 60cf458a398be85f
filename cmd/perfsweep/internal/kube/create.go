package kube

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// looks is how often an object is looked for that may have been made: a request
// whose answer was lost may be in progress still.
const looks = 3

// create makes one object. A signal does not break the call off: what it made
// would not be known.
func (c *Client) create(ctx context.Context, kind schema.GroupVersionResource, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	call, stop := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer stop()
	return c.resource(kind, o.GetNamespace()).Create(call, o, metav1.CreateOptions{})
}

// createFor makes an object that carries the marks of a run. Where the answer does
// not tell whether it was made, it is looked for: what was made and is not known
// would not be removed.
func (c *Client) createFor(ctx context.Context, run Run, kind schema.GroupVersionResource, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	made, err := c.create(ctx, kind, o)
	if err == nil || !perhapsMade(err) {
		return made, err
	}
	within, stop := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer stop()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for range looks {
		there, lost := c.resource(kind, o.GetNamespace()).Get(within, o.GetName(), metav1.GetOptions{})
		switch {
		case lost == nil && there.GetLabels()[RunLabel] == run.ID:
			return there, nil
		case lost == nil: // somebody else's
			return nil, err
		}
		select {
		case <-tick.C:
		case <-within.Done():
			return nil, err
		}
	}
	return nil, err
}

// taken is the error of a name that another object has, and what to do: one that
// an earlier run left is told from everybody else's.
func (d *Deployed) taken(ctx context.Context, kind schema.GroupVersionResource, o *unstructured.Unstructured) error {
	what := fmt.Sprintf("%s %s/%s exists already and is not of this run: ", o.GetKind(), d.Spec.Namespace, o.GetName())
	const others = "measure what is there without --deploy, or give --target another name"
	within, stop := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer stop()
	there, err := d.client.resource(kind, d.Spec.Namespace).Get(within, o.GetName(), metav1.GetOptions{})
	if err != nil || there.GetLabels()[ManagedByLabel] != ManagedBy || there.GetLabels()[RunLabel] == "" {
		return errors.New(what + others)
	}
	l := leftover(kind, *there)
	if l.Kept {
		return fmt.Errorf("%sit was kept on purpose by run %s: %s, or remove it with perfsweep discover -n %s --leftovers --clean=%s", what, clip(l.Run), others, d.Spec.Namespace, clip(l.Run))
	}
	return fmt.Errorf("%sit is of run %s, begun on %s at %s: if that is at work still, wait for it or give --target another name; if it has ended, remove what it left with perfsweep discover -n %s --leftovers --clean=%s",
		what, clip(l.Run), clip(l.Host), l.Started.UTC().Format(time.RFC3339), d.Spec.Namespace, clip(l.Run))
}

// perhapsMade reports whether a call that failed may have made its object: the
// answer was lost, what stands before the API server gave up waiting for it, or it
// is there, from this call made twice or from somebody else.
func perhapsMade(err error) bool {
	status := apierrors.APIStatus(nil)
	if !errors.As(err, &status) {
		return true
	}
	return apierrors.IsAlreadyExists(err) || status.Status().Code >= http.StatusInternalServerError
}
