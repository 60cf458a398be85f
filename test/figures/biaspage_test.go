package main

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables of docs/bias.md anew from its runs")

// TestBiasPage: the page shows exactly what follows from the runs beside it.
func TestBiasPage(t *testing.T) {
	const page, data = "../../docs/bias.md", "../../docs/examples/bias.jsonl"
	text, err := os.ReadFile(data)
	if err != nil {
		t.Fatal(err)
	}
	setup, runs, err := readBias(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range biasTools {
		for _, c := range biasCells(runs) {
			if n := len(of(runs, c, 1, tool)); n < setup.Pairs || setup.Pairs < biasRepeats {
				t.Errorf("%s at %d streams of %s has %d runs of %d", tool, c.streams, c.server, n, setup.Pairs)
			}
		}
	}
	old, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	const from, to = "<!-- bias: from -->\n", "<!-- bias: to -->\n"
	head, rest, found := strings.Cut(string(old), from)
	_, tail, closed := strings.Cut(rest, to)
	if !found || !closed {
		t.Fatalf("%s has no place for the tables, between %q and %q", page, from, to)
	}
	want := head + from + "\n" + biasPage(setup, runs) + "\n" + to + tail
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(old) != want {
		t.Errorf("%s does not show what %s gives; run make bias-page. It gives\n%s", page, data, biasPage(setup, runs))
	}
}
