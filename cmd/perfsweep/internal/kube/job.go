package kube

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/perfsweep/perfsweep/internal/plural"
)

// LoadJob is the Job of load generators. Close removes it, whatever has become
// of it meanwhile.
type LoadJob struct {
	c       *Client
	spec    LoadSpec
	name    string
	uid     types.UID // "" until the API server has told it
	pods    []*LoadPod
	ran     bool  // all of them, at some time
	refused stuck // why pods could not even be made, as events told last
	closing sync.Mutex
	closed  bool
}

// StartLoad makes the Job of load generators and waits until every pod of it
// runs. On an error nothing of it is left, unless the error says so.
func (c *Client) StartLoad(ctx context.Context, s LoadSpec) (*LoadJob, error) {
	if err := s.check(); err != nil {
		return nil, &InputError{err}
	}
	if err := c.mayDo(ctx, s.Namespace, "a k8s: target", c.LoadAccess()); err != nil {
		return nil, err
	}
	j := &LoadJob{c: c, spec: s, name: "perfsweep-load-" + strings.ToLower(rand.Text()[:10])}
	for i := range s.Pods {
		j.pods = append(j.pods, &LoadPod{job: j, index: i})
	}
	started := false
	defer func() { // a panic too leaves nothing
		if !started {
			_ = j.Close(ctx) // joined below where there is somebody to tell
		}
	}()
	if err := j.start(ctx); err != nil {
		return nil, errors.Join(err, j.Close(ctx))
	}
	started = true
	return j, nil
}

func (j *LoadJob) start(ctx context.Context) error {
	ns := j.spec.Namespace
	job := &unstructured.Unstructured{Object: j.spec.job(j.name)}
	made, err := j.c.create(ctx, jobKind, job)
	if err != nil {
		return fmt.Errorf("starting the load generators: %w", explain(err, "create", "jobs.batch", ns, j.name))
	}
	j.uid = made.GetUID()
	// After the Job, whose it is: a kill between the two leaves nothing for
	// ever. The pods are not there yet, or wait for it.
	if len(j.spec.OwnSecret) > 0 {
		secret := &unstructured.Unstructured{Object: j.spec.secret(j.name, string(j.uid))}
		if _, err := j.c.create(ctx, secretKind, secret); err != nil {
			return fmt.Errorf("starting the load generators: %w", explain(err, "create", "secrets", ns, j.name))
		}
	}
	return j.Ready(ctx)
}

// Name is the Job's.
func (j *LoadJob) Name() string { return j.name }

// Pods are the load generators, one an index. They outlive what runs under
// their index: a pod that was replaced is the same LoadPod in another incarnation.
func (j *LoadJob) Pods() []*LoadPod { return j.pods }

// closeTime bounds a removal: pods have podGrace, but a kubelet that is busy, or
// an API server that is away, takes its time.
const closeTime = removeTimeout

// Close removes the Job, its pods and its Secret, and returns when they are
// gone. It may be called again, and works when ctx has ended.
func (j *LoadJob) Close(ctx context.Context) error {
	j.closing.Lock()
	defer j.closing.Unlock()
	if j.closed {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	if err := j.c.removeLoad(ctx, j.spec.Namespace, j.name, j.uid); err != nil {
		return err
	}
	j.closed = true
	return nil
}

// removeLoad removes one Job with what belongs to it, and waits until it is gone.
func (c *Client) removeLoad(ctx context.Context, ns, name string, uid types.UID) error {
	background := metav1.DeletePropagationBackground
	opts := metav1.DeleteOptions{PropagationPolicy: &background}
	if uid != "" {
		opts.Preconditions = &metav1.Preconditions{UID: &uid}
	}
	if err := c.resource(jobKind, ns).Delete(ctx, name, opts); err != nil && !gone(err) {
		return left(ns, name, explain(err, "delete", "jobs.batch", ns, name))
	}
	// The collector takes the Secret as well, later.
	if err := c.resource(secretKind, ns).Delete(ctx, name, metav1.DeleteOptions{}); err != nil && !gone(err) && !apierrors.IsForbidden(err) {
		return left(ns, name, explain(err, "delete", "secrets", ns, name))
	}
	return c.awaitLoadGone(ctx, ns, name)
}

func (c *Client) awaitLoadGone(ctx context.Context, ns, name string) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		pods, err := c.jobPods(ctx, ns, name)
		if err == nil && len(pods) == 0 {
			_, err = c.resource(jobKind, ns).Get(ctx, name, metav1.GetOptions{})
			if gone(err) {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			if err == nil {
				err = fmt.Errorf("%s %s still there after %s", plural.Of(len(pods), "pod"), plural.Verb(len(pods), "is", "are"), closeTime)
			}
			return left(ns, name, err)
		case <-tick.C:
		}
	}
}

// gone says that an object was not there, or another one of its name is.
func gone(err error) bool { return apierrors.IsNotFound(err) || apierrors.IsConflict(err) }

// left says what may remain, and how to remove it.
func left(ns, name string, err error) error {
	return fmt.Errorf("the load generators may still be there: %w; remove them with: kubectl -n %s delete job,secret %s", err, ns, name)
}

// jobPods lists the pods of a Job.
func (c *Client) jobPods(ctx context.Context, ns, job string) ([]podView, error) {
	list, err := c.resource(podKind, ns).List(ctx, metav1.ListOptions{LabelSelector: jobLabel + "=" + job})
	if err != nil {
		return nil, explain(err, "list", "pods", ns, "")
	}
	return views[podView](list)
}

// RemoveLoads removes the Jobs that a killed process of the same campaign left,
// and says how many there were. No living one has any: it would hold the lock of
// the campaign's journal.
func (c *Client) RemoveLoads(ctx context.Context, ns, campaign string) (int, error) {
	if !ValidCampaign(campaign) {
		return 0, fmt.Errorf("the campaign's id %q: use up to 20 lower-case letters and digits", clip(campaign))
	}
	list, err := c.loads(ctx, ns, CampaignLabel+"="+campaign)
	if err != nil {
		return 0, err
	}
	for _, job := range list {
		within, cancel := context.WithTimeout(ctx, closeTime)
		err := c.removeLoad(within, ns, job.GetName(), job.GetUID())
		cancel()
		if err != nil {
			return 0, err
		}
	}
	return len(list), nil
}

// OtherLoads are the Jobs of others that put load on the same target now: two
// measurements of one deployment at once measure each other.
func (c *Client) OtherLoads(ctx context.Context, ns, target string) ([]string, error) {
	list, err := c.loads(ctx, ns, "")
	var names []string
	for _, job := range list {
		active, _, _ := unstructured.NestedInt64(job.Object, "status", "active")
		if job.GetAnnotations()[targetAnnotation] == target && active > 0 {
			names = append(names, job.GetName())
		}
	}
	return names, err
}

func (c *Client) loads(ctx context.Context, ns, also string) ([]unstructured.Unstructured, error) {
	selector := ManagedByLabel + "=" + ManagedBy + "," + componentLabel + "=" + componentLoad
	if also != "" {
		selector += "," + also
	}
	list, err := c.resource(jobKind, ns).List(ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return nil, explain(err, "list", "jobs.batch", ns, "")
	}
	return list.Items, nil
}
