package kube

import (
	"context"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// waysOut are what can be done where pods are refused, in the words of the flags
// that made them.
type waysOut struct {
	less      string // to ask for less of what a quota counts
	sizes     string // to fit into a LimitRange
	elsewhere string // to go where others rule
}

func loadWays() waysOut {
	return waysOut{"ask for less with --load-pods, --load-cpu and --load-memory", "change --load-cpu and --load-memory", "name another namespace with --load-namespace"}
}

func deployWays() waysOut {
	return waysOut{"ask for less with --gpus", "have it allow what the deployment asks for", "name another namespace in --target"}
}

// refusal is the last refusal to create pods, from the events of what owns them,
// with the way out: a quota, a LimitRange, or an admission policy. Empty where
// there is none. A quota may be given back by whoever holds it.
func refusal(events []eventView, ways waysOut) stuck {
	var last eventView
	for _, e := range events {
		if e.Reason == failedCreate && !e.at().Before(last.at()) {
			last = e
		}
	}
	if last.Message == "" {
		return stuck{}
	}
	_, why, ok := strings.Cut(last.Message, "Error creating: ")
	if !ok {
		why = last.Message
	}
	s := stuck{reason: "the pods are refused: " + clip(why)}
	switch {
	case strings.Contains(why, "exceeded quota"):
		s.reason += "; " + ways.less + ", or " + ways.elsewhere
	case strings.Contains(why, "must specify"): // of a quota on limits, which the pods have none of
		s.reason += "; give the namespace a LimitRange with default limits, or " + ways.elsewhere
		s.hopeless = true
	case strings.Contains(why, " usage per "), strings.Contains(why, "resources.requests: Invalid"): // of a LimitRange, or against the limit that it gives
		s.reason += "; " + ways.sizes + ", or " + ways.elsewhere
		s.hopeless = true
	case strings.Contains(why, "violates PodSecurity"): // by a label of the namespace
		s.reason += "; have the namespace's label pod-security.kubernetes.io/enforce allow them, or " + ways.elsewhere
		s.hopeless = true
	case strings.Contains(why, "denied the request"), strings.Contains(why, "denied request"): // by a webhook, by a ValidatingAdmissionPolicy
		s.reason += "; have the policy allow them, or " + ways.elsewhere
		s.hopeless = true
	}
	return s
}

// failedCreate is the reason of the events that tell of refused pods.
const failedCreate = "FailedCreate"

// refusals looks for why the pods of an owner of some name, or below one, could
// not be made since that was made. Who may not read events is told less.
func (c *Client) refusals(ctx context.Context, m Made) stuck {
	list, err := c.resource(eventKind, m.Namespace).List(ctx, metav1.ListOptions{FieldSelector: "reason=" + failedCreate})
	if err != nil {
		return stuck{}
	}
	all, err := views[eventView](list)
	if err != nil {
		return stuck{}
	}
	var ours []eventView
	for _, e := range all {
		of := e.InvolvedObject
		// What an operator makes of a deployment begins with its name.
		below := strings.HasPrefix(of.Name, m.Name+"-") && !e.at().Before(m.At)
		if of.UID == string(m.UID) || below {
			ours = append(ours, e)
		}
	}
	return refusal(ours, deployWays())
}
