package kneetest

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Bound says on which side of its target a figure must be.
type Bound string

// The bounds; a Stated figure has no target.
const (
	AtLeast Bound = "≥"
	AtMost  Bound = "≤"
	Stated  Bound = ""
)

// Verdict is what became of a claim.
type Verdict string

// The verdicts. Recorded is a miss that is in the list of misses and has not
// grown; Missed is any other.
const (
	Met      Verdict = "met"
	Recorded Verdict = "missed, as recorded"
	Missed   Verdict = "MISSED"
	NoTarget Verdict = "-"
)

// Claim is a row of the acceptance table: a figure pooled over the seeds, the
// worst of them, and the target.
type Claim struct {
	Row     string  `json:"row"` // as the specification numbers it
	What    string  `json:"what"`
	Bound   Bound   `json:"bound,omitempty"`
	Target  float64 `json:"target"`
	Value   float64 `json:"value"`
	Worst   float64 `json:"worst"`
	N       int     `json:"n,omitempty"` // trials of which Value is a share
	Verdict Verdict `json:"verdict"`
	Note    string  `json:"note,omitempty"`
}

// Share is a count of trials.
type Share struct{ Of, All int }

func (s Share) value() float64 { return float64(s.Of) / float64(max(s.All, 1)) }

// Shares is a claim about a share of trials, given for each seed.
func Shares(row, what string, b Bound, target float64, seeds []Share) Claim {
	var all Share
	each := make([]float64, len(seeds))
	for i, s := range seeds {
		all.Of, all.All = all.Of+s.Of, all.All+s.All
		each[i] = s.value()
	}
	c := Figures(row, what, b, target, all.value(), each)
	c.N = all.All
	return c
}

// Figures is a claim about any other figure: pooled, and for each seed.
func Figures(row, what string, b Bound, target, pooled float64, seeds []float64) Claim {
	c := Claim{Row: row, What: what, Bound: b, Target: target, Value: pooled, Worst: pooled}
	for _, v := range seeds {
		if b == AtMost {
			c.Worst = max(c.Worst, v)
		} else {
			c.Worst = min(c.Worst, v)
		}
	}
	return c
}

// key names a claim in the list of misses.
func (c Claim) key() string { return c.Row + " " + c.What }

// short is how far the figure is on the wrong side of a limit.
func (c Claim) short(limit float64) float64 {
	if c.Bound == AtMost {
		return c.Value - limit
	}
	return limit - c.Value
}

// chance is what three standard errors of a share near a limit, and a tenth of
// any other figure, may do.
func (c Claim) chance(limit float64) float64 {
	if c.N == 0 {
		return 0.1 * math.Abs(limit)
	}
	n := float64(c.N)
	p := min(max(limit, 1/n), 1-1/n)
	return 3*math.Sqrt(p*(1-p)/n) + 1/n
}

// Miss is a target that is known to be missed: by how much, and why.
type Miss struct {
	Value float64
	Why   string
}

// Acceptance judges claims. A full one holds every figure to its target; a
// short one, whose few trials are for finding what broke, allows for chance.
type Acceptance struct {
	Full   bool
	Seeds  []uint64
	Misses map[string]Miss // by "row what"
}

// SeedsVar names the environment variable that gives a full acceptance its
// seeds.
const SeedsVar = "PERFSWEEP_ACCEPT_SEEDS"

// NewAcceptance is a full acceptance on the given seeds, or a short one on one
// seed, which is the same in every run.
func NewAcceptance(full bool, seeds string, misses map[string]Miss) (Acceptance, error) {
	a := Acceptance{Full: full, Seeds: []uint64{1}, Misses: misses}
	if full {
		var err error
		if a.Seeds, err = ParseSeeds(seeds); err != nil {
			return a, err
		}
	}
	return a, nil
}

// TB is the part of testing.TB that a judge needs.
type TB interface {
	Helper()
	Attr(key, value string)
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
}

// Begin is the acceptance of one test, on the seeds that the environment gives
// a full one. It tells them.
func Begin(t interface {
	TB
	Fatal(args ...any)
}, full bool, misses map[string]Miss) Acceptance {
	t.Helper()
	a, err := NewAcceptance(full, os.Getenv(SeedsVar), misses)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("seeds %v", a.Seeds)
	return a
}

// Each asks the same of every seed, or of what came of every seed.
func Each[A, B any](seeds []A, f func(A) B) []B {
	out := make([]B, len(seeds))
	for i, s := range seeds {
		out[i] = f(s)
	}
	return out
}

// RowAttr is the test attribute that carries a row to the table.
const RowAttr = "acceptance"

// Judge gives the verdict, tells it as a test attribute, and fails the test
// where the claim is missed and the miss is not recorded, or has grown.
func (a Acceptance) Judge(t TB, c Claim) {
	t.Helper()
	if c.Bound != Stated && !(c.Target >= 0) || !(c.Value >= 0) {
		t.Errorf("%s: a figure of %v and a target of %v are no claim", c.key(), c.Value, c.Target)
		return
	}
	c.Verdict, c.Note = a.verdict(c)
	raw, err := json.Marshal(c)
	if err != nil {
		t.Errorf("%s: %v", c.key(), err)
		return
	}
	t.Attr(RowAttr, string(raw))
	t.Logf("%s", c)
	if c.Verdict == Missed {
		t.Errorf("%s: %.4g, the target is %s %.4g%s", c.key(), c.Value, c.Bound, c.Target, c.Note)
	}
}

func (a Acceptance) verdict(c Claim) (v Verdict, note string) {
	if c.Bound == Stated {
		return NoTarget, ""
	}
	miss, recorded := a.Misses[c.key()]
	slack := 0.0
	if !a.Full {
		slack = c.chance(c.Target)
	}
	switch {
	case c.short(c.Target) <= slack && recorded && a.Full:
		return Met, "recorded as a miss of " + strconv.FormatFloat(miss.Value, 'g', 4, 64)
	case c.short(c.Target) <= slack:
		return Met, ""
	case recorded && c.short(miss.Value) <= c.chance(miss.Value):
		return Recorded, miss.Why
	case recorded:
		return Missed, fmt.Sprintf(", recorded was %.4g", miss.Value)
	}
	return Missed, ""
}

// ParseSeeds reads seeds separated by spaces or commas; none gives standard
// ones, which everybody may repeat.
func ParseSeeds(s string) ([]uint64, error) {
	fields := strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == ',' })
	if len(fields) == 0 {
		return []uint64{1, 2, 3, 4, 5}, nil
	}
	seeds := make([]uint64, len(fields))
	for i, f := range fields {
		n, err := strconv.ParseUint(f, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("seed %q: give whole numbers, such as \"11 12 13 14 15\": %w", f, err)
		}
		if slices.Contains(seeds[:i], n) {
			return nil, fmt.Errorf("seed %d is given twice: a seed draws the same curves each time", n)
		}
		seeds[i] = n
	}
	return seeds, nil
}
