package calibrate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/perfsweep/perfsweep/internal/exact"
	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/sweep"
)

// WindowGap is how far apart two windows of one deployment must be (C6): a
// regression floor is held against this very deployment, at whatever hour.
func (p Profile) WindowGap() time.Duration {
	if p == Regression {
		return 6 * time.Hour
	}
	return 30 * time.Minute
}

// in keeps the valid attempts of one window.
func (a attempts) in(window int) attempts {
	a.valid = slices.DeleteFunc(slices.Clone(a.valid), func(r reading) bool { return r.window != window })
	return a
}

// byDeployment groups the throughputs. A window that does not state its
// deployment may be of any stated one and counts with the first of them: what
// may be the same must not count twice.
func (a attempts) byDeployment() [][]float64 {
	first := ""
	for _, r := range a.valid {
		first = cmp.Or(first, r.deployment)
	}
	at := map[string]int{}
	var out [][]float64
	for _, r := range a.valid {
		id := cmp.Or(r.deployment, first)
		i, known := at[id]
		if !known {
			i = len(out)
			at[id] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], r.tokPerSecPerGPU)
	}
	return out
}

// tooMany reports whether a window made more attempts than the planner allows:
// its valid runs were picked.
func (a attempts) tooMany() bool {
	for w, made := range a.made {
		if _, tries := a.allowed(w); made > tries {
			return true
		}
	}
	return false
}

// allowance names the attempts that the windows may make.
func (a attempts) allowance() string {
	_, first := sweep.WindowAttempts(1)
	s := fmt.Sprint(first)
	for w := range a.made {
		if w > 1 && !a.opens[w] {
			_, more := sweep.WindowAttempts(2)
			return s + fmt.Sprintf(" (%d in a further window)", more)
		}
	}
	return s
}

// window is what the attempts of one window tell of it; of one without a valid
// attempt no more than their number is known.
type window struct {
	number, made, valid int
	want, tries         int
	deployment          string
	began, ended        time.Time
}

func (a attempts) windows() []window {
	var out []window
	for _, n := range slices.Sorted(maps.Keys(a.made)) {
		w := window{number: n, made: a.made[n]}
		w.want, w.tries = a.allowed(n)
		for _, r := range a.in(n).valid {
			if w.valid == 0 {
				w.deployment, w.began = r.deployment, r.began
			}
			w.valid++
			w.ended = r.ended
		}
		out = append(out, w)
	}
	return out
}

// whole reports whether the window has the valid attempts that it needs.
func (w window) whole() bool { return w.valid >= w.want }

// text says what a window that is not whole has.
func (w window) text() string {
	return fmt.Sprintf("window %d has %d of %s after %d of at most %d", w.number, w.valid, plural.Of(w.want, "valid attempt"), w.made, w.tries)
}

// broken is the first of several windows that is not whole. One that was begun
// must be confirmed: the windows that came out well would be picked otherwise.
func (a attempts) broken() (w window, ok bool) {
	all := a.windows()
	i := slices.IndexFunc(all, func(w window) bool { return !w.whole() })
	if len(all) < 2 || i < 0 {
		return window{}, false
	}
	return all[i], true
}

// several reports whether there are readings of more than one window.
func (a attempts) several() bool {
	return slices.ContainsFunc(a.valid, func(r reading) bool { return r.window != a.valid[0].window })
}

// separate reports whether two windows saw different deployments, both stated,
// or times that are far enough apart, and says what they are.
func separate(a, b window, gap time.Duration) (ok bool, what string) {
	if a.deployment != "" && b.deployment != "" && a.deployment != b.deployment {
		return true, fmt.Sprintf("deployments %s and %s", printable(a.deployment), printable(b.deployment))
	}
	if a.ended.IsZero() || b.began.IsZero() {
		return false, "at unknown times"
	}
	apart := b.began.Sub(a.ended)
	return apart >= gap, fmt.Sprintf("%s apart on one deployment", apart.Round(time.Second))
}

// secondWindow looks for two whole windows that are separate.
func (e *evidence) secondWindow() (ok bool, observed string) {
	all := e.attempts.windows()
	if w, broken := e.attempts.broken(); broken {
		return false, w.text()
	}
	if len(all) < 2 {
		return false, "one window"
	}
	var seen []string
	for i, b := range all {
		for _, a := range all[:i] {
			apart, what := separate(a, b, e.policy.Profile.WindowGap())
			what = fmt.Sprintf("windows %d and %d: %s", a.number, b.number, what)
			if apart {
				return true, what
			}
			seen = append(seen, what)
		}
	}
	return false, strings.Join(seen, "; ")
}

// pooled applies C1 and C2 to the runs of all windows together.
func (e *evidence) pooled() (observed string, apart bool) {
	x, p99, p50 := e.attempts.throughputs(), e.attempts.p99s(), e.attempts.p50s()
	gap, threshold, split := splitGap(x, e.noise())
	observed = fmt.Sprintf("pooled over %s the largest gap is %s (allowed %s), TTFT p99 gap x%.2f and max/min %.2f",
		plural.Of(len(x), "gate run"), percentGap(gap), percentGap(threshold), exact.Exp(knee.MaxGap(p99)), ratio(p99))
	return observed, split || tailApart(p99, p50, split)
}

// c6: an environment that varies over hours looks steady for one.
func (e *evidence) c6() GateResult {
	g := GateResult{ID: "C6", Name: "second window", State: Unmet,
		Threshold: fmt.Sprintf("C1 and C2 hold pooled over two deployments, or over two windows %s apart", hours(e.policy.Profile.WindowGap()))}
	ok, seen := e.secondWindow()
	g.Observed = seen
	if odd := OddDates(e.curve, e.policy.Now); odd != "" {
		g.Observed += "; " + odd
		g.Remedy, g.noData = "set the clocks of this machine and of the one that measured, then calibrate again in a new journal", true
		return g
	}
	if none := e.attempts.undated(); none != "" {
		g.Observed += "; " + none
		g.Remedy, g.noData = "calibrate again in a new journal, which dates its runs; a curve without dates is for perfsweep knee", true
		return g
	}
	if e.attempts.several() {
		observed, apart := e.pooled()
		g.Observed += "; " + observed
		if apart {
			g.Remedy = "the environment changes between windows: find out what differs, then calibrate again in a new journal"
			return g
		}
	}
	if ok {
		g.State = Met
		return g
	}
	g.noData = len(e.attempts.valid) == 0
	if w, broken := e.attempts.broken(); broken {
		g.Remedy = e.attempts.remedy(w, e.curve.Windows())
		return g
	}
	g.Remedy = fmt.Sprintf("calibrate again with this --journal and --window %d, %s later or with --deployment ID on another deployment than the one stated so far; "+
		"--window-gap %s waits", max(e.curve.Windows(), 1)+1, hours(e.policy.Profile.WindowGap()), hours(e.policy.Profile.WindowGap()))
	if e.curve.Fingerprint.Simulated && e.policy.AllowSimulated {
		g.State, g.Remedy = Waived, ""
	}
	return g
}

// remedy is the way out for a window that is not whole.
func (a attempts) remedy(w window, last int) string {
	over := a.stalled > sweep.MaxStalls || sweep.TailsApart(a.p99s(), a.p50s()) || w.want-w.valid > w.tries-w.made
	if w.number == last && !over {
		return "finish the window: calibrate again with the same flags and --resume"
	}
	return "find out why the point could not be confirmed again, then calibrate in a new journal"
}

// hours spells a whole number of hours or minutes as a flag would have it.
func hours(d time.Duration) string {
	if d%time.Hour == 0 {
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dm", d/time.Minute)
}

// windowsApart is the row of windows that contradict each other: not data that
// is missing, but an environment seen to change.
func (j *judgement) windowsApart() string {
	if !j.attempts.several() {
		return ""
	}
	if _, apart := j.pooled(); !apart {
		return ""
	}
	for _, g := range j.gates {
		if g.ID == "C6" {
			return g.text()
		}
	}
	return ""
}

// hour is a time of day as a reader wants it, and no year 1 where it is unknown.
func hour(t time.Time) string {
	if t.IsZero() {
		return "an unknown time"
	}
	return t.UTC().Format("2006-01-02 15:04")
}

// undated says that gate runs have no date, "" if all have: how old what would be
// written is, nobody could tell then.
func (a attempts) undated() string {
	n := 0
	for _, r := range a.valid {
		if r.began.IsZero() {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("the date of %d of %s is not known", n, plural.Of(len(a.valid), "gate run"))
}

// windowNote names the windows of a reading.
func (a attempts) windowNote() string {
	all := a.windows()
	var parts []string
	for _, w := range all {
		if w.valid == 0 {
			continue
		}
		s := fmt.Sprintf("%d from %s", w.valid, hour(w.began))
		if w.deployment != "" {
			s += " on " + printable(w.deployment)
		}
		parts = append(parts, s)
	}
	return fmt.Sprintf(" In %s: %s UTC.", plural.Of(len(all), "window"), strings.Join(parts, ", "))
}
