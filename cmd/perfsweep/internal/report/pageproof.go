package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/sweep"
)

// gateGrid is every gate with what was seen and what was wanted; says tells the
// state of one.
func gateGrid(caption string, gates []calibrate.GateResult, says func(calibrate.GateResult) string) grid {
	g := grid{caption: caption, head: []string{"gate", "state", "what it demands", "observed", "threshold", "to do"},
		words: map[int]bool{1: true, 2: true, 3: true, 4: true, 5: true}, marks: map[int]string{}}
	for i, r := range gates {
		todo, state := "", says(r)
		if r.State != calibrate.Met && state != followsV2 {
			todo = r.Remedy
		}
		g.add(r.ID, state, r.Name, r.Observed, r.Threshold, todo)
		g.marks[i] = map[calibrate.GateState]string{calibrate.Met: "met", calibrate.Unmet: "invalid"}[r.State]
	}
	return g
}

func (h *htmlPage) gateTables(s Side) {
	if s.Gates == nil {
		return
	}
	h.section("gates"+s.Letter, s.of("Gates"))
	if len(s.Gates.Campaign) > 0 {
		h.Leaf("p", capital(s.Gates.Source)+".")
		h.list(s.remarks())
		h.table(gateGrid(s.of("The gates on the campaign"), s.Gates.Campaign, campaignState))
	}
	h.table(gateGrid(s.of("The run gates: a run that fails one is INVALID, kept and not used"), s.Gates.Run, s.runState))
	h.Close("section")
}

func (s Side) runState(g calibrate.GateResult) string { return runState(g, s.Curve.All) }

// stallTable is what stood still, by run.
func (h *htmlPage) stallTable(s Side) {
	if len(s.Stalls) == 0 {
		return
	}
	h.section("stalls"+s.Letter, s.of("Stalls"))
	g := grid{caption: s.of("What stood still while a run was measured, from the start of its measured part"), head: []string{"run", "per GPU", "from s", "for s", "what"}, words: map[int]bool{4: true}}
	for _, r := range s.Curve.All {
		for _, e := range s.Stalls[r.Seq] {
			g.add(strconv.Itoa(r.Seq), strconv.Itoa(r.Step.ConcurrencyPerGPU), fmt.Sprintf("%.1f", e.StartS), fmt.Sprintf("%.1f", e.LengthS), e.String())
		}
	}
	h.table(g)
	h.Close("section")
}

// generatorTable is how far this tool itself can be trusted, the worst run of
// each level by each number.
func (h *htmlPage) generatorTable(s Side) {
	if !s.toldHealth() {
		return
	}
	levels := map[int][]sweep.Run{}
	var order []int
	for _, r := range s.Curve.All {
		if n := r.Step.ConcurrencyPerGPU; told(r) {
			if levels[n] == nil {
				order = append(order, n)
			}
			levels[n] = append(levels[n], r)
		}
	}
	slices.Sort(order)
	g := grid{caption: s.of("This tool itself, the worst run of each level (CPU and lag decide: V8; mean in flight: V3)"),
		head: []string{"per GPU", "in flight, mean and lowest", "CPU", "lag p50 ms", "lag p99 ms", "events a read", "no CPU for", "late start ms", "TTFT source"}}
	for _, n := range order {
		row := strings.Split(strings.TrimSuffix(generatorRow(levels[n]), "\t"), "\t")
		g.add(append([]string{strconv.Itoa(n)}, row...)...)
	}
	h.section("generator"+s.Letter, s.of("The health of the load generator"))
	h.table(g)
	h.Close("section")
}

// fingerprint is what was measured, as the journal spells it.
func (h *htmlPage) fingerprint(s Side) {
	if s.Curve.Fingerprint == nil {
		return
	}
	h.section("fingerprint"+s.Letter, s.of("Fingerprint"))
	g := grid{caption: s.of("What was measured; a field that is missing is not known"), head: []string{"field", "value"}, words: map[int]bool{0: true, 1: true}}
	for _, f := range fields(s.Curve.Fingerprint) {
		g.add(f[0], f[1])
	}
	h.table(g)
	h.Close("section")
}

// fields spells a value as its JSON does, one row a leaf, in the order of names.
func fields(v any) [][2]string {
	b, err := json.Marshal(v)
	if err != nil {
		return [][2]string{{"unreadable", err.Error()}}
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber() // ids lie above what a float holds
	var tree any
	if err := d.Decode(&tree); err != nil {
		return [][2]string{{"unreadable", err.Error()}}
	}
	var out [][2]string
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch x := v.(type) {
		case map[string]any:
			for k, v := range x {
				walk(strings.TrimPrefix(path+"."+k, "."), v)
			}
		case []any:
			for i, v := range x {
				walk(path+"."+strconv.Itoa(i), v)
			}
		default:
			out = append(out, [2]string{path, fmt.Sprint(x)})
		}
	}
	walk("", tree)
	slices.SortFunc(out, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return out
}

// method says what the words mean.
func (h *htmlPage) method() {
	h.section("method", "Definitions")
	h.Open("dl")
	for _, d := range [][2]string{
		{"concurrency per GPU", "Streaming requests held in flight for each GPU, in a closed loop: a stream sends its next request when its answer has ended."},
		{"tok/s per GPU", "Output tokens by the server's own usage, in the steady part of a run, a second and a GPU. Gate runs count the whole run, as AICR's evaluator does."},
		{"TTFT", "From the first byte sent to the first chunk with content, at the kernel's receive time where it tells one."},
		{"ITL", "(end of the answer − TTFT) / (tokens − 1), a request. tok/s per user is its inverse."},
		{"goodput", "What ended well and within every limit of the objective (--ttft-p99, --itl-p99), counted request by request while they were there."},
		{"knee", "Where one more percent of concurrency buys less than e* = 0.20 percent of throughput. The interval joins a bootstrap with the levels around it."},
		{"operating point", "The ladder value at or below 0.8 × the knee, with the next value measured and healthy."},
		{"acts as", "AICR's evaluator passes at 0.9 × a floor and 1.1 × a ceiling."},
		{"INVALID", "A run that failed a run gate. It is kept, never used, and never a slow run."},
	} {
		h.Leaf("dt", d[0])
		h.Leaf("dd", d[1])
	}
	h.Close("dl")
	h.Close("section")
}

// moved is what became of the second journal beside the first.
func (h *htmlPage) moved() {
	c := *h.p.Comparison
	h.section("moved", "What moved from A to B")
	h.list(c.lines())
	h.table(c.levelGrid())
	h.Close("section")
}

// lines are the words of a comparison, without its table of levels.
func (c Comparison) lines() []string {
	r := c.Report
	out := []string{
		"output tok/s per GPU: " + c.sentence(r.Throughput, c.Options.Throughput),
		"TTFT p99: " + c.sentence(r.TTFT, c.Options.TTFT),
	}
	if g := r.Goodput; g != nil {
		out = append(out, "goodput: "+c.sentence(*g, c.Options.Throughput))
	}
	out = append(out, fmt.Sprintf("A is %s, B is %s; these verdicts are over %s together%s", c.NameA, c.NameB, plural.Of(len(r.Levels), "level"), byPairs(r)))
	var p bytes.Buffer
	c.points(&printer{w: &p})
	for line := range strings.Lines(strings.TrimSpace(p.String())) {
		out = append(out, strings.TrimSpace(line))
	}
	if len(c.Differences) == 0 {
		out = append(out, "what differs between them is not recorded: their fingerprints are equal or absent")
	}
	for _, d := range c.Differences {
		out = append(out, "differs: "+d)
	}
	for _, w := range r.Warnings {
		out = append(out, "warning: "+w)
	}
	return out
}

func (c Comparison) levelGrid() grid {
	r := c.Report
	g := grid{caption: "Level by level; p* is corrected (Holm) for " + plural.Of(len(r.Levels), "level"), words: map[int]bool{6: true, 11: true},
		head: []string{"per GPU", "runs A+B", "tok/s per GPU A", "B", "change", "p*", "verdict", "TTFT p99 ms A", "B", "change", "p*", "verdict"}}
	for _, l := range r.Levels {
		x, t := l.Throughput, l.TTFT
		g.add(strconv.Itoa(l.ConcurrencyPerGPU), fmt.Sprintf("%d+%d", x.RunsA, x.RunsB),
			number(x.MedianA), number(x.MedianB), change(x), fmt.Sprintf("%.2g", x.Corrected), strings.ReplaceAll(string(x.Verdict), "_", " "),
			number(t.MedianA), number(t.MedianB), change(t), fmt.Sprintf("%.2g", t.Corrected), strings.ReplaceAll(string(t.Verdict), "_", " "))
	}
	return g
}
