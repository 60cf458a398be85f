package main

import (
	"slices"
	"testing"

	"github.com/perfsweep/perfsweep/loadgen"
)

func TestRemarksAreSaidOnce(t *testing.T) {
	var m remarks
	for _, c := range []struct{ said, want []string }{
		{nil, nil},
		{[]string{"3 of 10 late", "cold"}, []string{"3 of 10 late", "cold"}},
		{[]string{"4.5 of 10 late", "warm"}, []string{"warm"}},
		{[]string{"cold", "3 of 10 early"}, []string{"3 of 10 early"}},
	} {
		if got := m.fresh(c.said); !slices.Equal(got, c.want) {
			t.Errorf("of %q %q is new, want %q", c.said, got, c.want)
		}
	}
}

func TestCachedShare(t *testing.T) {
	r := loadgen.Result{PromptTokensPerRequest: 200, CachedTokensPerRequest: 50}
	if s := cachedShare(r); s != "" {
		t.Errorf("a server that tells nothing: %q", s)
	}
	r.CachedTokensTold = 10
	if s := cachedShare(r); s != ", 25 % of prompt tokens cached" {
		t.Error(s)
	}
}
