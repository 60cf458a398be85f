package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// The two sides of a pair, in the order of the table.
var biasTools = [...]string{"aiperf", "perfsweep"}

// cell is a server under a number of streams.
type cell struct {
	server  string
	streams int
}

// biasCells lists the cells in the order of their servers' first runs, and of streams.
func biasCells(runs []biasRun) []cell {
	var out []cell
	seen := map[cell]bool{}
	for _, r := range runs {
		if c := (cell{r.Server, r.Streams}); !seen[c] {
			seen[c] = true
			out = append(out, c)
		}
	}
	servers := biasServers(runs)
	slices.SortStableFunc(out, func(a, b cell) int {
		return cmp.Or(cmp.Compare(slices.Index(servers, a.server), slices.Index(servers, b.server)), cmp.Compare(a.streams, b.streams))
	})
	return out
}

// of picks the runs of a cell, a set and a tool, in the order of pairs.
func of(runs []biasRun, c cell, set int, tool string) []biasRun {
	var out []biasRun
	for _, r := range runs {
		if r.Server == c.server && r.Streams == c.streams && r.Set == set && r.Tool == tool {
			out = append(out, r)
		}
	}
	return out
}

// The biases of a run.
var biasOf = [...]func(biasRun) float64{
	func(r biasRun) float64 { return r.Told.TokPerSec / r.Truth.TokPerSec },
	func(r biasRun) float64 { return r.Told.TTFTP50MS - r.Truth.TTFTP50MS },
	func(r biasRun) float64 { return r.Told.TTFTP99MS - r.Truth.TTFTP99MS },
}

func valuesOf[T any](in []T, f func(T) float64) []float64 {
	var out []float64
	for _, v := range in {
		out = append(out, f(v))
	}
	return out
}

func (e estimate) String() string { return e.format("%.1f") }

func (e estimate) format(verb string) string {
	if math.IsNaN(e.low) {
		return rounded(verb, e.mean)
	}
	return rounded(verb, e.mean) + " (" + rounded(verb, e.low) + " to " + rounded(verb, e.high) + ")"
}

// rounded never shows a nought as negative.
func rounded(verb string, v float64) string {
	s := fmt.Sprintf(verb, v)
	if strings.Trim(s, "-0.") == "" {
		s = strings.TrimPrefix(s, "-")
	}
	return s
}

// biasPage is all that a page shows of runs.
func biasPage(setup biasSetup, runs []biasRun) string {
	var out strings.Builder
	fmt.Fprintf(&out, "Made on %s with `%s`: %d pairs a row.\nMachine: %s. AIPerf %s, perfsweep %s, %s.\n\n", setup.Date, setup.Command, setup.Pairs,
		setup.Machine, setup.AIPerf, setup.Perfsweep, setup.Dynamo)
	out.WriteString(biasAgainstTruth(runs) + "\n" + biasPairs(runs) + "\n")
	out.WriteString(biasWorst(runs))
	if again := biasRepeat(runs); again != "" {
		out.WriteString("\n" + again)
	}
	return out.String()
}

// biasAgainstTruth has a row for each tool in each cell.
func biasAgainstTruth(runs []biasRun) string {
	var out strings.Builder
	out.WriteString("| server | streams | tool | served, tok/s | reported, tok/s | reported / served | TTFT p50 served, ms | reported − served, ms | TTFT p99 served, ms | reported − served, ms | CPU of others |\n")
	out.WriteString("|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, c := range biasCells(runs) {
		for _, tool := range biasTools {
			mine := of(runs, c, 1, tool)
			if len(mine) == 0 {
				continue
			}
			mean := func(f func(biasRun) float64) float64 { return estimateOf(valuesOf(mine, f)).mean }
			others := mean(func(r biasRun) float64 {
				if r.Others == nil {
					return math.NaN()
				}
				return 100 * *r.Others
			})
			share := "–"
			if !math.IsNaN(others) {
				share = fmt.Sprintf("%.0f %%", others)
			}
			fmt.Fprintf(&out, "| %s | %d | %s | %.1f | %.1f | %s | %.1f | %s | %.1f | %s | %s |\n", c.server, c.streams, tool,
				mean(func(r biasRun) float64 { return r.Truth.TokPerSec }), mean(func(r biasRun) float64 { return r.Told.TokPerSec }),
				estimateOf(valuesOf(mine, biasOf[0])).format("%.4f"),
				mean(func(r biasRun) float64 { return r.Truth.TTFTP50MS }), estimateOf(valuesOf(mine, biasOf[1])),
				mean(func(r biasRun) float64 { return r.Truth.TTFTP99MS }), estimateOf(valuesOf(mine, biasOf[2])), share)
		}
	}
	return out.String()
}

// biasPairs holds AIPerf's numbers against perfsweep's, pair by pair.
func biasPairs(runs []biasRun) string {
	var out strings.Builder
	out.WriteString("| server | streams | AIPerf / perfsweep: reported tok/s | served tok/s | AIPerf − perfsweep: reported TTFT p50, ms | reported TTFT p99, ms |\n|---|---|---|---|---|---|\n")
	for _, c := range biasCells(runs) {
		a, p := of(runs, c, 1, biasTools[0]), of(runs, c, 1, biasTools[1])
		n := min(len(a), len(p))
		if n == 0 {
			continue
		}
		pairs := make([]int, n)
		for i := range pairs {
			pairs[i] = i
		}
		over := func(f func(a, p biasRun) float64) estimate {
			return estimateOf(valuesOf(pairs, func(i int) float64 { return f(a[i], p[i]) }))
		}
		fmt.Fprintf(&out, "| %s | %d | %s | %s | %s | %s |\n", c.server, c.streams,
			over(func(a, p biasRun) float64 { return a.Told.TokPerSec / p.Told.TokPerSec }).format("%.4f"),
			over(func(a, p biasRun) float64 { return a.Truth.TokPerSec / p.Truth.TokPerSec }).format("%.4f"),
			over(func(a, p biasRun) float64 { return a.Told.TTFTP50MS - p.Told.TTFTP50MS }),
			over(func(a, p biasRun) float64 { return a.Told.TTFTP99MS - p.Told.TTFTP99MS }))
	}
	return out.String()
}

// worstRatio is how far a tool's throughput was from a server's in any run of it.
func worstRatio(runs []biasRun, server, tool string) (worst float64, n int) {
	for _, r := range runs {
		if r.Server == server && r.Tool == tool {
			n++
			worst = max(worst, math.Abs(biasOf[0](r)-1))
		}
	}
	return worst, n
}

// biasServers lists the servers in the order of their first runs.
func biasServers(runs []biasRun) []string {
	var out []string
	for _, r := range runs {
		if !slices.Contains(out, r.Server) {
			out = append(out, r.Server)
		}
	}
	return out
}

func biasWorst(runs []biasRun) string {
	var out strings.Builder
	for _, server := range biasServers(runs) {
		for _, tool := range biasTools {
			if worst, n := worstRatio(runs, server, tool); n > 0 {
				fmt.Fprintf(&out, "- %s on %s: the throughput that it reported was at most %.3f %% from what was served, in any of %d runs.\n", tool, server, 100*worst, n)
			}
		}
	}
	return out.String()
}

// biasRepeat holds the second set against the ranges of the first. It is empty
// where there is none.
func biasRepeat(runs []biasRun) string {
	var rows strings.Builder
	in, all := map[string]int{}, map[string]int{}
	for _, c := range biasCells(runs) {
		for _, tool := range biasTools {
			first, second := of(runs, c, 1, tool), of(runs, c, 2, tool)
			if len(first) < 2 || len(second) < len(first) {
				continue // of fewer pairs the mean lies further out
			}
			fmt.Fprintf(&rows, "| %s | %d | %s |", c.server, c.streams, tool)
			for i, f := range biasOf {
				got, verb, said := estimateOf(valuesOf(second, f)).mean, "%.1f", "outside"
				if i == 0 {
					verb = "%.4f"
				}
				all[tool]++
				if estimateOf(valuesOf(first, f)).covers(got) {
					said = "inside"
					in[tool]++
				}
				fmt.Fprintf(&rows, " %s, %s |", rounded(verb, got), said)
			}
			rows.WriteString("\n")
		}
	}
	if rows.Len() == 0 {
		return ""
	}
	head := "| server | streams | tool | repeat: reported / served | TTFT p50, reported − served, ms | TTFT p99, reported − served, ms |\n|---|---|---|---|---|---|\n"
	var said []string
	for _, tool := range biasTools {
		said = append(said, fmt.Sprintf("%d of %d means of %s", in[tool], all[tool], tool))
	}
	return "The same once more, held against the ranges above: " + strings.Join(said, " and ") + " lie inside.\n\n" + head + rows.String()
}
