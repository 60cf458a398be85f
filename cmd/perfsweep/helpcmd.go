package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// helpCmd is cobra's help with our exit code for what there is no help about, and
// the pages of help among what a shell offers.
func helpCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND | TOPIC]",
		Short: "Help about a command, or a page about a topic",
		Long: `help shows the help of a command, as --help does, or one of the pages that are
about no command: concepts, exit-codes. Without a word it lists the commands.`,
		Example: "  perfsweep help calibrate\n  perfsweep help exit-codes",
		RunE: func(c *cobra.Command, args []string) error {
			about, rest, err := c.Root().Find(args)
			if err != nil {
				return badInput(err)
			}
			if len(rest) > 0 {
				return unknownTopic(about, rest[0])
			}
			about.InitDefaultHelpFlag() // so that it is among the flags
			about.InitDefaultVersionFlag()
			return about.Help()
		},
		ValidArgsFunction: func(c *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
			about, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var out []cobra.Completion
			for _, sub := range about.Commands() {
				if !sub.Hidden && strings.HasPrefix(sub.Name(), word) {
					out = append(out, cobra.CompletionWithDesc(sub.Name(), sub.Short))
				}
			}
			return out, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// unknownTopic refuses a word that is neither a command nor a page.
func unknownTopic(c *cobra.Command, word string) error {
	known := wordsBelow(c)
	if len(known) == 0 {
		return badInputf("%s has no commands, so there is no help about its %q; see %q", c.CommandPath(), word, c.CommandPath()+" --help")
	}
	return badInputf("no help about %q%s; there is some about %s", word, didYouMean("", word, known), strings.Join(known, ", "))
}
