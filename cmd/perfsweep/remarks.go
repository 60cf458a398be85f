package main

import (
	"fmt"
	"strings"

	"github.com/perfsweep/perfsweep/loadgen"
)

// remarks remembers what was said of earlier runs, so that a human reads each
// warning once; the journal has all of them.
type remarks struct{ said map[string]bool }

// fresh are the warnings that say something new: others differ in their
// figures at most.
func (m *remarks) fresh(warnings []string) []string {
	var out []string
	for _, w := range warnings {
		kind := strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' || r == '.' {
				return -1
			}
			return r
		}, w)
		if m.said[kind] {
			continue
		}
		if m.said == nil {
			m.said = map[string]bool{}
		}
		m.said[kind] = true
		out = append(out, w)
	}
	return out
}

// cachedShare tells how much of the prompts came from the server's prefix
// cache, where it says so: a cached prompt costs it next to nothing.
func cachedShare(r loadgen.Result) string {
	if r.CachedTokensTold == 0 || r.PromptTokensPerRequest <= 0 {
		return ""
	}
	return fmt.Sprintf(", %.0f %% of prompt tokens cached", 100*r.CachedTokensPerRequest/r.PromptTokensPerRequest)
}
