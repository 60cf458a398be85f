package kube

import (
	"maps"
	"slices"
	"strings"
)

// graph is a deployment while it is put together.
type graph struct {
	*Deployment
	object    object
	parts     []*part
	status    map[string]object // by component
	podsKnown bool
}

// note keeps why something is not known. A kind that the cluster does not have
// is known: there is none.
func (g *graph) note(err error) {
	if err != nil && !missingKind(err) && !slices.Contains(g.Notes, err.Error()) {
		g.Notes = append(g.Notes, err.Error())
	}
}

// part is a component with what only the assembly needs.
type part struct {
	Component
	perReplica int      // pods of a replica, more than one for multinode
	containers []object // the main one first
	env        []object
	words      []string // of the main container's command line
	limit      int      // GPUs of one pod by its limits
	slices     string   // a resource that is a part of a GPU
	claims     []claim
	scaling    string // what of the component's own fields scales it
	modelRef   string
	pods       []object // that exist and are meant to stay
}

// claim is a claim of devices by one pod.
type claim struct{ template, shared string }

// parseComponents reads both shapes of a spec: a map of services, or a list of
// components.
func parseComponents(o object) []*part {
	var out []*part
	spec := digMap(o, "spec")
	for _, c := range digMaps(spec, "components") {
		out = append(out, newComponent(spec, c))
	}
	services := digMap(spec, "services")
	for _, name := range slices.Sorted(maps.Keys(services)) {
		if s, ok := services[name].(map[string]any); ok && len(out) < maxItems {
			out = append(out, oldComponent(spec, name, s))
		}
	}
	return out
}

// newComponent reads the shape of v1beta1.
func newComponent(spec, c object) *part {
	p := &part{Component: Component{Name: digText(c, "name"), Type: digText(c, "type")}}
	p.common(c)
	pod := digMap(c, "podTemplate", "spec")
	p.read(digMaps(pod, "containers"), pod)
	p.env = append(p.env, digMaps(spec, "env")...)
	p.modelRef = digText(c, "modelRef", "name")
	return p
}

// oldComponent reads the shape of v1alpha1.
func oldComponent(spec object, name string, c object) *part {
	p := &part{Component: Component{Name: clip(name), Type: digText(c, "componentType")}}
	if sub := digText(c, "subComponentType"); sub == "prefill" || sub == "decode" {
		p.Type = sub
	}
	p.common(c)
	pod := digMap(c, "extraPodSpec")
	containers := digMaps(pod, "containers")
	if m := digMap(pod, "mainContainer"); m != nil {
		m = maps.Clone(m)
		m["name"] = "main"
		containers = append([]object{m}, containers...)
	}
	p.read(containers, pod)
	for _, kind := range []string{"requests", "limits"} {
		r := digMap(c, "resources", kind)
		if n, ok := digInt(r, "gpu"); ok {
			p.limit = n
		} else if n, ok := digInt(r, "custom", gpuResource); ok {
			p.limit = n
		}
	}
	p.env = append(append(p.env, digMaps(c, "envs")...), digMaps(spec, "envs")...)
	if on, _ := dig(c, "autoscaling", "enabled").(bool); on {
		p.scaling = "the autoscaling of component " + p.Name
	}
	return p
}

// common reads what both shapes have.
func (p *part) common(c object) {
	p.Replicas, p.perReplica = 1, 1
	if n, ok := digInt(c, "replicas"); ok {
		p.Replicas = n
	}
	if n, ok := digInt(c, "multinode", "nodeCount"); ok && n > 0 {
		p.perReplica = n
	}
	if adapter, ok := dig(c, "scalingAdapter").(map[string]any); ok {
		if on, said := adapter["enabled"].(bool); on || !said {
			p.scaling = "the scaling adapter of component " + p.Name
		}
	}
	if p.Type == "planner" && p.Replicas > 0 {
		p.scaling = "the planner, component " + p.Name
	}
}

// read takes what matters from the containers of a pod template.
func (p *part) read(containers []object, pod object) {
	main := named(containers, "main")
	if main == nil && len(containers) > 0 {
		main = containers[0]
	}
	if main == nil {
		return
	}
	p.containers = []object{main}
	for _, c := range containers {
		if digText(c, "name") != digText(main, "name") {
			p.containers = append(p.containers, c)
		}
	}
	p.Image = digText(main, "image")
	p.env = digMaps(main, "env")
	p.words = commandWords(main)
	p.limit, p.slices = gpuLimits(p.containers)
	used := map[string]bool{}
	for _, c := range p.containers {
		for _, r := range digMaps(c, "resources", "claims") {
			used[digText(r, "name")] = true
		}
	}
	for _, r := range digMaps(pod, "resourceClaims") {
		if used[digText(r, "name")] {
			p.claims = append(p.claims, claim{template: digText(r, "resourceClaimTemplateName"), shared: digText(r, "resourceClaimName")})
		}
	}
}

// maxWordsRead bounds how long a command line is looked through.
const maxWordsRead = 64 << 10

// commandWords splits a container's command line, of which a part may be a
// script for a shell, into words without quotes.
func commandWords(container object) []string {
	text := strings.Join(append(digTexts(container, "command"), digTexts(container, "args")...), "\n")
	if len(text) > maxWordsRead {
		text = text[:maxWordsRead]
	}
	words := strings.Fields(strings.ToValidUTF8(text, ""))
	for i, w := range words {
		words[i] = clip(strings.Trim(w, `"'\`))
	}
	return words
}

// option is the value of a command-line option, "" where it is not given, more
// than once differently, or by a variable.
func option(words []string, name string) string {
	found := map[string]bool{}
	for i, w := range words {
		if v, ok := strings.CutPrefix(w, name+"="); ok {
			found[strings.Trim(v, `"'`)] = true
		} else if w == name && i+1 < len(words) {
			found[words[i+1]] = true
		}
	}
	if v := only(found); !strings.Contains(v, "$") {
		return v
	}
	return ""
}

// envValue is the value of an environment variable that is written in the
// object: the first, which is the more specific one.
func (p *part) envValue(name string) string {
	if v := digText(named(p.env, name), "value"); !strings.Contains(v, "$") {
		return v
	}
	return ""
}

// servedNames are the first ways of readModel to name a model: they name it as
// it is asked for.
const servedNames = 4

// readModel finds the model's name and the router's mode, each where it is
// stated without contradiction.
func (g *graph) readModel() {
	for i, read := range []func(*part) string{
		func(p *part) string { return digText(g.status[p.Name], "servedModelName") },
		func(p *part) string { return option(p.words, "--served-model-name") },
		func(p *part) string { return p.envValue("SERVED_MODEL_NAME") },
		func(p *part) string { return option(p.words, "--model-name") },
		func(p *part) string { return option(p.words, "--model") },
		func(p *part) string { return option(p.words, "--model-path") },
		func(p *part) string { return p.modelRef },
	} {
		said := map[string]bool{}
		for _, p := range g.parts {
			if v := read(p); v != "" && (p.serves() || p.Type == "frontend") {
				said[v] = true
			}
		}
		if len(said) > 0 {
			g.Model = only(said)
			g.ModelServed = g.Model != "" && i < servedNames
			break
		}
	}
	modes := map[string]bool{}
	for _, p := range g.parts {
		if p.Type != "frontend" {
			continue
		}
		mode := option(p.words, "--router-mode")
		if mode == "" {
			mode = p.envValue("DYN_ROUTER_MODE")
		}
		if mode != "" {
			modes[mode] = true
		}
	}
	g.RouterMode = only(modes)
}
