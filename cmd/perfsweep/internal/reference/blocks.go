package reference

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// block is a part of a help text: a paragraph, or lines that stand as they are.
type block struct {
	lines    []string
	verbatim bool
}

// blocks cuts a help text at its empty lines. One with an indented line is laid
// out by hand; those that follow each other belong together.
func blocks(text string) []block {
	var out []block
	for part := range strings.SplitSeq(strings.Trim(text, "\n"), "\n\n") {
		b := block{lines: strings.Split(strings.Trim(part, "\n"), "\n")}
		b.verbatim = slices.ContainsFunc(b.lines, func(l string) bool { return strings.HasPrefix(l, " ") || strings.HasPrefix(l, "\t") })
		if n := len(out) - 1; n >= 0 && b.verbatim && out[n].verbatim {
			out[n].lines = append(append(out[n].lines, ""), b.lines...)
			continue
		}
		out = append(out, b)
	}
	return out
}

// dedent removes the two columns by which cobra's examples are indented.
func dedent(text string) []string {
	var out []string
	for line := range strings.SplitSeq(strings.Trim(text, "\n"), "\n") {
		out = append(out, strings.TrimPrefix(line, "  "))
	}
	return out
}

// option is a flag as the reference shows it.
type option struct {
	long, short, value, usage, standard string
}

// options lists the flags that are documented; every command has --help.
func options(flags *pflag.FlagSet) []option {
	var out []option
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" || f.Name == "version" {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		o := option{long: "--" + f.Name, usage: strings.Join(strings.Fields(usage), " ")}
		if f.Shorthand != "" {
			o.short = "-" + f.Shorthand
		}
		switch {
		case value == "":
		case f.NoOptDefVal != "":
			o.value = "[=" + value + "]"
		default:
			o.value = " " + value
		}
		if !slices.Contains([]string{"", "0", "false", "[]", "0s", "<nil>"}, f.DefValue) {
			o.standard = f.DefValue
		}
		out = append(out, o)
	})
	return out
}

// commands lists what is documented below c, topics left out.
func commands(c *cobra.Command) []*cobra.Command {
	return below(c, func(sub *cobra.Command) bool { return sub.Runnable() || sub.HasAvailableSubCommands() })
}

// topics lists the pages of help that are no commands.
func topics(c *cobra.Command) []*cobra.Command {
	return below(c, func(sub *cobra.Command) bool { return sub.IsAdditionalHelpTopicCommand() })
}

func below(c *cobra.Command, is func(*cobra.Command) bool) []*cobra.Command {
	var out []*cobra.Command
	for _, sub := range c.Commands() {
		if !sub.Hidden && sub.Name() != "help" && is(sub) {
			out = append(out, sub)
		}
	}
	return out
}

// pageName is the name of a command's page without its ending.
func pageName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// tree lists c and every command below it, each before its own.
func tree(c *cobra.Command) []*cobra.Command {
	out := []*cobra.Command{c}
	for _, sub := range commands(c) {
		out = append(out, tree(sub)...)
	}
	return out
}
