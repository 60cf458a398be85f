package kube

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// graphReady reads what the operator says of a deployment of this run.
func (d *Deployed) graphReady(ctx context.Context) (ready bool, notReady []string, err error) {
	m := d.made[len(d.made)-1]
	o, err := d.client.resource(m.Resource, m.Namespace).Get(ctx, m.Name, metav1.GetOptions{})
	if err != nil {
		return false, nil, explain(err, "get", resourceName(m.Resource), m.Namespace, m.Name)
	}
	if o.GetUID() != m.UID {
		return false, nil, fmt.Errorf("%s/%s is another one by now: somebody removed the one that was made", m.Namespace, m.Name)
	}
	status, why := condition(o.Object, "Ready")
	state, _, _ := unstructured.NestedString(o.Object, "status", "state")
	seen, told, _ := unstructured.NestedInt64(o.Object, "status", "observedGeneration")
	switch {
	case told && seen < o.GetGeneration():
		notReady = append(notReady, "the operator has not seen it yet")
	case status == "True", status == "" && state == "successful":
	default:
		notReady = append(notReady, "the operator says "+orUnknown(state)+" "+why)
	}
	for _, key := range []string{"components", "services"} {
		parts, _, _ := unstructured.NestedMap(o.Object, "status", key)
		for name, p := range parts {
			m, _ := p.(map[string]any)
			want, _, _ := unstructured.NestedInt64(m, "replicas")
			have, _, _ := unstructured.NestedInt64(m, "readyReplicas")
			if have < want {
				notReady = append(notReady, fmt.Sprintf("%s: %d of %d ready", clip(name), have, want))
			}
		}
	}
	slices.Sort(notReady) // maps have no order, and a change is told
	return len(notReady) == 0, notReady, nil
}

func orUnknown(s string) string {
	if s == "" {
		return "nothing"
	}
	return clip(s)
}
