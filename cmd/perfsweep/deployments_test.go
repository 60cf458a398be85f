package main

import (
	"bytes"
	"maps"
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/sweep"
)

// A fresh deployment may be placed on another node, in a further window and as
// far as the user does not state the node.
func TestMovedWindow(t *testing.T) {
	type labels = map[string]string
	for _, tt := range []struct {
		name, target string
		window       int
		stated       []string
		was, is      labels
		want         labels
	}{
		{"elsewhere", "k8s:a/b", 2, nil, labels{"node": "n1", "image": "i"}, labels{"node": "n2", "image": "j"}, labels{"node": "n1", "image": "j"}},
		{"on one node now", "k8s:a/b", 2, nil, labels{"image": "i"}, labels{"node": "n2", "image": "i"}, labels{"image": "i"}},
		{"on several nodes now", "k8s:a/b", 3, nil, labels{"node": "n1"}, labels{"image": "i"}, labels{"node": "n1", "image": "i"}},
		{"the first window", "k8s:a/b", 1, nil, labels{"node": "n1"}, labels{"node": "n2"}, labels{"node": "n2"}},
		{"stated", "k8s:a/b", 2, []string{"node=n2"}, labels{"node": "n1"}, labels{"node": "n2"}, labels{"node": "n2"}},
		{"no cluster", "http://a:1", 2, nil, labels{"node": "n1"}, labels{"node": "n2"}, labels{"node": "n2"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var said bytes.Buffer
			c := &campaign{app: &app{err: &said}, flags: &measureFlags{target: tt.target, labels: tt.stated}}
			now := sweep.Curve{Fingerprint: sweep.Fingerprint{Labels: tt.is}, Plan: sweep.Plan{Window: tt.window}}
			before := maps.Clone(tt.is)
			c.moved(&now, &sweep.Curve{Fingerprint: sweep.Fingerprint{Labels: tt.was}})
			if !maps.Equal(now.Fingerprint.Labels, tt.want) || !maps.Equal(tt.is, before) {
				t.Errorf("labels %v of %v, want %v", now.Fingerprint.Labels, tt.is, tt.want)
			}
			if moved := !maps.Equal(tt.want, before); moved != strings.Contains(said.String(), "runs on") {
				t.Errorf("said %q", said.String())
			}
		})
	}
}
