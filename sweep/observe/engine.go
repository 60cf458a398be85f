package observe

import (
	"maps"
	"slices"
	"strings"
)

// spread gives what is told of a worker as a whole to its ranks. Of several
// only the settings and the time that it has been up hold for each; its
// requests cannot be divided.
func spread(s *Snapshot, whole map[string]Reading) {
	for _, name := range slices.Sorted(maps.Keys(whole)) {
		var ranks []string
		for of := range s.Engines {
			if of == name || strings.HasPrefix(of, name+"/") {
				ranks = append(ranks, of)
			}
		}
		if len(ranks) == 0 {
			s.Engines = put(s.Engines, name, whole[name])
			continue
		}
		for _, of := range ranks {
			r := s.Engines[of]
			for m, v := range whole[name] {
				if _, known := r[m]; !known && (len(ranks) == 1 || m == UptimeS || m.setting()) {
					r[m] = v // the rank's own count goes first
				}
			}
		}
	}
}

// deriveTokens fills in a counter that Dynamo's mocker does not publish. Every
// token is either the first of its request or ends one gap between two: vLLM
// 0.32 shows 24,683 tokens beside 779 firsts and 23,904 gaps.
func deriveTokens(r Reading) {
	_, known := r[OutputTokens]
	firsts, ok1 := r[EngineTTFTN]
	gaps, ok2 := r[EngineITLN]
	if !known && ok1 && ok2 {
		r[OutputTokens] = firsts + gaps
	}
}
