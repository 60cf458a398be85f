package kube

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// pickVersion is the first of the wanted versions in which the cluster serves a
// resource. The group alone does not tell: others than Dynamo serve nvidia.com
// too, each kind in versions of its own.
func (c *Client) pickVersion(ctx context.Context, of schema.GroupVersionResource, want ...string) (string, error) {
	var group metav1.APIGroup
	found, err := c.about(ctx, "/apis/"+of.Group, &group)
	switch {
	case err != nil:
		return "", err
	case !found:
		return "", fmt.Errorf("the cluster does not serve the API %s", of.Group)
	}
	var have []string
	for _, v := range group.Versions {
		have = append(have, v.Version)
	}
	for _, v := range want {
		if !slices.Contains(have, v) {
			continue
		}
		var kinds metav1.APIResourceList
		if found, err = c.about(ctx, "/apis/"+of.Group+"/"+v, &kinds); err != nil {
			return "", err
		}
		if found && slices.ContainsFunc(kinds.APIResources, func(k metav1.APIResource) bool { return k.Name == of.Resource }) {
			return v, nil
		}
	}
	return "", fmt.Errorf("the cluster serves the API %s as %s, and %s in none of %s, which this program knows", of.Group, listed(have), of.Resource, listed(slices.Clone(want)))
}

// operatorLabel finds the operator's Deployment as its chart names it.
const operatorLabel = "app.kubernetes.io/name=dynamo-operator"

var semantic = regexp.MustCompile(`\d+\.\d+(?:\.\d+)?`)

// operators are the operator's Deployments, wherever they are. What they tell is
// advice: who may not read them is told nothing.
func (c *Client) operators(ctx context.Context) []object {
	list, err := c.listAll(ctx, deploymentKind, "", operatorLabel)
	if err != nil {
		return nil
	}
	return list
}

// versionSkew says where the operator, its chart and an image of a deployment are
// of different releases: the pair has panicked at start (AICR issue 1192).
func versionSkew(operators []object, images ...string) []string {
	var out []string
	for _, image := range images {
		for _, o := range operators {
			if s := skew(o, image); s != "" && !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	return out
}

// readVersions holds the images of a deployment against its operator.
func (s *survey) readVersions(ctx context.Context, g *graph) {
	var images []string
	for _, p := range g.parts {
		if (p.serves() || p.Type == "frontend") && p.Image != "" {
			images = append(images, p.Image)
		}
	}
	operators, err := s.list(ctx, deploymentKind, "", operatorLabel)
	if err != nil {
		return // advice
	}
	g.Notes = append(g.Notes, versionSkew(operators, images...)...)
}

// skew compares the releases that an operator's Deployment and an image tell.
func skew(operator object, image string) string {
	labels, _, _ := unstructured.NestedStringMap(operator, "metadata", "labels")
	told := [][2]string{{"image " + imageTag(image), release(imageTag(image))}}
	if chart := labels["helm.sh/chart"]; chart != "" {
		told = append(told, [2]string{"chart " + clip(chart), release(chart)})
	}
	containers, _, _ := unstructured.NestedSlice(operator, "spec", "template", "spec", "containers")
	for _, c := range containers {
		m, _ := c.(map[string]any)
		img, _ := m["image"].(string)
		if strings.Contains(img, "operator") {
			told = append(told, [2]string{"operator " + clip(imageTag(img)), release(imageTag(img))})
		}
	}
	var words []string
	releases := map[string]bool{}
	for _, t := range told {
		if t[1] != "" {
			releases[t[1]] = true
			words = append(words, t[0])
		}
	}
	if len(releases) < 2 {
		return ""
	}
	return "versions do not fit together: " + strings.Join(words, ", ") + "; a runtime of another release than its operator has failed at start, and is not what was tested together"
}

// release is the major and minor number in a tag or a chart's name.
func release(s string) string {
	v := semantic.FindString(s)
	if parts := strings.SplitN(v, ".", 3); len(parts) > 1 {
		return parts[0] + "." + parts[1]
	}
	return ""
}

// imageTag is what stands behind the last colon of the last part of a reference.
func imageTag(image string) string {
	image, _, _ = strings.Cut(image, "@")
	last := image[strings.LastIndex(image, "/")+1:]
	_, tag, _ := strings.Cut(last, ":")
	return tag
}
