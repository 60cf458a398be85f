package kube

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Access is a right that is needed in a namespace.
type Access struct{ Group, Resource, Verb string }

func accessTo(r schema.GroupResource, verbs ...string) []Access {
	var out []Access
	for _, v := range verbs {
		out = append(out, Access{r.Group, r.Resource, v})
	}
	return out
}

// DeployAccess is what bringing a deployment up and removing it takes.
func DeployAccess(s DeploySpec) []Access {
	out := accessTo(graphKind.GroupResource(), "create", "delete", "get")
	out = append(out, accessTo(leaseKind.GroupResource(), "create", "delete", "patch")...)
	out = append(out, Access{"", "pods", "list"}, Access{"", "services", "list"})
	out = append(out, Access{"", "pods/log", "get"})
	if s.GPUAccess == DRA {
		out = append(out, accessTo(claimTemplateKind.GroupResource(), "create", "delete", "get")...)
	}
	if s.cacheMade() {
		out = append(out, accessTo(claimKind.GroupResource(), "create", "delete", "get")...)
		out = append(out, accessTo(jobKind.GroupResource(), "create", "delete", "get")...)
	}
	return out
}

// LoadAccess is what load generators in this cluster take.
func (c *Client) LoadAccess() []Access {
	out := accessTo(jobKind.GroupResource(), "create", "get", "list", "delete")
	out = append(out, Access{"", "secrets", "create"}, Access{"", "secrets", "delete"})
	out = append(out, Access{"", "pods", "get"}, Access{"", "pods", "list"}, Access{"", "pods/log", "get"})
	if !c.inCluster {
		out = append(out, Access{"", "pods/proxy", "create"})
	}
	return out
}

// Lacking asks for each of some rights in a namespace, and returns those that
// this account does not have.
func (c *Client) Lacking(ctx context.Context, namespace string, need []Access) ([]Access, error) {
	var missing []Access
	for _, a := range need {
		resource, sub, _ := strings.Cut(a.Resource, "/")
		review := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
			"spec": map[string]any{"resourceAttributes": map[string]any{
				"namespace": namespace, "group": a.Group, "resource": resource, "subresource": sub, "verb": a.Verb,
			}},
		}}
		got, err := c.resource(reviewKind, "").Create(ctx, review, metav1.CreateOptions{})
		if err != nil {
			return nil, explain(err, "create", resourceName(reviewKind), "", "")
		}
		if ok, _, _ := unstructured.NestedBool(got.Object, "status", "allowed"); !ok {
			missing = append(missing, a)
		}
	}
	return missing, nil
}

// mayDo asks for every right before anything is made, and names all that are
// missing: a run that cannot remove what it made would leave GPUs occupied.
func (c *Client) mayDo(ctx context.Context, namespace, doing string, need []Access) error {
	missing, err := c.Lacking(ctx, namespace, need)
	if err != nil || len(missing) == 0 {
		return err
	}
	return fmt.Errorf("this account may not do what %s does in namespace %s; nothing was made. A Role there needs the rules %s", doing, namespace, Rules(missing))
}

// Rules are the RBAC rules that grant some rights.
func Rules(rights []Access) string {
	var rules []string
	for _, a := range rights {
		rules = append(rules, a.rule())
	}
	return strings.Join(rules, ", ")
}

// Summary names rights for a reader: create, delete, get jobs.batch; get pods/log.
func Summary(rights []Access) string {
	var order []string
	verbs := map[string][]string{}
	for _, a := range rights {
		name := a.Resource
		if a.Group != "" {
			name += "." + a.Group
		}
		if verbs[name] == nil {
			order = append(order, name)
		}
		verbs[name] = append(verbs[name], a.Verb)
	}
	for i, name := range order {
		slices.Sort(verbs[name])
		order[i] = strings.Join(slices.Compact(verbs[name]), ", ") + " " + name
	}
	return strings.Join(order, "; ")
}

func (a Access) rule() string {
	return fmt.Sprintf("{apiGroups: [%q], resources: [%q], verbs: [%q]}", a.Group, a.Resource, a.Verb)
}
