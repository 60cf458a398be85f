package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/recipes"
)

// Replays are gates before known runs.
type Replays struct {
	Record string // public, or a file
	Runs   int
	Gates  []recipes.Replay
}

type replayDoc struct {
	SchemaVersion int              `json:"schema_version"`
	Record        string           `json:"record"`
	Runs          int              `json:"runs"`
	OldGate       recipes.Gate     `json:"old_gate"`
	Overlays      []recipes.Replay `json:"overlays"`
}

// Replay prints what each gate says of the runs that it is about.
func Replay(w io.Writer, format string, r Replays) error {
	switch format {
	case "json":
		return encode(w, replayDoc{schemaVersion, r.Record, r.Runs, recipes.UpstreamGate(), r.Gates})
	case "csv":
		return csv.NewWriter(w).WriteAll(replayRows(r))
	}
	p := &printer{w: w}
	old := recipes.UpstreamGate()
	p.line("%s (%s), judged by each overlay and by the gate that all had before (at least %s tok/s a node, TTFT p99 at most %s ms); nothing was measured",
		plural.Of(r.Runs, "known run"), r.Record, number(old.Floor), number(old.CeilingTTFTP99MS))
	p.line("")
	p.table(summaryRows(r))
	for _, g := range r.Gates {
		p.replay(g)
	}
	if slices.ContainsFunc(r.Gates, func(g recipes.Replay) bool { return slices.ContainsFunc(g.Runs, star) }) {
		p.line("")
		p.line("* at another load than the gate's: what the evaluator would say, which does not know the load; a check would be inconclusive")
	}
	return p.err
}

// summaryRows has a row an overlay.
func summaryRows(r Replays) [][]string {
	rows := [][]string{{"healthy pass", "bad caught", "floor alone", "old: healthy", "old: bad", "old floor alone", "loss seen", "old", "not judged", "overlay"}}
	for _, g := range r.Gates {
		rows = append(rows, []string{
			healthyOf(g.Gate), badOf(g.Gate), badOf(g.Floor), healthyOf(g.OldGate), badOf(g.OldGate), badOf(g.OldFloor),
			loss(g.Floor), loss(g.OldFloor), strconv.Itoa(g.NotJudged), g.Overlay + off(g),
		})
	}
	return rows
}

func off(g recipes.Replay) string {
	if g.Enabled {
		return ""
	}
	return " (no gate: the check is off)"
}

func healthyOf(t recipes.Tally) string { return of(t.HealthyPassed, t.Healthy) }
func badOf(t recipes.Tally) string     { return of(t.BadCaught, t.Bad) }

func of(n, all int) string {
	if all == 0 {
		return "-"
	}
	return fmt.Sprintf("%d of %d", n, all)
}

// loss is the throughput that a healthy median run must lose to fail.
func loss(t recipes.Tally) string {
	if t.LossSeen == 0 {
		return "-"
	}
	return fmt.Sprintf("> %.0f %%", 100*t.LossSeen)
}

// replay prints the runs of one overlay and what its floor says of other nodes.
func (p *printer) replay(g recipes.Replay) {
	if len(g.Runs) == 0 {
		return
	}
	p.line("")
	p.line("%s%s", g.Overlay, off(g))
	rows := [][]string{{"row", "GPUs", "per GPU", "tok/s", "TTFT p99 ms", "gate", "floor alone", "old gate", "old floor", "state, source"}}
	for _, j := range g.Runs {
		rows = append(rows, []string{
			strings.TrimSpace(fmt.Sprint(j.Row, " ", j.Run)), whole(j.GPUs), whole(j.ConcurrencyPerGPU), number(j.TokPerSec), number(j.TTFTP99MS),
			starred(j, j.Gate), starred(j, j.Floor), string(j.OldGate), string(j.OldFloor), last(j),
		})
	}
	p.table(rows)
	rule := g.Rule
	if rule != nil {
		p.line("  the portable rule of calibrate makes of the healthy runs: %s tok/s per GPU, acts as %s; healthy %s, bad %s, loss seen %s",
			number(rule.FloorPerGPU), number(rule.Effective), healthyOf(rule.Floor), badOf(rule.Floor), loss(rule.Floor))
	}
	for i, s := range g.Shapes {
		if rule != nil {
			r := rule.Shapes[i]
			p.line("  node of %d, as healthy per GPU: %s (portable rule: %s; old floor: %s); at 70 %% of that speed: %s (portable rule: %s; old floor: %s)",
				s.GPUs, s.Healthy, r.Healthy, s.OldHealthy, s.Slow, r.Slow, s.OldSlow)
			continue
		}
		p.line("  node of %d, as healthy per GPU: %s (old floor: %s); at 70 %% of that speed: %s (old floor: %s)", s.GPUs, s.Healthy, s.OldHealthy, s.Slow, s.OldSlow)
	}
}

// last is the free text of a row; why there is no verdict belongs to it.
func last(j recipes.Judged) string {
	s := j.State() + "; " + j.Source
	if j.Gate == recipes.NoVerdict && j.Why != "" {
		s += " (no verdict: " + j.Why + ")"
	}
	return s
}

func star(j recipes.Judged) bool { return j.OtherLoad && j.Gate != recipes.NoVerdict }

func starred(j recipes.Judged, o recipes.Outcome) string {
	if star(j) {
		return string(o) + "*"
	}
	return string(o)
}

func whole(n int) string {
	if n == 0 {
		return "-"
	}
	return strconv.Itoa(n)
}

// replayRows has a row for each overlay and run.
func replayRows(r Replays) [][]string {
	rows := [][]string{{"overlay", "row", "run", "gpus", "concurrency_per_gpu", "output_tok_per_s", "ttft_p99_ms", "state", "gate", "floor_alone", "old_gate", "old_floor_alone", "other_load", "why", "source"}}
	for _, g := range r.Gates {
		for _, j := range g.Runs {
			rows = append(rows, []string{
				g.Overlay, strconv.Itoa(j.Row), j.Run, cell(float64(j.GPUs)), cell(float64(j.ConcurrencyPerGPU)), cell(j.TokPerSec), cell(j.TTFTP99MS),
				j.State(), string(j.Gate), string(j.Floor), string(j.OldGate), string(j.OldFloor), strconv.FormatBool(j.OtherLoad), j.Why, j.Source,
			})
		}
	}
	return rows
}
