package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/fleet"
	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/kube"
	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/loadgen"
)

// place is where in a cluster a target is.
type place struct {
	cluster         *kube.Client
	namespace, name string
	nodes           []string // that its pods run on
}

// loaders make the load of a target in a cluster, from pods next to it; nil
// stands for this process, which makes it for any other target. One Job serves
// a whole campaign: its pods stay warm from level to level.
type loaders struct {
	rest  context.CancelFunc // ends the calls that keep the pods
	job   *kube.LoadJob
	fleet *fleet.Fleet
	hosts []string // that may be reached through the pods
	pages []string // metrics pages of the engine's workers
}

// run makes one run. A pod that was lost in the one before has been replaced, or
// is waited for.
func (l *loaders) run(ctx context.Context, cfg loadgen.Config, pre loadgen.Preflight) (loadgen.Result, error) {
	if l == nil {
		return loadgen.Run(ctx, cfg)
	}
	if err := l.job.Ready(ctx); err != nil {
		return loadgen.Result{}, err
	}
	return l.fleet.Run(ctx, cfg, pre)
}

func (l *loaders) preflight(ctx context.Context, cfg loadgen.Config, spec loadgen.WorkloadSpec) (loadgen.Preflight, error) {
	if l == nil {
		return loadgen.RunPreflight(ctx, cfg, spec)
	}
	if err := l.job.Ready(ctx); err != nil {
		return loadgen.Preflight{}, err
	}
	return l.fleet.Preflight(ctx, cfg, spec)
}

// client is for what is asked beside the load: models, metrics, health.
func (l *loaders) client(cfg loadgen.Config) (*http.Client, error) {
	if l == nil {
		return loadgen.NewHTTPClient(cfg)
	}
	return &http.Client{Transport: l.fleet.HTTP(l.hosts...), Timeout: relayTimeout}, nil
}

// found are the metrics pages of the engine's workers.
func (l *loaders) found() []string {
	if l == nil {
		return nil
	}
	return l.pages
}

// relayTimeout bounds a small request that a pod makes for us.
const relayTimeout = 20 * time.Second

func (l *loaders) close(ctx context.Context) error {
	if l == nil {
		return nil
	}
	l.rest()
	return l.job.Close(ctx)
}

// A pod that nobody calls ends itself (see worker --alone); between windows a
// campaign may wait for hours.
const (
	aloneFor  = 10 * time.Minute
	keepEvery = 2 * time.Minute
)

// keep calls the pods now and then, so that they stay.
func (l *loaders) keep(ctx context.Context) {
	tick := time.NewTicker(keepEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			_, _ = l.fleet.Clock(ctx) // a pod that is lost is found by the next run
		}
	}
}

// askedLoad is what the flags ask for of the pods that make the load, beside a
// target in a namespace, and why there are so many.
func (c *campaign) askedLoad(ctx context.Context, cluster *kube.Client, namespace string, gpus int) (s kube.LoadSpec, why string, err error) {
	if s, err = c.flags.load.spec(func() string { return cluster.OwnImage(ctx) }); err != nil {
		return s, "", err
	}
	if err := c.flags.net.forCluster(c.changed); err != nil {
		return s, "", err
	}
	s.Namespace = cmp.Or(s.Namespace, namespace)
	s.Pods, why, err = c.flags.load.count(gpus, c.peakOf()*gpus)
	return s, why, err
}

// startLoaders brings the pods up that make the load of a target in a cluster.
func (c *campaign) startLoaders(ctx context.Context, t *target) error {
	at := t.place
	if at == nil {
		return c.flags.load.refuse(c.changed)
	}
	if t.loaders != nil {
		return nil
	}
	s, why, err := c.askedLoad(ctx, at.cluster, at.namespace, t.gpus)
	if err != nil {
		return err
	}
	if !kube.ValidCampaign(c.id) {
		c.id = kube.NewCampaign()
	}
	c.say("load generators: %s in namespace %s: %s", plural.Of(s.Pods, "pod"), s.Namespace, why)
	if err := c.clearLeft(ctx, t, s.Namespace); err != nil {
		return err
	}
	l := &loaders{}
	if l.pages, err = at.cluster.MetricsPages(ctx, at.namespace, at.name); err != nil {
		c.say("note: the engine's workers are not watched: %v", err)
	}
	l.hosts = hostsOf(append([]string{t.baseURL}, append(l.pages, c.flags.metrics...)...))
	if c.flags.load.offEngine {
		s.Avoid = at.nodes
	}
	token := rand.Text()
	s.OwnSecret = map[string]string{workerTokenEnv: token}
	s.Args = []string{"worker", "--quiet", "--allow", strings.Join(l.hosts, ",")}
	s.Port, s.Target, s.Version, s.Campaign, s.Run = fleet.DefaultPort, t.public, version, c.id, c.usage()
	s.Say = func(what string) { c.say("%s", what) }
	if l.job, err = at.cluster.StartLoad(ctx, s); err != nil {
		return err
	}
	t.loaders = l
	var pods []fleet.Pod
	for _, p := range l.job.Pods() {
		pods = append(pods, p)
	}
	l.fleet = fleet.New(pods, token)
	var kept context.Context
	kept, l.rest = context.WithCancel(ctx)
	go l.keep(kept)
	return c.sayClocks(ctx, l)
}

// release ends what was started for a target. What cannot be removed does not
// unmake what was measured: it is told at the end, and fails the command.
func (c *campaign) release(ctx context.Context, t *target) {
	if t != nil && t.loaders != nil {
		c.say("removing the load generators")
	}
	if err := t.close(ctx); err != nil {
		c.remains = append(c.remains, err)
	}
}

// clearLeft removes what a killed process left that continued the same journal,
// and warns of others on the same deployment.
func (c *campaign) clearLeft(ctx context.Context, t *target, namespace string) error {
	n, err := t.place.cluster.RemoveLoads(ctx, namespace, c.id)
	if err != nil {
		return fmt.Errorf("looking for load generators that an earlier process of this campaign left: %w", err)
	}
	if n > 0 {
		c.say("removed %s of load generators that an earlier process of this campaign had left", plural.Of(n, "Job"))
	}
	others, err := t.place.cluster.OtherLoads(ctx, namespace, t.public)
	if err != nil {
		return err
	}
	if len(others) > 0 {
		c.say("note: others put load on %s at this moment (%s in namespace %s): both measure each other", t.public, strings.Join(others, ", "), namespace)
	}
	return nil
}

// sayClocks tells how well the pods agree on the time: all begin at one moment.
func (c *campaign) sayClocks(ctx context.Context, l *loaders) error {
	offsets, err := l.fleet.Clock(ctx)
	if err != nil {
		return fmt.Errorf("reaching the load generators: %w", err)
	}
	var worst fleet.Offset
	for _, o := range offsets {
		if o.Uncertainty > worst.Uncertainty {
			worst = o
		}
	}
	c.say("the clocks of %s are known to %.1f ms at worst (%s)", plural.Of(len(offsets), "load generator"), float64(worst.Uncertainty)/float64(time.Millisecond), worst.Pod)
	return nil
}

// usage names this process's use of a cluster.
func (c *campaign) usage() kube.Run {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return kube.NewRun(host, time.Now())
}

// peakOf is the largest concurrency per GPU that a campaign may come to, as far
// as that is known before the server was asked.
func (c *campaign) peakOf() int {
	probe := c.plan
	if probe.MaxConcurrencyPerGPU == 0 {
		probe.MaxConcurrencyPerGPU = highestUpperEnd
	}
	return probe.Peak()
}

// hostsOf are the HOST:PORT of some URLs.
func hostsOf(urls []string) []string {
	var hosts []string
	for _, s := range urls {
		u, err := url.Parse(s)
		if err != nil || u.Hostname() == "" {
			continue
		}
		host := u.Host
		if u.Port() == "" {
			host += map[string]string{"http": ":80", "https": ":443"}[u.Scheme]
		}
		if !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	return hosts
}

// forCluster refuses flags that are about this machine's way to a target: the
// load takes another one.
func (n *netFlags) forCluster(changed func(string) bool) error {
	switch {
	case n.unixSocket != "" || n.proxy || n.caFile != "" || n.certFile != "" || n.keyFile != "":
		return badInput(errors.New("a k8s: target is reached from pods next to it: drop --unix-socket, --proxy-from-env and the files of certificates, which are this machine's"))
	case n.apiKeyFile != "" || changed("api-key-env"):
		return badInput(errors.New("a k8s: target is reached from pods next to it: give the API key as --api-key-secret NAME/KEY of a Secret there, so that it passes through nothing else"))
	}
	return nil
}
