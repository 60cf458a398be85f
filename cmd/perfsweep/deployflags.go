package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/kube"
	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/recipes"
)

const deployHelp = `With --deploy the deployment that a k8s:NAMESPACE/NAME target names is brought up first:
the one that AICR's evaluator makes for itself, for --model on --gpus GPUs, with a
volume that the model is downloaded into once. It waits with reasons, for at most
--deploy-timeout, and 5 minutes more for the first answer, measures, and removes what it
made, on every way out; --keep leaves it. --deploy-file FILE (YAML, all fields optional,
unknown ones refused) changes it: image, image_registry, image_pull_secrets,
gpus_per_worker, precision, router_mode, frontends, node_selector, tolerations (key,
value, effect), scheduler, kai_queue, kueue_queue, gpu_access (device-plugin or dra),
ca_bundle (config_map, key), model_pvc (a claim that holds the model: nothing is
downloaded) and model_cache (off, size, storage_class, token_secret, token_key). The
precision, else the one that the checkpoint's name tells, becomes the label of that
name. What a killed process left is listed by "perfsweep discover --leftovers".`

// deployFlags bring up what is measured.
type deployFlags struct {
	on      bool
	file    string
	image   string
	timeout time.Duration
	keep    bool
	times   int // deployments that are measured one after the other
}

// deployFlagNames are those that mean nothing without --deploy.
var deployFlagNames = [...]string{"deploy-file", "deploy-image", "deploy-timeout", "keep", "deployments"}

func (d *deployFlags) bind(f *pflag.FlagSet) {
	f.BoolVar(&d.on, "deploy", false, "bring up the deployment that --target k8s:NAMESPACE/NAME names, measure it, and remove it")
	f.StringVar(&d.file, "deploy-file", "", "--deploy: YAML file with what differs from AICR's own deployment")
	f.StringVar(&d.image, "deploy-image", "", "--deploy: image of its frontend and workers")
	f.DurationVar(&d.timeout, "deploy-timeout", 30*time.Minute, "--deploy: how long it may take until it is ready, pull, download and load included")
	f.BoolVar(&d.keep, "keep", false, "--deploy: leave the deployment in the cluster, and say how it is removed")
}

// bindTimes adds the flag of the command that needs several deployments.
func (d *deployFlags) bindTimes(f *pflag.FlagSet) {
	f.IntVar(&d.times, "deployments", 1, "--deploy: measure the operating point on this many fresh deployments, one after the other, a window each; 3 show what deployments differ by")
}

const maxDeployments = 10

func (d *deployFlags) check(m *measureFlags, changed func(string) bool) error {
	if !d.on {
		for _, f := range deployFlagNames {
			if changed(f) {
				return badInputf("--%s is for a deployment that --deploy brings up: add --deploy, or drop it", f)
			}
		}
		return nil
	}
	switch {
	case !isClusterTarget(m.target):
		return badInputf("--deploy brings up what --target k8s:NAMESPACE/NAME names; give such a target")
	case m.gpus < 1:
		return badInputf("--deploy needs --gpus N: how many GPUs the deployment is to have")
	case d.timeout <= 0:
		return badInputf("--deploy-timeout %s: must be greater than 0", d.timeout)
	case changed("deployments") && (d.times < 1 || d.times > maxDeployments):
		return badInputf("--deployments %d: must be between 1 and %d", d.times, maxDeployments)
	case d.times > 1 && m.journal == "":
		return badInputf("--deployments %d measures window after window of one campaign: name its --journal", d.times)
	case d.times > 1 && d.keep:
		return badInputf("--deployments %d needs the GPUs of one for the next: drop --keep", d.times)
	case d.times > 1 && (changed("window") || changed("deployment")):
		return badInputf("--deployments %d numbers the windows and names the deployments itself: drop --window and --deployment", d.times)
	}
	return nil
}

// spec is the deployment that the flags ask for.
func (d *deployFlags) spec(m *measureFlags, model string) (kube.DeploySpec, error) {
	var s kube.DeploySpec
	if d.file != "" {
		info, err := regularFile(d.file)
		if err != nil {
			return s, fmt.Errorf("--deploy-file: %w", err)
		}
		if info.Size() > recipes.MaxDeployment {
			return s, badInputf("%s: %d bytes is too large for the fields of a deployment", d.file, info.Size())
		}
		b, err := os.ReadFile(d.file)
		if err != nil {
			return s, fmt.Errorf("--deploy-file: %w", err)
		}
		if s, err = kube.ParseDeploySpec(d.file, b); err != nil {
			return s, badInput(err)
		}
	}
	if d.image != "" {
		s.Image = d.image
	}
	var err error
	if s.Namespace, s.Name, err = splitClusterTarget(m.target); err != nil {
		return s, err
	}
	s.Model, s.GPUs, s.Keep = model, m.gpus, d.keep
	s = s.WithDefaults()
	if err := s.Validate(); err != nil {
		return s, badInputf("--deploy: %w", err)
	}
	return s, nil
}

// compared is the deployment as gate C11 compares it.
func (d *deployFlags) compared(m *measureFlags, model string) (*recipes.Deployment, error) {
	s, err := d.spec(m, model)
	if err != nil {
		return nil, err
	}
	var file []byte
	for _, o := range s.Objects() {
		b, err := yaml.Marshal(o)
		if err != nil {
			return nil, fmt.Errorf("writing down the deployment: %w", err)
		}
		file = append(append(file, "---\n"...), b...)
	}
	return recipes.ParseDeployment("the deployment of --deploy", file)
}

// bringUp brings the deployment up and returns what removes it, which is never
// nil and must be called whatever became of it.
func (c *campaign) bringUp(ctx context.Context, s kube.DeploySpec) (remove func() error, err error) {
	none := func() error { return nil }
	client, err := c.flags.kube.open()
	if err != nil {
		return none, err
	}
	run := c.usage()
	c.say("deploying %s/%s: %s on %s, workers of %d, image %s; run %s", s.Namespace, s.Name, s.Model, plural.Of(s.GPUs, "GPU"), s.GPUsPerWorker, s.Image, run.ID)
	wait, stop := context.WithTimeoutCause(ctx, c.flags.deploy.timeout, errors.New("--deploy-timeout "+c.flags.deploy.timeout.String()+" has passed"))
	defer stop()
	d, err := client.Deploy(wait, run, s, func(line string) { c.say("     %s", line) })
	for _, n := range d.Notes {
		c.say("note: %s", n)
	}
	c.noted = d.Notes
	return func() error { // it runs in any case
		if c.flags.deploy.keep {
			c.say("%s", d.Kept())
			return d.Keep(ctx)
		}
		line := fmt.Sprintf("removing %s/%s", s.Namespace, s.Name)
		if ctx.Err() != nil {
			line += "; " + d.Unfinished()
		}
		c.say("%s", line)
		return d.Remove(ctx)
	}, kubeError(err)
}

// clusterTarget is how the target of a cluster begins.
const clusterTarget = "k8s:"

func isClusterTarget(s string) bool { return strings.HasPrefix(s, clusterTarget) }

func splitClusterTarget(s string) (namespace, name string, err error) {
	namespace, name, ok := strings.Cut(strings.TrimPrefix(s, clusterTarget), "/")
	if !ok || !kubeName.MatchString(namespace) || !kubeName.MatchString(name) {
		return "", "", badInputf("--target %.120q: use k8s:NAMESPACE/NAME", s)
	}
	return namespace, name, nil
}
