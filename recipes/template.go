package recipes

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/perfsweep/perfsweep/internal/plural"
)

// What AICR's inference-perf check deploys for itself, one node at a time, as
// of August 2026 (testdata/inference/dynamo-deployment.yaml of its performance
// validator): one frontend, one vLLM worker a GPU, nothing set but the model. The
// GPU is a limit, or one claimed GPU where a node offers them by dynamic resource
// allocation.
const (
	TemplateImage  = "nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.2.1-cuda13"
	TemplateRouter = "least-loaded"
	templateModule = "dynamo.vllm"
)

// Differences compares a deployment with the one that AICR's evaluator makes of
// as many GPUs for a model: what differs, field by field, and what the
// deployment does not say. Only where both are empty are they equal.
func (d *Deployment) Differences(gpus int, model string) (differs, unknown []string) {
	say := func(format string, args ...any) { differs = append(differs, fmt.Sprintf(format, args...)) }
	ask := func(format string, args ...any) { unknown = append(unknown, fmt.Sprintf(format, args...)) }
	count := func(cs []Component) (n int) {
		for _, c := range cs {
			n += c.Replicas
		}
		return n
	}
	if n := count(d.Frontends); n != 1 {
		say("frontends: %d, not 1", n)
	}
	if n := count(d.Workers); n != gpus || len(d.Workers) != 1 {
		say("workers: %d in %s, not %d in 1, one a GPU", n, plural.Of(len(d.Workers), "component"), gpus)
	}
	for _, c := range d.Others {
		say("component %s: not in the template", clip(c.Name))
	}
	switch {
	case d.RouterMode == "":
		say("router mode: not set, and so the default of the image, not %s", TemplateRouter)
	case d.RouterMode != TemplateRouter:
		say("router mode: %s, not %s", clip(d.RouterMode), TemplateRouter)
	}
	for _, c := range d.Frontends {
		if c.GPUs > 0 || c.Claimed {
			say("GPUs of the frontend: %d, not 0", c.GPUs)
		}
		c.compare(say, ask, "frontend", []string{"--router-mode"})
	}
	for _, c := range d.Workers {
		c.compare(say, ask, "worker", []string{"--kv-events-config"})
		c.compareWorker(say, ask, model)
	}
	return differs, unknown
}

// compare looks at what every component has.
func (c Component) compare(say, ask func(string, ...any), what string, known []string) {
	switch {
	case c.Image == "":
		ask("image of the %s", what)
	case c.Image != TemplateImage:
		say("image of the %s: %s, not %s", what, clip(c.Image), TemplateImage)
	}
	for _, f := range c.Flags {
		if name, _, _ := strings.Cut(f, " "); !slices.Contains(known, name) {
			if _, value, ok := strings.Cut(f, " "); ok {
				f = name + " " + shown(name, value)
			}
			say("flag of the %s: %s", what, clip(f))
		}
	}
	for _, l := range c.Limits {
		say("resource of the %s: %s is requested or limited", what, clip(l))
	}
	for _, k := range slices.Sorted(maps.Keys(c.Env)) {
		if strings.HasPrefix(k, "VLLM_") {
			say("environment of the %s: %s=%s", what, clip(k), clip(shown(k, c.Env[k])))
		}
	}
	if c.Nodes != 1 {
		say("nodes of a %s: %d, not 1", what, c.Nodes)
	}
}

// shown keeps a value that may be a secret out of what is printed and kept, such
// as that of VLLM_API_KEY.
func shown(name, value string) string {
	for _, word := range []string{"key", "token", "secret", "password", "credentials"} {
		if strings.HasSuffix(strings.ToLower(name), word) && value != "" {
			return "(not shown)"
		}
	}
	return value
}

func (c Component) compareWorker(say, ask func(string, ...any), model string) {
	switch {
	case c.Module == "":
		ask("engine of the worker (its command)")
	case c.Module != templateModule:
		say("engine of the worker: %s, not %s", clip(c.Module), templateModule)
	}
	switch {
	case c.Model == "":
		ask("model of the worker (--model)")
	case c.Model != model:
		say("model of the worker: %s, not %s", clip(c.Model), clip(model))
	}
	for _, odd := range c.Claims {
		say("claim of the worker: %s", odd)
	}
	switch {
	case len(c.Unresolved) > 0:
		ask("GPUs of a worker (the file has no ResourceClaimTemplate %s; put it beside the deployment)", clip(strings.Join(c.Unresolved, ", ")))
	case c.GPUs == 0 && len(c.Claims) == 0:
		ask("GPUs of a worker (it has neither a limit nor a claim)")
	case c.GPUs != 1 && len(c.Claims) == 0:
		say("GPUs of a worker: %d, not 1", c.GPUs)
	}
}
