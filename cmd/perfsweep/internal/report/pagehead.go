package report

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report/markup"
	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report/plot"
	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/sweep/compare"
)

func capital(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return s
	}
	return string(unicode.ToUpper(r)) + s[n:]
}

func verdictMood(v compare.Verdict) mood {
	switch v {
	case compare.Better, compare.Same:
		return good
	case compare.Worse:
		return bad
	}
	return warn
}

// top is the answer, before anything that explains it.
func (h *htmlPage) top() {
	h.Open("header")
	h.Open("p", markup.A("class", "what"))
	h.Leaf("span", "perfsweep", markup.A("class", "brand"))
	h.Text(" " + h.p.title())
	if t := h.p.A.Started; !t.IsZero() {
		h.Text(", measured " + t.UTC().Format("2006-01-02 15:04 UTC"))
	}
	h.Close("p")
	answer, mood := h.p.verdict()
	h.Open("h1", markup.A("id", "answer"), markup.A("class", string(mood)))
	h.Text(capital(answer) + ".")
	h.Close("h1")
	for _, s := range h.p.sides() {
		if a := s.kneeWords(); a != answer {
			h.Leaf("p", s.of(a)+".", markup.A("class", "second"))
		}
	}
	h.Open("div", markup.A("class", "tiles"), markup.A("role", "list"), markup.A("aria-label", "key numbers"))
	for _, s := range h.p.sides() {
		for _, t := range s.tiles() {
			h.Open("div", markup.A("class", "tile"), markup.A("role", "listitem"))
			h.Leaf("span", s.of(t.name), markup.A("class", "name"))
			h.Leaf("span", t.value, markup.A("class", "value"))
			h.Leaf("span", t.more, markup.A("class", "more"))
			h.Close("div")
		}
	}
	h.Close("div")
	h.warnings()
	h.Close("header")
	h.Line()
}

func (h *htmlPage) warnings() {
	var all []string
	for _, s := range h.p.sides() {
		for _, w := range s.warnings() {
			all = append(all, s.of(w))
		}
	}
	if len(all) == 0 {
		return
	}
	h.Open("aside", markup.A("class", "warnings"), markup.A("aria-labelledby", "warnings-h"))
	h.Leaf("h2", "What to know first", markup.A("id", "warnings-h"))
	h.list(all)
	h.Close("aside")
}

func (h *htmlPage) list(items []string) {
	h.Open("ul")
	for _, s := range items {
		h.Leaf("li", s)
	}
	h.Close("ul")
}

type tile struct{ name, value, more string }

// tiles are the numbers that a reader looks for.
func (s Side) tiles() []tile {
	var out []tile
	fit, op := s.Curve.Fit, s.Curve.Point
	if fit.HasKnee() {
		out = append(out, tile{"knee, per GPU", fmt.Sprintf("%.3g", fit.Knee), fmt.Sprintf("90 %% interval %.3g to %.3g", fit.KneeLow, fit.KneeHigh)})
	}
	if op.ConcurrencyPerGPU > 0 {
		out = append(out, tile{"operating point, per GPU", strconv.Itoa(op.ConcurrencyPerGPU), "bound: " + strings.ReplaceAll(op.Bound, "_", " ")})
	}
	for _, l := range fit.Levels {
		if l.ConcurrencyPerGPU != op.ConcurrencyPerGPU {
			continue
		}
		out = append(out, tile{"tok/s per GPU there", number(l.TokPerSecPerGPU), "median of " + plural.Of(l.Kept, "run")})
		if u := perUser(l); u > 0 {
			out = append(out, tile{"tok/s per user there", number(u), "ITL p50 " + number(l.ITLMS) + " ms"})
		}
		if l.TTFTP99MS > 0 {
			out = append(out, tile{"TTFT p99 there, ms", number(l.TTFTP99MS), "p50 " + number(l.TTFTP50MS) + " ms"})
		}
	}
	g := s.Gates
	if g == nil || s.Letter != "" { // two journals are held against each other, not against a gate
		return out
	}
	if g.FloorPerGPU > 0 {
		out = append(out, tile{"floor, tok/s per GPU", number(g.FloorPerGPU), "acts as " + number(g.ActsFloor)})
	}
	if g.CeilingTTFTP99MS > 0 {
		out = append(out, tile{"TTFT p99 ceiling, ms", number(g.CeilingTTFTP99MS), "acts as " + number(g.ActsAbove)})
	}
	return out
}

// nav is the list of contents.
func (h *htmlPage) nav(charts []plot.Chart) {
	h.Open("nav", markup.A("aria-label", "contents"))
	h.Open("ul")
	item := func(id, text string) {
		h.Open("li")
		h.Leaf("a", text, markup.A("href", "#"+id))
		h.Close("li")
	}
	if h.p.Comparison != nil {
		item("moved", "What moved")
	}
	short := map[string]string{"throughput": "Throughput", "latency": "Latency", "tradeoff": "Trade-off", "timeline": "Time line", "timelineA": "A: time line", "timelineB": "B: time line"}
	for _, c := range charts {
		item(c.ID, short[c.ID])
	}
	for _, s := range h.p.sides() {
		for _, part := range s.parts() {
			item(part.id+s.Letter, s.of(part.title))
		}
	}
	item("method", "Definitions")
	h.Close("ul")
	h.Close("nav")
	h.Line()
}

type part struct{ id, title string }

// parts are the tables of a side that have something to show.
func (s Side) parts() []part {
	out := []part{{"levels", "Levels"}, {"goodput", "Goodput"}}
	if len(s.Curve.Findings) > 0 {
		out = append(out, part{"held", "Held back by"})
	}
	if s.Gates != nil {
		out = append(out, part{"gates", "Gates"})
	}
	if len(s.Stalls) > 0 {
		out = append(out, part{"stalls", "Stalls"})
	}
	if s.toldHealth() {
		out = append(out, part{"generator", "This tool"})
	}
	if s.Curve.Fingerprint != nil {
		out = append(out, part{"fingerprint", "Fingerprint"})
	}
	if s.recorded() {
		out = append(out, part{"runs", "Runs"})
	}
	return out
}

// recorded reports whether the runs have more to tell than the curve: those of
// a journal were started at a time.
func (s Side) recorded() bool {
	return len(s.Curve.All) > 0 && !s.Curve.All[0].Started.IsZero()
}

func (s Side) toldHealth() bool {
	for _, r := range s.Curve.All {
		if told(r) {
			return true
		}
	}
	return false
}

func (h *htmlPage) foot() {
	h.Open("footer")
	h.Leaf("p", "Made by perfsweep "+h.p.Version+". This file needs no network. Drawn with uPlot 1.6.32, © Leon Sorokin, MIT licence.")
	h.Close("footer")
	h.Line()
}
