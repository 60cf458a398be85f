package kube

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// A run that has not renewed its lease for this long has ended, however it did.
// Leases tell the API server's time: the clocks of the machines that hold and read
// them need not agree.
const (
	leaseLasts = 3 * time.Minute
	leaseRenew = 20 * time.Second
	microTime  = "2006-01-02T15:04:05.000000Z07:00"
)

// Lease tells others that a run is alive.
type Lease struct {
	client *Client
	made   Made
	ahead  time.Duration // of the API server's clock before this one
	stop   context.CancelFunc
	done   sync.WaitGroup
}

func leaseName(run string) string { return "perfsweep-" + run }

// HoldLease makes the lease of a run and renews it until it is released.
func (c *Client) HoldLease(ctx context.Context, run Run, namespace string) (*Lease, error) {
	ahead := c.serverAhead(ctx)
	o := map[string]any{
		"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
		"metadata": map[string]any{"name": leaseName(run.ID), "namespace": namespace},
		"spec": map[string]any{
			"holderIdentity": run.Host, "leaseDurationSeconds": int64(leaseLasts / time.Second), "renewTime": time.Now().Add(ahead).UTC().Format(microTime),
		},
	}
	run.mark(o)
	got, err := c.create(ctx, leaseKind, &unstructured.Unstructured{Object: o})
	if err != nil {
		if perhapsMade(err) { // its name is the run's own; what stays has ended in 3 minutes
			within, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
			defer cancel()
			_ = c.resource(leaseKind, namespace).Delete(within, leaseName(run.ID), metav1.DeleteOptions{})
		}
		return nil, explain(err, "create", resourceName(leaseKind), namespace, leaseName(run.ID))
	}
	l := &Lease{client: c, ahead: ahead, made: Made{leaseKind, "Lease", namespace, got.GetName(), got.GetUID(), got.GetCreationTimestamp().Time}}
	ctx, l.stop = context.WithCancel(context.WithoutCancel(ctx))
	l.done.Go(func() { l.renew(ctx) })
	return l, nil
}

// serverAhead is how far the API server's clock is before this machine's, to a
// second; 0 where it does not tell.
func (c *Client) serverAhead(ctx context.Context) time.Duration {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	resp, err := c.send(ctx, c.short, http.MethodGet, "/version", nil, nil)
	if err != nil {
		return 0
	}
	_ = resp.Body.Close() // whatever it answers, its header has the time
	told, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil {
		return 0
	}
	return time.Until(told)
}

// renew writes the time. A call that fails is tried again with the next tick:
// several fit into the time that a lease lasts.
func (l *Lease) renew(ctx context.Context) {
	tick := time.NewTicker(leaseRenew)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			err := l.write(ctx, now.Add(l.ahead))
			if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
				return // it was removed: nobody else is told anything any more
			}
		}
	}
}

func (l *Lease) write(ctx context.Context, now time.Time) error {
	patch := fmt.Sprintf(`{"metadata":{"uid":%q},"spec":{"renewTime":%q}}`, l.made.UID, now.UTC().Format(microTime))
	_, err := l.client.resource(leaseKind, l.made.Namespace).Patch(ctx, l.made.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

// release ends the lease.
func (l *Lease) release(ctx context.Context) error {
	if l == nil {
		return nil
	}
	l.stop()
	l.done.Wait()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	return l.client.remove(ctx, l.made)
}

// leaseAlive reports whether the run that holds a lease is alive.
func leaseAlive(lease map[string]any, now time.Time) bool {
	text, _, _ := unstructured.NestedString(lease, "spec", "renewTime")
	renewed, err := time.Parse(time.RFC3339Nano, text)
	return err == nil && now.Sub(renewed) < leaseLasts
}
