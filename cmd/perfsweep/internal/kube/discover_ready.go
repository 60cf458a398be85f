package kube

import (
	"fmt"
	"strings"

	"github.com/perfsweep/perfsweep/internal/plural"
)

// statusOf is the operator's word on each component, old or new.
func statusOf(o object) map[string]object {
	out := map[string]object{}
	for _, list := range []string{"services", "components"} {
		for name, s := range digMap(o, "status", list) {
			if m, ok := s.(map[string]any); ok {
				out[name] = m
			}
		}
	}
	return out
}

// readReadiness collects every reason for which a deployment is not ready. An
// operator may have written its verdict for an older generation, or while five
// of eight workers were up: its word is one of several.
func (g *graph) readReadiness() {
	no := func(format string, args ...any) { g.NotReady = append(g.NotReady, fmt.Sprintf(format, args...)) }
	if digText(g.object, "metadata", "deletionTimestamp") != "" {
		no("it is being deleted")
	}
	if seen, ok := digInt(g.object, "status", "observedGeneration"); ok && int64(seen) < g.Generation {
		no("the operator has seen generation %d of %d", seen, g.Generation)
	}
	g.verdict(no)
	serving, frontends := 0, 0
	for _, p := range g.parts {
		if p.serves() {
			serving += p.Replicas
		}
		if p.Type == "frontend" {
			frontends += p.Replicas
		}
		g.partReady(p, no)
	}
	if serving == 0 {
		no("it has no worker")
	}
	if frontends == 0 {
		no("it has no frontend")
	}
	if frontends > 0 && g.Frontend.URL() == "" {
		no("its frontend has no Service and no ready pod")
	}
	g.Ready = len(g.NotReady) == 0
}

// verdict is what the operator says of the whole.
func (g *graph) verdict(no func(string, ...any)) {
	state := digText(g.object, "status", "state")
	for _, c := range digMaps(g.object, "status", "conditions") {
		if digText(c, "type") != "Ready" {
			continue
		}
		if word := digText(c, "status"); word != "True" {
			why := strings.Trim(digText(c, "reason")+": "+digText(c, "message"), ": ")
			no("its condition Ready is %s (%s)", word, why)
		} else if state == "failed" {
			no("its state is failed")
		}
		return
	}
	switch state { // of operators without conditions
	case "successful":
	case "":
		no("the operator has not reported on it: is the Dynamo operator running?")
	default:
		no("its state is %s", state)
	}
}

// partReady compares replicas with what should be, by the operator and by the
// pods themselves; missing both is not ready.
func (g *graph) partReady(p *part, no func(string, ...any)) {
	s := g.status[p.Name]
	ready, told := digInt(s, "readyReplicas")
	if !told {
		ready, told = digInt(s, "availableReplicas")
	}
	pods := p.Ready // counted in pods
	wanted := p.Replicas * p.perReplica
	if told {
		p.Ready = ready
	} else {
		p.Ready = pods / p.perReplica
	}
	switch {
	case told && ready != p.Replicas:
		no("component %s: %d of %s %s ready%s", p.Name, ready, plural.Of(p.Replicas, "replica"), plural.VerbOf(ready, p.Replicas, "is", "are"), p.troubles())
	case len(p.pods) > 0 && pods != wanted:
		no("component %s: %d of %s %s ready%s", p.Name, pods, plural.Of(wanted, "pod"), plural.VerbOf(pods, wanted, "is", "are"), p.troubles())
	case !told && g.podsKnown && pods != wanted:
		no("component %s: no pod with the operator's labels is there", p.Name)
	case !told && !g.podsKnown && wanted > 0:
		no("component %s: neither the operator nor its pods tell whether it is ready", p.Name)
	}
	if n, ok := digInt(s, "updatedReplicas"); ok && n < p.Replicas {
		no("component %s: a rollout has replaced %d of %s", p.Name, n, plural.Of(p.Replicas, "replica"))
	}
	if p.ImageID == "" && len(p.pods) > 1 && pods == wanted {
		if ids := p.digests(); len(ids) > 1 {
			no("component %s: its pods run %s", p.Name, plural.Of(len(ids), "different image"))
		}
	}
}

func (p *part) digests() map[string]bool {
	out := map[string]bool{}
	for _, pod := range p.pods {
		if _, digest := imageOf(pod); digest != "" {
			out[digest] = true
		}
	}
	return out
}

// troubles explains the first pods that are not ready.
func (p *part) troubles() string {
	var out []string
	for _, pod := range p.pods {
		if !podReady(pod) && len(out) < 3 {
			out = append(out, trouble(pod))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return " (" + strings.Join(out, "; ") + ")"
}
