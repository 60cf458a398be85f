package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
)

// How long a target in a cluster may still come to serve. Pods are ready some
// seconds before every node leads their Service's connections to them, and a
// lost DNS packet alone costs 5 s (resolv.conf(5)). What was brought up a moment
// ago has the 5 minutes that AICR's evaluator gives it to answer.
const (
	settlesFor  = 30 * time.Second
	answersFor  = 5 * time.Minute
	askAgain    = 2 * time.Second
	repeatAfter = 15 * time.Second
)

// servesWithin is how long a target may still come to serve: what was named by
// its URL is there, or the URL is wrong.
func (c *campaign) servesWithin(t *target) time.Duration {
	switch {
	case !isClusterTarget(t.public):
		return 0
	case c.flags.deploy.on:
		return answersFor
	}
	return settlesFor
}

// frontendWords are what the frontend of a target in a cluster wrote last, for an
// error that says that it does not serve: its pods may be ready, and only their
// log says why.
func (c *campaign) frontendWords(ctx context.Context, target string, err error) string {
	var early *loadgen.NotYetError
	if !isClusterTarget(target) || !errors.As(err, &early) || ctx.Err() != nil {
		return ""
	}
	namespace, name, err := splitClusterTarget(target)
	if err != nil {
		return ""
	}
	cluster, err := c.flags.kube.open()
	if err != nil {
		return ""
	}
	return cluster.FrontendWords(ctx, namespace, name)
}

// untilServed tries until a target serves, gives another answer than that it is
// not ready yet, or has had its time. say hears each new reason, and from time
// to time that it is still the same.
func untilServed(ctx context.Context, within time.Duration, say func(string, ...any), try func(context.Context) (loadgen.Preflight, error)) (loadgen.Preflight, error) {
	began, told, toldAt := time.Now(), "", time.Time{}
	for {
		pre, err := try(ctx)
		var early *loadgen.NotYetError
		if err == nil || ctx.Err() != nil || within <= 0 || !errors.As(err, &early) {
			return pre, err
		}
		waited := time.Since(began).Round(time.Second)
		if time.Since(began)+askAgain > within {
			return pre, fmt.Errorf("it has not served within %s: %w; this says nothing of its performance", waited, err)
		}
		if why := err.Error(); why != told || time.Since(toldAt) >= repeatAfter {
			told, toldAt = why, time.Now()
			say("waiting for the target to serve, %s: %s", waited, strings.ReplaceAll(why, "\n", " "))
		}
		timer := time.NewTimer(askAgain)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return pre, fmt.Errorf("waiting for the target to serve: %w", ctx.Err())
		}
	}
}
