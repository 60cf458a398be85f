// Package kube is the only place that knows Kubernetes: it finds deployments,
// runs generators as Jobs, brings deployments up and removes what it made.
package kube

import (
	"crypto/rand"
	"maps"
	"strings"
	"time"
)

// The marks of everything that this program makes in a cluster, by which it is
// found again after a crash.
const (
	ManagedByLabel    = "app.kubernetes.io/managed-by"
	ManagedBy         = "perfsweep"
	RunLabel          = "perfsweep/run"
	HostAnnotation    = "perfsweep/host"
	StartedAnnotation = "perfsweep/started"
	KeepAnnotation    = "perfsweep/keep"
)

// Run names one use of a cluster by one process.
type Run struct {
	ID      string
	Host    string
	Started time.Time
}

// NewRun names a run that begins now on a host.
func NewRun(host string, now time.Time) Run {
	return Run{ID: strings.ToLower(rand.Text()[:10]), Host: host, Started: now.UTC()}
}

// Labels are those of an object of the run.
func (r Run) Labels() map[string]string {
	return map[string]string{ManagedByLabel: ManagedBy, RunLabel: r.ID}
}

// mark writes the run into an object, beside what its metadata has.
func (r Run) mark(object map[string]any) {
	meta := child(object, "metadata")
	labels := child(meta, "labels")
	maps.Copy(labels, asAny(r.Labels()))
	notes := child(meta, "annotations")
	notes[HostAnnotation], notes[StartedAnnotation] = r.Host, r.Started.Format(time.RFC3339)
}

// child is the map under a key, made where there is none.
func child(m map[string]any, key string) map[string]any {
	c, _ := m[key].(map[string]any)
	if c == nil {
		c = map[string]any{}
		m[key] = c
	}
	return c
}

// asAny is a string map as an unstructured object holds it.
func asAny(m map[string]string) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}
