package calibrate

import (
	"fmt"
	"strings"
)

// anchorLine is the comment's paragraph on what vouches for the numbers, and
// what could have refused them.
func (j *judgement) anchorLine() string {
	s := "Anchor: none. Nothing from outside says that the whole environment was not slow."
	switch a := j.anchor; a.Strength {
	case Strong:
		s = fmt.Sprintf("Anchor: strong. Throughput is x%.3f of that of %s.", a.Ratio, a.Label)
		if a.TTFTP99Ratio > 0 {
			s += fmt.Sprintf(" TTFT p99 is x%.2f of it.", a.TTFTP99Ratio)
		}
	case Human:
		s = fmt.Sprintf("Anchor: HUMAN, not an independent measurement by this tool; portable profile only. The campaign is %s.", strings.TrimSuffix(a.Label, "."))
	}
	for _, w := range j.anchor.Warnings {
		s += " " + w + "."
	}
	for _, v := range j.anchor.Vetoes {
		s += " " + upperFirst(v.text()) + "."
	}
	return s
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
