package main

import (
	"io"
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
		if c.Hidden {
			continue
		}
		got++
		check(c)
	}
	if got != 12 {
		t.Errorf("%d commands; README.md and this test know 12", got)
	}
}
