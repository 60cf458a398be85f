package kube

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Why the pods of a deployment are not made is told by events of what the
// operator made of it since: not by those of others, nor of an earlier one of its
// name.
func TestRefusalOfDeployment(t *testing.T) {
	made := Made{Resource: graphKind, Kind: dgdKind, Namespace: "bench", Name: "perf", UID: "uid-of-it", At: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)}
	const violates = `Error creating: pods "x" is forbidden: violates PodSecurity "restricted:latest"`
	for name, c := range map[string]struct {
		owner, uid, reason, at string
		want                   bool
	}{
		"a ReplicaSet of it":        {"perf-frontend-5d", "another", "FailedCreate", "2026-11-30T12:00:01Z", true},
		"itself":                    {"perf", "uid-of-it", "FailedCreate", "2026-11-30T12:00:01Z", true},
		"one of an earlier time":    {"perf-frontend-5d", "another", "FailedCreate", "2026-11-30T11:59:00Z", false},
		"another deployment's":      {"performance-5d", "another", "FailedCreate", "2026-11-30T12:00:01Z", false},
		"something else that is so": {"perf-frontend-5d", "another", "SuccessfulCreate", "2026-11-30T12:00:01Z", false},
	} {
		f, client := newFakeAPI(t)
		f.mu.Lock()
		f.put("/api/v1/namespaces/bench/events/e", map[string]any{
			"apiVersion": "v1", "kind": "Event", "metadata": map[string]any{"name": "e", "namespace": "bench"},
			"reason": c.reason, "message": violates, "lastTimestamp": c.at,
			"involvedObject": map[string]any{"kind": "ReplicaSet", "name": c.owner, "uid": c.uid},
		})
		f.mu.Unlock()
		got := client.refusals(t.Context(), made)
		if got.hopeless != c.want || c.want != strings.Contains(got.reason, `PodSecurity "restricted:latest"; have the namespace's label pod-security.kubernetes.io/enforce allow them, or name another namespace in --target`) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	f, client := newFakeAPI(t)
	f.denied[Access{"", "events", "list"}] = true
	if got := client.refusals(t.Context(), made); got.reason != "" {
		t.Errorf("without the right to read events: %+v", got)
	}
}

// A rule that was applied ends a wait before what may be a bad minute does; a
// quota, which others may give back, does not.
func TestAwaitRefused(t *testing.T) {
	for reason, c := range map[string]struct {
		hopeless bool
		most     time.Duration
	}{"violates PodSecurity": {true, hopelessFor + 2*lookEvery}, "exceeded quota": {false, 10 * time.Minute}} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
			defer cancel()
			began := time.Now()
			err := await(ctx, "it", quiet, func(context.Context) (state, error) {
				var s state
				s.add(stuck{})
				s.add(stuck{reason: reason, hopeless: c.hopeless})
				return s, nil
			})
			if took := time.Since(began); err == nil || !strings.Contains(err.Error(), reason) || took > c.most || !c.hopeless && took < c.most {
				t.Errorf("%v after %s", err, fmt.Sprint(took))
			}
		})
	}
}
