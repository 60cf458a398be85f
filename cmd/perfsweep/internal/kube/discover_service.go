package kube

import (
	"context"
	"fmt"
	"strings"
)

// frontendPort is where a frontend serves unless its Service says otherwise.
const frontendPort = 8000

// readFrontend finds the address of a deployment: the Service that carries its
// labels, else the one that the operator's rule names, else its frontend's pod.
// A Service of another deployment is never taken.
func (s *survey) readFrontend(ctx context.Context, g *graph) {
	services, err := s.list(ctx, serviceKind, g.Namespace, "")
	g.note(err)
	var labelled, byRule []object
	for _, o := range services {
		owner := digText(o, "metadata", "labels", labelGraph)
		switch {
		case digText(o, "spec", "type") == "ExternalName":
		case owner == g.Name && digText(o, "metadata", "labels", labelType) == "frontend":
			labelled = append(labelled, o)
		case owner == "" || owner == g.Name:
			for _, p := range g.parts {
				if p.Type == "frontend" && digText(o, "metadata", "name") == ruleName(g, p) {
					byRule = append(byRule, o)
				}
			}
		}
	}
	for _, found := range [][]object{labelled, byRule} {
		if found = preferred(found); len(found) == 1 {
			g.Frontend = Service{Name: digText(found[0], "metadata", "name"), Namespace: g.Namespace, Port: servicePort(found[0])}
			return
		}
		if len(found) > 1 {
			var all []string
			for _, o := range found {
				all = append(all, digText(o, "metadata", "name"))
			}
			g.NotReady = append(g.NotReady, fmt.Sprintf("several Services are its frontend: %s; name the URL of one with --target http://…", clip(strings.Join(all, ", "))))
			return
		}
	}
	for _, p := range g.parts {
		if p.Type != "frontend" {
			continue
		}
		if err != nil { // Services may not be listed: the rule's name is all there is
			g.Frontend = Service{Name: ruleName(g, p), Namespace: g.Namespace, Port: frontendPort}
			return
		}
		if len(p.pods) == 1 && podReady(p.pods[0]) {
			if ip := digText(p.pods[0], "status", "podIP"); ip != "" {
				g.Frontend = Service{PodIP: ip, Namespace: g.Namespace, Port: frontendPort}
				g.Notes = append(g.Notes, "the frontend has no Service; its only pod is addressed")
				return
			}
		}
	}
}

// ruleName is the name that the operator gives a component's Service.
func ruleName(g *graph, p *part) string {
	return g.Name + "-" + strings.ToLower(p.Name)
}

// preferred leaves out headless Services where there are others.
func preferred(services []object) []object {
	var out []object
	for _, o := range services {
		if digText(o, "spec", "clusterIP") != "None" {
			out = append(out, o)
		}
	}
	if len(out) == 0 {
		return services
	}
	return out
}

// servicePort prefers 8000, then a port called http, then the first.
func servicePort(o object) int {
	ports := digMaps(o, "spec", "ports")
	for _, p := range ports {
		if n, _ := digInt(p, "port"); n == frontendPort {
			return n
		}
	}
	if n, ok := digInt(named(ports, "http"), "port"); ok {
		return n
	}
	for _, p := range ports {
		if n, ok := digInt(p, "port"); ok {
			return n
		}
	}
	return frontendPort
}
