package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Leftover is an object that carries this program's marks.
type Leftover struct {
	Made
	Run, Host string
	Started   time.Time
	// Alive: the run still renews its lease or, having none, has a Job at work.
	Alive bool
	// Kept: the run was asked to leave it.
	Kept bool
}

// markedKinds are those of which this program makes objects, in the order in
// which they are removed: what tells that a run is alive goes last.
func (c *Client) markedKinds(ctx context.Context) []schema.GroupVersionResource {
	var out []schema.GroupVersionResource
	for _, k := range []schema.GroupVersionResource{graphKind, claimTemplateKind} {
		want := []string{v1beta1, v1alpha1}
		if k == claimTemplateKind {
			want = []string{"v1", "v1beta2", "v1beta1"}
		}
		if v, err := c.pickVersion(ctx, k, want...); err == nil {
			k.Version = v
			out = append(out, k)
		}
	}
	return append(out, jobKind, claimKind, secretKind, leaseKind)
}

// Leftovers are the objects in a namespace ("" = in all) that carry this
// program's marks, and what could not be looked at.
func (c *Client) Leftovers(ctx context.Context, namespace string) (found []Leftover, notes []string, err error) {
	alive, ahead := map[string]bool{}, c.serverAhead(ctx)
	kinds := c.markedKinds(ctx)
	for _, kind := range kinds {
		list, err := c.resource(kind, namespace).List(ctx, metav1.ListOptions{LabelSelector: ManagedByLabel + "=" + ManagedBy})
		if apierrors.IsForbidden(err) {
			notes = append(notes, explain(err, "list", resourceName(kind), namespace, "").Error())
			continue
		}
		if err != nil {
			return nil, notes, explain(err, "list", resourceName(kind), namespace, "")
		}
		for _, o := range list.Items {
			l := leftover(kind, o)
			if l.Run == "" {
				continue // the label alone may be anybody's
			}
			found = append(found, l)
			switch kind {
			case jobKind:
				n, _, _ := unstructured.NestedInt64(o.Object, "status", "active")
				alive[l.key()] = alive[l.key()] || n > 0
			case leaseKind: // the last kind, and the last word
				alive[l.key()] = leaseAlive(o.Object, time.Now().Add(ahead))
			}
		}
	}
	if len(notes) == len(kinds) {
		return nil, nil, errors.New(notes[0])
	}
	for i := range found {
		found[i].Alive = alive[found[i].key()]
	}
	return found, notes, nil
}

func (l Leftover) key() string { return l.Namespace + "/" + l.Run }

func leftover(kind schema.GroupVersionResource, o unstructured.Unstructured) Leftover {
	notes := o.GetAnnotations()
	started, _ := time.Parse(time.RFC3339, notes[StartedAnnotation]) // zero where it was edited away
	return Leftover{
		Made: Made{kind, o.GetKind(), o.GetNamespace(), o.GetName(), o.GetUID(), o.GetCreationTimestamp().Time},
		Run:  o.GetLabels()[RunLabel], Host: notes[HostAnnotation], Started: started, Kept: notes[KeepAnnotation] == "true",
	}
}

// Clean removes what ended runs left, or, where a run is named, all that is that
// one's, alive, kept or not. It returns what it removed.
func (c *Client) Clean(ctx context.Context, found []Leftover, run string) ([]Leftover, error) {
	var removed []Leftover
	var failed []error
	for _, l := range found {
		if run == "" && (l.Alive || l.Kept) || run != "" && l.Run != run {
			continue
		}
		if err := c.remove(ctx, l.Made); err != nil {
			failed = append(failed, err)
			continue
		}
		removed = append(removed, l)
	}
	wait, stop := context.WithTimeout(ctx, removeTimeout)
	defer stop()
	for _, l := range removed {
		failed = appendError(failed, c.awaitMadeGone(wait, l.Made))
	}
	if run != "" && !slices.ContainsFunc(found, func(l Leftover) bool { return l.Run == run }) {
		return nil, &InputError{fmt.Errorf("nothing is here of a run %s", clip(run))}
	}
	return removed, errors.Join(failed...)
}

// Describe is a leftover in one line.
func (l Leftover) Describe(now time.Time) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s  run %s", l.Made, l.Run)
	if l.Host != "" {
		fmt.Fprintf(&out, " of %s", clip(l.Host))
	}
	if !l.Started.IsZero() {
		fmt.Fprintf(&out, ", begun %s ago", now.Sub(l.Started).Round(time.Second))
	}
	switch {
	case l.Alive:
		out.WriteString(", alive")
	case l.Kept:
		out.WriteString(", kept on purpose")
	default:
		out.WriteString(", ended")
	}
	return out.String()
}
