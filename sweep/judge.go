package sweep

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/perfsweep/perfsweep/loadgen"
)

// judge applies every run gate to a run that comes after others, as it is
// measured and again whenever a journal is read: what a record claims of itself
// is no evidence, its numbers are.
func judge(r Run, before []Run, w loadgen.WorkloadSpec, sloMaxTTFTMS float64) []Violation {
	return slices.Concat(checkWorkers(r.Workers), checkCounted(r, before), checkServers(r.Servers),
		Validate(r.Result, w, usualLength(before), sloMaxTTFTMS))
}

// checkCounted is V1 of a run whose workers nobody counted though those of an
// earlier run of its window were: who can be counted once can be counted always.
// Runs before the first counted one may be of a version that did not count.
func checkCounted(r Run, before []Run) []Violation {
	i := slices.IndexFunc(before, func(b Run) bool { return b.window() == r.window() && b.Workers != nil })
	if r.Workers != nil || i < 0 {
		return nil
	}
	return []Violation{{
		Gate: "V1", Observed: fmt.Sprintf("the ready workers were not counted, though those of run %d were", before[i].Seq),
		Threshold: fmt.Sprintf("%d, the same before and after", before[i].Workers.Expected),
		Remedy:    "look at the frontend's /health, and measure again",
	}}
}

// rejudge judges a run that was read. What its record claims adds to that and
// takes nothing away. differs says where the two disagree, "" where they do not.
func rejudge(r Run, c *Curve) (judged Run, differs string) {
	if r.Result.Kind == "" {
		r.Result.Kind = r.Step.Kind
	}
	claimed, w := r.Violations, c.Fingerprint.Workload
	r.Violations = judge(r, c.Runs, w, c.Plan.SLOMaxTTFTMS)
	for _, s := range NotJudged(r.Result, w, usualLength(c.Runs)) {
		if !slices.Contains(r.Result.Warnings, s) {
			r.Result.Warnings = append(slices.Clip(r.Result.Warnings), s)
		}
	}
	unsaid, unseen := lacking(claimed, r.Violations), lacking(r.Violations, claimed)
	for _, v := range claimed {
		if slices.Contains(unseen, v.Gate) {
			r.Violations = append(r.Violations, v)
		}
	}
	var said []string
	if len(unsaid) > 0 {
		said = append(said, "fails "+strings.Join(unsaid, ", ")+" and does not say so")
	}
	if len(unseen) > 0 {
		said = append(said, "says "+clean(strings.Join(unseen, ", "))+", which its numbers do not show")
	}
	if len(said) == 0 {
		return r, ""
	}
	return r, fmt.Sprintf("run %d %s", r.Seq, strings.Join(said, " and "))
}

// lacking are the gates of b that a does not have, each once.
func lacking(a, b []Violation) []string {
	var out []string
	for _, v := range b {
		known := slices.ContainsFunc(a, func(o Violation) bool { return o.Gate == v.Gate })
		if !known && !slices.Contains(out, v.Gate) {
			out = append(out, v.Gate)
		}
	}
	return out
}

// oneLine keeps what a record says from passing for lines of an answer, or for
// control sequences of a terminal.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r), r == '\u2028', r == '\u2029':
			return ' '
		case notPlain(r):
			return '?'
		}
		return r
	}, s)
}

// clean bounds what a record says, for a message.
func clean(s string) string {
	const most = 60
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
	return s[:min(len(s), most)]
}

// rejudgedRuns is how many runs a sentence on them names.
const rejudgedRuns = 3

// tellRejudged is the sentence on the runs that are not what their record says.
func tellRejudged(differ []string) string {
	if len(differ) == 0 {
		return ""
	}
	s := strings.Join(differ[:min(len(differ), rejudgedRuns)], "; ")
	if more := len(differ) - rejudgedRuns; more > 0 {
		s += fmt.Sprintf("; and %d more", more)
	}
	return s + ": each counts as INVALID; another version of perfsweep recorded it, or the journal was edited"
}
