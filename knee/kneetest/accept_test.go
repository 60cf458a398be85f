package kneetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// recorder is a TB that keeps what it is told.
type recorder struct {
	attrs  []string
	errors []string
}

func (r *recorder) Helper()             {}
func (r *recorder) Logf(string, ...any) {}
func (r *recorder) Attr(key, value string) {
	r.attrs = append(r.attrs, key+" "+value)
}
func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

func TestJudge(t *testing.T) {
	misses := map[string]Miss{"A1 known": {0.80, "why it is so"}}
	share := func(what string, b Bound, target float64, of int) Claim {
		return Shares("A1", what, b, target, []Share{{of, 1000}})
	}
	for _, c := range []struct {
		full  bool
		claim Claim
		want  Verdict
	}{
		{true, share("x", AtLeast, 0.9, 900), Met},
		{true, share("x", AtLeast, 0.9, 899), Missed},
		{false, share("x", AtLeast, 0.9, 899), Met}, // chance
		{false, share("x", AtLeast, 0.9, 860), Missed},
		{true, share("x", AtMost, 0.01, 10), Met},
		{true, share("x", AtMost, 0.01, 11), Missed},
		{true, share("known", AtLeast, 0.9, 800), Recorded},
		{true, share("known", AtLeast, 0.9, 770), Recorded}, // within chance of what is recorded
		{true, share("known", AtLeast, 0.9, 750), Missed},
		{true, share("known", AtLeast, 0.9, 950), Met},
		{true, share("x", Stated, 0, 1), NoTarget},
		{true, Figures("A7", "runs", AtMost, 20, 20.1, nil), Missed},
		{false, Figures("A7", "runs", AtMost, 20, 20.1, nil), Met},
	} {
		r := &recorder{}
		a := Acceptance{Full: c.full, Misses: misses}
		a.Judge(r, c.claim)
		if got, _ := a.verdict(c.claim); got != c.want || (len(r.errors) > 0) != (c.want == Missed) || len(r.attrs) != 1 {
			t.Errorf("full %v, %s: %s, want %s; said %q", c.full, c.claim, got, c.want, r.errors)
		}
	}
}

// A figure that is no number is no claim, whatever the target.
func TestJudgeRefusesNonsense(t *testing.T) {
	var zero float64
	for _, v := range []float64{zero / zero, -1} {
		r := &recorder{}
		Acceptance{}.Judge(r, Figures("A1", "x", AtLeast, 0, v, nil))
		if len(r.errors) != 1 {
			t.Errorf("%v: %q", v, r.errors)
		}
	}
}

func TestSharesPoolAndKeepTheWorst(t *testing.T) {
	c := Shares("A1", "x", AtLeast, 0.9, []Share{{90, 100}, {95, 100}})
	if c.Value != 0.925 || c.Worst != 0.9 || c.N != 200 {
		t.Errorf("%+v", c)
	}
	if c := Shares("A1", "x", AtMost, 0.9, []Share{{90, 100}, {95, 100}}); c.Worst != 0.95 {
		t.Errorf("%+v", c)
	}
}

func TestTableIsInTheOrderOfTheRows(t *testing.T) {
	var claims []Claim
	for _, row := range []string{"own", "A10", "O-3", "A2", "A1"} {
		claims = append(claims, Claim{Row: row, What: "w", N: 3})
	}
	var got []string
	for _, r := range Table(claims)[1:] {
		got = append(got, r[0])
	}
	if want := []string{"A1", "A2", "A10", "O-3", "own"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestParseSeeds(t *testing.T) {
	for in, want := range map[string]int{"": 5, "7": 1, "7 8, 9": 3, "7 7": 0, "x": 0, "-1": 0} {
		got, err := ParseSeeds(in)
		if len(got) != want || (err != nil) != (want == 0) {
			t.Errorf("%q: %v, %v", in, got, err)
		}
		if err != nil && !strings.Contains(err.Error(), "seed") {
			t.Errorf("%q: %v", in, err)
		}
	}
}
