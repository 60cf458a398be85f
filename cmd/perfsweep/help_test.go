package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestHelp: every command says what it does and shows an example, every flag
// says what it means.
func TestHelp(t *testing.T) {
	a := &app{out: io.Discard, err: io.Discard}
	root := a.root()
	check := func(c *cobra.Command) {
		if c.Short == "" || c.Long == "" || c.Example == "" {
			t.Errorf("%s: short, long or example text is missing", c.CommandPath())
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" {
				t.Errorf("%s --%s has no help text", c.CommandPath(), f.Name)
			}
		})
	}
	check(root)
	got := 0
	for _, c := range root.Commands() {
		if c.Hidden || c.IsAdditionalHelpTopicCommand() {
			continue
		}
		got++
		check(c)
	}
	if got != 14 {
		t.Errorf("%d commands; README.md and this test know 14", got)
	}
}

// README.md and perfsweep help exit-codes have the same table.
func TestHelpTopics(t *testing.T) {
	b, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	help := exitCodesTopic().Long
	for _, m := range exitMeanings {
		if row := fmt.Sprintf("| %d | %s |\n", m.code, m.meaning); !strings.Contains(string(b), row) {
			t.Errorf("README.md lacks %s", row)
		}
		if row := fmt.Sprintf(" %d  %s\n", m.code, m.meaning); !strings.Contains(help, row) {
			t.Errorf("help exit-codes lacks %s", row)
		}
	}
	for _, topic := range []string{"concepts", "exit-codes"} {
		var out bytes.Buffer
		if code := run(t.Context(), []string{"help", topic}, nil, &out, io.Discard); code != exitDone || out.Len() < 500 {
			t.Errorf("help %s: exit code %d and %q", topic, code, out.String())
		}
		for line := range strings.Lines(out.String()) {
			// README.md's table has longer rows.
			if len(line) > 81 && !strings.ContainsAny(line[:min(5, len(line))], "0123456789") {
				t.Errorf("help %s is wider than 80 columns: %s", topic, line)
			}
		}
	}
}
