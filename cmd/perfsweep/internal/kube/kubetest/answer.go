package kubetest

import (
	"encoding/json"
	"net/http"
	"strings"
)

// Reply answers with an object.
func Reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // a client that has gone away
}

// Fail answers with an error as the API server does; without a name it is about
// the kind.
func Fail(w http.ResponseWriter, code int, reason, message, name string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code,
		"reason": reason, "message": message, "details": map[string]any{"name": name},
	})
}

// Review answers a SelfSubjectAccessReview.
func Review(w http.ResponseWriter, r *http.Request, allowed func(group, resource, verb string) bool) {
	var o struct {
		Spec struct {
			ResourceAttributes struct{ Group, Resource, Subresource, Verb string }
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&o); err != nil {
		Fail(w, http.StatusBadRequest, "BadRequest", err.Error(), "")
		return
	}
	a := o.Spec.ResourceAttributes
	if a.Subresource != "" {
		a.Resource += "/" + a.Subresource
	}
	Reply(w, map[string]any{
		"kind": "SelfSubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", "metadata": map[string]any{},
		"status": map[string]any{"allowed": allowed(a.Group, a.Resource, a.Verb)},
	})
}

// Selected reports whether an object's metadata meets a selector of labels: it
// understands "key" and "key=value", with commas between several.
func Selected(meta map[string]any, selector string) bool {
	labels, _ := meta["labels"].(map[string]any)
	for term := range strings.SplitSeq(selector, ",") {
		key, value, valued := strings.Cut(term, "=")
		if got, ok := labels[key]; term != "" && (!ok || valued && got != value) {
			return false
		}
	}
	return true
}
