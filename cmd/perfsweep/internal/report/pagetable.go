package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report/markup"
	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
	"github.com/perfsweep/perfsweep/sweep/observe"
)

// grid is a table as every form of a report shows it: the first column names
// the row, Words says which columns hold words, and Marks which rows stand out.
type grid struct {
	caption string
	head    []string
	words   map[int]bool
	rows    [][]string
	marks   map[int]string
}

func (g *grid) add(cells ...string) { g.rows = append(g.rows, cells) }

// wordy is how many columns of words a narrow page can hold.
const wordy = 2

// table writes a grid. It scrolls by itself where the page is narrow, which a
// keyboard can do only to what has the focus.
func (h *htmlPage) table(g grid) {
	class := "scroll"
	if len(g.words) > wordy {
		class += " wide"
	}
	h.Open("div", markup.A("class", class), markup.A("tabindex", "0"), markup.A("role", "region"), markup.A("aria-label", g.caption))
	h.Open("table")
	h.Leaf("caption", g.caption)
	h.Open("thead")
	h.Open("tr")
	for i, s := range g.head {
		h.cell("th", s, "col", g.words[i])
	}
	h.Close("tr")
	h.Close("thead")
	h.Open("tbody")
	for i, row := range g.rows {
		if m := g.marks[i]; m != "" {
			h.Open("tr", markup.A("class", m))
		} else {
			h.Open("tr")
		}
		for j, s := range row {
			if j == 0 {
				h.cell("th", s, "row", g.words[j])
			} else {
				h.cell("td", s, "", g.words[j])
			}
		}
		h.Close("tr")
		h.Line()
	}
	h.Close("tbody")
	h.Close("table")
	h.Close("div")
}

func (h *htmlPage) cell(name markup.Name, text, scope string, words bool) {
	var attrs []markup.Attr
	if scope != "" {
		attrs = append(attrs, markup.A("scope", scope))
	}
	if words {
		attrs = append(attrs, markup.A("class", "words"))
	}
	h.Leaf(name, text, attrs...)
}

// levels is a row a level: what it gave, what became of its requests, what
// holds it back. One of which no run counts has a row too, without numbers.
func (s Side) levels() grid {
	g := grid{caption: s.of("Levels: medians of the runs that count"), words: map[int]bool{8: true, 9: true}, marks: map[int]string{},
		head: []string{"per GPU", "runs", "tok/s per GPU", "tok/s per user", "TTFT p50 ms", "TTFT p99 ms", "ITL p50 ms", "requests", "of them failed", "notes"}}
	at := map[int]knee.Level{}
	for _, l := range s.Curve.Fit.Levels {
		at[l.ConcurrencyPerGPU] = l
	}
	outcomes, invalid := map[int]loadgen.Outcomes{}, map[int]int{}
	for _, r := range s.Curve.All {
		n := r.Step.ConcurrencyPerGPU
		if _, known := at[n]; !known {
			at[n] = knee.Level{ConcurrencyPerGPU: n}
		}
		if outcomes[n] == nil {
			outcomes[n] = loadgen.Outcomes{}
		}
		for k, v := range r.Result.Measured {
			outcomes[n][k] += v
		}
		if !r.Valid() {
			invalid[n]++
		}
	}
	for i, n := range slices.Sorted(maps.Keys(at)) {
		l := at[n]
		var notes []string
		notes, g.marks[i] = s.levelNotes(l)
		if invalid[n] > 0 {
			notes = append(notes, plural.Of(invalid[n], "INVALID run")+" not counted")
		}
		g.add(strconv.Itoa(n), runs(l), number(l.TokPerSecPerGPU), number(perUser(l)), number(l.TTFTP50MS), number(l.TTFTP99MS), number(l.ITLMS),
			number(float64(outcomes[n].Total())), failures(outcomes[n]), strings.Join(notes, "; "))
	}
	return g
}

// levelNotes are what a level is on the curve, with how its row is marked.
func (s Side) levelNotes(l knee.Level) (notes []string, mark string) {
	fit := s.Curve.Fit
	switch at := float64(l.ConcurrencyPerGPU); {
	case l.ConcurrencyPerGPU == s.Curve.Point.ConcurrencyPerGPU:
		notes, mark = append(notes, "operating point"), "point"
	case fit.KneeLow > 0 && at >= fit.KneeLow && at <= fit.KneeHigh:
		notes, mark = append(notes, "in the knee's interval"), "knee"
	case l.Runs == 0:
		mark = "invalid"
	}
	notes = append(notes, l.Flags...)
	for _, f := range s.Curve.Findings {
		if f.ConcurrencyPerGPU == l.ConcurrencyPerGPU && f.Bottleneck != observe.Headroom {
			notes = append(notes, "held back by "+causeName(f.Bottleneck))
		}
	}
	return notes, mark
}

// failures counts what did not end well, by its kind.
func failures(o loadgen.Outcomes) string {
	if o.Total() == 0 {
		return "-"
	}
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(o)) {
		if k != loadgen.OK && o[k] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", o[k], strings.ReplaceAll(string(k), "_", " ")))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

func (h *htmlPage) levelTable(s Side) {
	h.section("levels"+s.Letter, s.of("Levels"))
	h.table(s.levels())
	h.Close("section")
}

// heldBack is what the servers said of each level.
func (h *htmlPage) heldBack(s Side) {
	if len(s.Curve.Findings) == 0 {
		return
	}
	h.section("held"+s.Letter, s.of("What holds each level back"))
	g := grid{caption: s.of("Attribution: one cause a level, with its evidence"), head: []string{"per GPU", "held back by", "evidence", "against it", "to try"},
		words: map[int]bool{1: true, 2: true, 3: true, 4: true}}
	for _, f := range s.Curve.Findings {
		g.add(strconv.Itoa(f.ConcurrencyPerGPU), causeName(f.Bottleneck), strings.Join(f.Evidence, "; "), strings.Join(f.Against, "; "), f.Try)
	}
	h.table(g)
	h.Close("section")
}

// runs is a row a run, invalid ones with what they failed.
func (s Side) runTable() grid {
	g := grid{caption: s.of("Every run, in the order in which it was made"), words: map[int]bool{2: true, 9: true}, marks: map[int]string{},
		head: []string{"run", "per GPU", "kind and purpose", "window", "started (UTC)", "tok/s per GPU", "TTFT p50 ms", "TTFT p99 ms", "ITL p50 ms", "verdict"}}
	for i, r := range s.Curve.All {
		e := r.Result.Estimate()
		g.add(strconv.Itoa(r.Seq), strconv.Itoa(r.Step.ConcurrencyPerGPU), string(r.Step.Kind)+", "+string(r.Step.Purpose), strconv.Itoa(max(r.Window, 1)),
			r.Started.UTC().Format("15:04:05"), number(e.OutputTokPerSec/s.gpus()), number(e.TTFTP50MS), number(e.TTFTP99MS), number(e.ITLP50MS), runVerdict(r))
		if !r.Valid() {
			g.marks[i] = "invalid"
		}
	}
	return g
}

func runVerdict(r sweep.Run) string {
	if r.Valid() {
		return "valid"
	}
	return "INVALID: " + strings.Join(failed(r), "; ")
}

func (h *htmlPage) runTable(s Side) {
	if !s.recorded() {
		return
	}
	h.section("runs"+s.Letter, s.of("Runs"))
	h.table(s.runTable())
	h.Close("section")
}
