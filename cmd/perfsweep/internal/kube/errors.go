package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// InputError is a mistake in what the user named: a kubeconfig, a context, a
// deployment that does not exist.
type InputError struct{ err error }

func (e *InputError) Error() string { return e.err.Error() }
func (e *InputError) Unwrap() error { return e.err }

func inputf(format string, args ...any) error {
	return &InputError{fmt.Errorf(format, args...)}
}

// apiError is an error of the API server in our words. errors.As still finds
// the server's own, so apierrors.IsForbidden and the like work on it.
type apiError struct {
	msg string
	err error
}

func (e *apiError) Error() string { return e.msg }
func (e *apiError) Unwrap() error { return e.err }

// maxWords bounds what of a server's words goes into a message of ours.
const maxWords = 300

// explain turns an error of a call into a sentence that says what was tried,
// on what, and what to do. resource carries its API group behind a dot
// ("pods", "pods/log", "deployments.apps"); ns is empty for the whole cluster,
// name for all objects.
func explain(err error, verb, resource, ns, name string) error {
	if err == nil {
		return nil
	}
	what := verb + " " + resource
	if name != "" {
		what += " " + clip(name)
	}
	where := " in the whole cluster"
	if ns != "" {
		where = " in namespace " + clip(ns)
	}
	say := func(format string, args ...any) error { return &apiError{fmt.Sprintf(format, args...), err} }
	switch status := apierrors.APIStatus(nil); {
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("%s%s: %w", what, where, err)
	case errors.As(err, &status):
		return explainStatus(status.Status(), say, what, where, missingRule(verb, resource, ns))
	}
	if strings.Contains(err.Error(), "getting credentials") {
		return say("%s%s: the kubeconfig's credential plugin gives no credentials (%s); run it by hand, log in again, or choose another --context", what, where, clip(err.Error()))
	}
	if answered(err) {
		return say("%s%s: the answer cannot be read as one of a Kubernetes API server (%s); does the kubeconfig's server lead to one, and not to a login page or a proxy?", what, where, clip(err.Error()))
	}
	return say("%s%s: the API server cannot be reached (%s); is the kubeconfig's context right, and the cluster up?", what, where, clip(err.Error()))
}

// answered reports whether an error is about what was answered: the way there, and
// the time for it, held.
func answered(err error) bool {
	var way *url.Error
	var network net.Error
	return !errors.As(err, &way) && !errors.As(err, &network) && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, io.ErrUnexpectedEOF)
}

func explainStatus(s metav1.Status, say func(string, ...any) error, what, where, rule string) error {
	switch s.Reason {
	case metav1.StatusReasonForbidden:
		if !strings.Contains(s.Message, "cannot ") { // a quota or an admission policy, which no rule repairs
			return say("%s%s is refused: %s", what, where, clip(s.Message))
		}
		who := "this user"
		if _, rest, ok := strings.Cut(s.Message, `User "`); ok {
			who, _, _ = strings.Cut(rest, `"`)
		}
		return say("%s is not allowed to %s%s; %s", clip(who), what, where, rule)
	case metav1.StatusReasonUnauthorized:
		return say("%s%s: the API server does not accept the credentials; log in again, or choose another --context", what, where)
	case metav1.StatusReasonNotFound:
		if s.Details == nil || s.Details.Name == "" { // as missingKind
			return say("%s%s: this cluster does not serve that kind", what, where)
		}
		return say("%s%s: it does not exist", what, where)
	}
	return say("%s%s: %s", what, where, clip(s.Message))
}

// missingRule is the RBAC rule that would have allowed a call.
func missingRule(verb, resource, ns string) string {
	plural, group, _ := strings.Cut(resource, ".")
	if i := strings.Index(plural, "/"); i < 0 && strings.Contains(group, "/") { // jobs.batch/status
		var sub string
		group, sub, _ = strings.Cut(group, "/")
		plural += "/" + sub
	}
	kind := "a ClusterRole"
	if ns != "" {
		kind = "a Role in namespace " + clip(ns)
	}
	return fmt.Sprintf(`bind it to %s with the rule {apiGroups: [%q], resources: [%q], verbs: [%q]}`, kind, group, plural, verb)
}

// statusError is the error that a raw answer stands for, nil below 400. It
// reads, but does not close, the body.
func statusError(resp *http.Response) error {
	if resp.StatusCode < http.StatusBadRequest {
		return nil
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err != nil {
		return fmt.Errorf("reading the API server's error: %w", err)
	}
	var s metav1.Status
	if json.Unmarshal(body, &s) == nil && s.Kind == "Status" && s.Status == metav1.StatusFailure {
		return &apierrors.StatusError{ErrStatus: s}
	}
	s = metav1.Status{Status: metav1.StatusFailure, Code: int32(resp.StatusCode), Message: resp.Status + ": " + clip(string(body))}
	switch resp.StatusCode {
	case http.StatusUnauthorized:
		s.Reason = metav1.StatusReasonUnauthorized
	case http.StatusNotFound:
		s.Reason = metav1.StatusReasonNotFound
	}
	return &apierrors.StatusError{ErrStatus: s}
}

// clip bounds a word of others and keeps it on one line.
func clip(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ")
	if len(s) > maxWords {
		s = strings.ToValidUTF8(s[:maxWords], "") + "…"
	}
	return s
}

// names lists the keys of a map for a message.
func names[V any](m map[string]V) string {
	if len(m) == 0 {
		return "none"
	}
	return clip(strings.Join(slices.Sorted(maps.Keys(m)), ", "))
}
