package kube

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// systemPort is where Dynamo's operator makes workers serve their metrics.
const systemPort = 9090

// MetricsPages are the metrics pages of the pods that hold GPUs in a deployment:
// every worker's, on the port that the operator gives it.
func (c *Client) MetricsPages(ctx context.Context, ns, name string) ([]string, error) {
	list, err := c.resource(podKind, ns).List(ctx, metav1.ListOptions{LabelSelector: "nvidia.com/dynamo-graph-deployment-name=" + name})
	if err != nil {
		return nil, explain(err, "list", "pods", ns, "")
	}
	all, err := views[podView](list)
	if err != nil {
		return nil, err
	}
	var pages []string
	for _, p := range all {
		if isWorker(p.Metadata.Labels["nvidia.com/dynamo-component-type"]) && p.ready() && p.Status.PodIP != "" {
			pages = append(pages, fmt.Sprintf("http://%s:%d/metrics", hostOf(p.Status.PodIP), systemPort))
		}
	}
	slices.Sort(pages)
	return pages, nil
}

func isWorker(componentType string) bool {
	return slices.Contains([]string{"worker", "prefill", "decode"}, componentType)
}
