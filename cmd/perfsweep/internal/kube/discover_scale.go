package kube

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/perfsweep/perfsweep/internal/plural"
)

// readAutoscalers finds what may change the number of workers while they are
// measured: the deployment's own fields, and objects that scale it. What is
// pinned to one number, or paused, is frozen and none.
func (s *survey) readAutoscalers(ctx context.Context, g *graph) {
	for _, p := range g.parts {
		if p.scaling != "" {
			g.Autoscalers = append(g.Autoscalers, p.scaling)
		}
	}
	adapters := map[string]bool{}
	if s.adapters != nil {
		list, err := s.list(ctx, *s.adapters, g.Namespace, "")
		g.note(err)
		for _, o := range list {
			if digText(o, "spec", "dgdRef", "name") == g.Name {
				name := digText(o, "metadata", "name")
				adapters[name] = true
				g.Autoscalers = append(g.Autoscalers, "DynamoGraphDeploymentScalingAdapter "+name)
			}
		}
	}
	hpas, err := s.list(ctx, hpaKind, g.Namespace, "")
	g.note(err)
	for _, o := range hpas {
		most, _ := digInt(o, "spec", "maxReplicas")
		least, said := digInt(o, "spec", "minReplicas")
		if !said {
			least = 1
		}
		if least != most && g.scaledBy(o, adapters) {
			g.Autoscalers = append(g.Autoscalers, fmt.Sprintf("HorizontalPodAutoscaler %s (%d to %s)", digText(o, "metadata", "name"), least, plural.Of(most, "replica")))
		}
	}
	var scaled []object
	// Whoever has no rule for a kind that is not installed is refused, too: the
	// directory tells the two apart.
	if installed, err := s.c.about(ctx, "/apis/"+scaledObjectKind.Group, &metav1.APIGroup{}); err != nil || installed {
		g.note(err)
		scaled, err = s.list(ctx, scaledObjectKind, g.Namespace, "")
		g.note(err)
	}
	for _, o := range scaled {
		notes := digMap(o, "metadata", "annotations")
		paused := digText(notes, "autoscaling.keda.sh/paused") == "true" || digText(notes, "autoscaling.keda.sh/paused-replicas") != ""
		if !paused && g.scaledBy(o, adapters) {
			g.Autoscalers = append(g.Autoscalers, "KEDA ScaledObject "+digText(o, "metadata", "name"))
		}
	}
}

// scaledBy reports whether an object's scaleTargetRef is a part of the
// deployment.
func (g *graph) scaledBy(o object, adapters map[string]bool) bool {
	kind, name := digText(o, "spec", "scaleTargetRef", "kind"), digText(o, "spec", "scaleTargetRef", "name")
	switch kind {
	case "DynamoGraphDeployment":
		return name == g.Name
	case "DynamoGraphDeploymentScalingAdapter":
		if adapters[name] {
			return true
		}
	}
	for _, p := range g.parts {
		s := g.status[p.Name]
		if name == ruleName(g, p) || name == digText(s, "componentName") || name == g.Name+"-0-"+strings.ToLower(p.Name) {
			return true
		}
		for _, n := range digTexts(s, "componentNames") {
			if n == name {
				return true
			}
		}
	}
	return false
}
