package kube

import (
	"context"
	"net"
	"net/http"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// insideDial is above the 7 s after which a third SYN is sent: a busy node may
// drop two.
const insideDial = 10 * time.Second

// newInside is the client for pods of the cluster that this process is in.
func newInside() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			DialContext:         (&net.Dialer{Timeout: insideDial}).DialContext,
			MaxIdleConnsPerHost: 8, IdleConnTimeout: time.Minute,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// OwnImage is the image of the pod that this process runs in, "" where it runs
// in none, or cannot tell.
func (c *Client) OwnImage(ctx context.Context) string {
	name, err := os.Hostname()
	if err != nil || !c.inCluster {
		return ""
	}
	u, err := c.resource(podKind, c.namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return ""
	}
	containers, _, _ := unstructured.NestedSlice(u.Object, "spec", "containers")
	if len(containers) != 1 { // which of them is this one is not known
		return ""
	}
	one, _ := containers[0].(map[string]any)
	image, _ := one["image"].(string)
	return image
}
