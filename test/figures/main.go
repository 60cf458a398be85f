// Command figures measures what the project claims of its load generator, each
// figure interleaved with its reference in one run, and prints a table.
//
//	go run ./test/figures -bin bin/perfsweep [PART…]
//
// The parts are decode, load, ttft, start, hold and, only when named, scrape,
// which takes seven minutes, aiperf, which needs peer_bench.sh in
// $PERFSWEEP_SHARED/bench and a package index, and bias, which takes twenty
// minutes and needs a package index once and $PERFSWEEP_SHARED/dynamo. It holds AIPerf and perfsweep
// against what two servers say that they served, and prints Markdown for docs/bias.md.
// It needs Linux, and means something on a quiet machine only: the share of
// the CPU that others used is printed with the table.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if len(os.Args) > 1 {
		inside := map[string]func([]string, io.Writer) error{
			"raw": rawMain, // the reference, in a process of its own
			"pin": pinMain, // becomes another program
		}
		if f := inside[os.Args[1]]; f != nil {
			if err := f(os.Args[2:], os.Stdout); err != nil {
				fmt.Fprintf(os.Stderr, "figures %s: %v\n", os.Args[1], err)
				os.Exit(1)
			}
			return
		}
	}
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// part measures some figures.
type part struct {
	name   string
	asked  bool // runs only when it is named
	what   string
	figure func(context.Context, *bench) ([]row, error)
}

var parts = []part{
	{"decode", false, "chunks decoded a second on one core", decodePart},
	{"load", false, "cost, rate, TTFT error and memory at 64, 256 and 1,024 streams x 20 ms, against raw sockets", loadPart},
	{"ttft", false, "TTFT error at 2,048 streams", ttftPart},
	{"start", false, "launch and exit of a trivial run, against raw sockets", startPart},
	{"hold", false, "4,096 streams for a minute", holdPart},
	{"scrape", true, "CPU of a sweep at 2,048 streams that watches one page, or nine, against none", scrapePart},
	{"aiperf", true, "AIPerf against profile, with peer_bench.sh", aiperfPart},
	{"bias", true, "AIPerf and profile, each against what a paced server and a Dynamo frontend say that they served", biasPart},
}

// bench is what every part needs.
type bench struct {
	bin   string // perfsweep
	times int    // pairs of runs; 0: what the part thinks right
	sets  int    // of the bias part
	runs  string // file for those of the bias part
	asked string // the command line
	self  string // this program, for the raw client
	short bool   // proves that all works; the figures mean nothing
	talk  io.Writer
	out   io.Writer
}

// repeats is how many pairs of runs a part makes that would make own.
func (b *bench) repeats(own int) int {
	switch {
	case b.short:
		return 1
	case b.times > 0:
		return b.times
	}
	return own
}

func (b *bench) say(format string, args ...any) {
	_, _ = fmt.Fprintf(b.talk, format+"\n", args...) // talk only
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("figures", flag.ContinueOnError)
	fs.SetOutput(stderr)
	b := &bench{talk: stderr, out: stdout, asked: strings.Join(append([]string{"go run ./test/figures"}, args...), " ")}
	fs.StringVar(&b.bin, "bin", "bin/perfsweep", "the perfsweep to measure")
	fs.IntVar(&b.times, "pairs", 0, "runs of either side; a noisy machine needs more (default 2, of bias 3)")
	fs.IntVar(&b.sets, "sets", 1, "with 2, bias makes all its pairs once more and holds them against the ranges of the first")
	fs.StringVar(&b.runs, "runs", "", "file for each run of bias, from which its tables follow")
	fs.BoolVar(&b.short, "short", false, "prove that every part works, in a minute; its figures mean nothing")
	fs.Usage = func() {
		_, _ = fmt.Fprintln(stderr, "usage: figures [-bin FILE] [-pairs N] [-sets N] [-runs FILE] [-short] [PART…]")
		fs.PrintDefaults()
		for _, p := range parts {
			_, _ = fmt.Fprintf(stderr, "  %-8s %s\n", p.name, p.what)
		}
	}
	if fs.Parse(args) != nil {
		return 2
	}
	chosen, err := choose(fs.Args())
	if err == nil {
		b.self, err = os.Executable()
	}
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "figures:", err)
		return 2
	}
	var rows []row
	failed := 0
	for _, p := range chosen {
		b.say("== %s: %s", p.name, p.what)
		busy := watchOthers()
		got, err := p.figure(ctx, b)
		others := busy()
		if err != nil {
			failed++
			got = append(got, row{name: p.name, measured: "failed: " + strings.Join(strings.Fields(err.Error()), " ")})
		}
		for i := range got {
			got[i].others = others
		}
		rows = append(rows, got...)
		if ctx.Err() != nil {
			break
		}
	}
	if err := table(stdout, rows); err != nil {
		_, _ = fmt.Fprintln(stderr, "figures:", err)
		return 1
	}
	if failed > 0 {
		return 1
	}
	return 0
}

func choose(names []string) ([]part, error) {
	var out []part
	for _, n := range names {
		i := slices.IndexFunc(parts, func(p part) bool { return p.name == n })
		if i < 0 {
			var known []string
			for _, p := range parts {
				known = append(known, p.name)
			}
			return nil, fmt.Errorf("there is no part %q: choose from %s", n, strings.Join(known, ", "))
		}
		out = append(out, parts[i])
	}
	if len(names) == 0 {
		for _, p := range parts {
			if !p.asked {
				out = append(out, p)
			}
		}
	}
	return out, nil
}

// pick chooses between the full size and the one that only proves that it works.
func pick[T any](b *bench, full, short T) T {
	if b.short {
		return short
	}
	return full
}
