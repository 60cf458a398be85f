package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/perfsweep/perfsweep/recipes"
)

// didYouMean goes on from an unknown word with the known one that it was probably
// meant to be, or to begin; "" where there is none.
func didYouMean(dashes, word string, known []string) string {
	near := recipes.Nearest(word, known)
	if near == "" && len(word) > 2 {
		if i := slices.IndexFunc(known, func(k string) bool { return strings.HasPrefix(k, word) }); i >= 0 {
			near = known[i]
		}
	}
	if near == "" {
		return ""
	}
	return ", did you mean " + dashes + near + "?"
}

// wordsBelow are the commands and pages of help that a command has.
func wordsBelow(c *cobra.Command) []string {
	var words []string
	for _, sub := range c.Commands() {
		if !sub.Hidden {
			words = append(words, sub.Name())
		}
	}
	return words
}

// unknownCommand refuses a word where a command is wanted.
func unknownCommand(c *cobra.Command, word string) error {
	of := ""
	if c.HasParent() {
		of = " of " + c.CommandPath()
	}
	meant := didYouMean("", word, wordsBelow(c))
	if slices.Contains(shownFlags(c), word) { // such as version
		meant = ", did you mean --" + word + "?"
	}
	return badInputf("unknown command %q%s%s; see %q", word, of, meant, c.CommandPath()+" --help")
}

// refuseMisspelt finds a word that is no command where one is wanted. It stands
// before the flags, which are those of another command: they would be called
// unknown, and a --help among them would hide the mistake.
func refuseMisspelt(root *cobra.Command, args []string) error {
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		return nil // what a shell asks about is not finished
	}
	root.InitDefaultHelpCmd()
	root.InitDefaultVersionFlag()
	root.InitDefaultCompletionCmd(args...)
	if shells, _, err := root.Find([]string{"completion"}); err == nil {
		for _, shell := range shells.Commands() {
			shell.Args = noArgs // cobra's own check ends with another exit code
		}
	}
	c, rest, err := root.Find(args)
	if err != nil {
		return badInput(err)
	}
	if !c.HasSubCommands() {
		return nil
	}
	if word := firstWord(c, rest); word != "" {
		return unknownCommand(c, word)
	}
	return nil
}

// firstWord is the first argument that is neither a flag nor the value of one, as
// cobra looks for the name of a command: an unknown flag is taken to have a value.
func firstWord(c *cobra.Command, args []string) string {
	for i := 0; i < len(args) && args[i] != "--"; i++ {
		name, dashed := strings.CutPrefix(args[i], "-")
		if !dashed {
			return args[i]
		}
		var f *pflag.Flag
		switch long, twice := strings.CutPrefix(name, "-"); {
		case strings.Contains(name, "="):
			continue
		case twice:
			f = flagOf(c, long)
		case len(name) == 1:
			f = c.Flags().ShorthandLookup(name)
		default:
			continue // a shorthand with its value
		}
		if f == nil || f.NoOptDefVal == "" {
			i++
		}
	}
	return ""
}

// flagOf is a flag of a command, its own or one of all commands.
func flagOf(c *cobra.Command, name string) *pflag.Flag {
	if f := c.Flags().Lookup(name); f != nil {
		return f
	}
	return c.InheritedFlags().Lookup(name)
}

// shownFlags are the flags that a command shows, its own first.
func shownFlags(c *cobra.Command) []string {
	var names []string
	for _, set := range []*pflag.FlagSet{c.LocalFlags(), c.InheritedFlags()} {
		set.VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, f.Name)
			}
		})
	}
	return names
}

// flagError says what is wrong with a flag in words that were not made for
// programmers, and which one was meant.
func flagError(c *cobra.Command, err error) error {
	see := c.CommandPath() + " --help"
	var unknown *pflag.NotExistError
	var bare *pflag.ValueRequiredError
	var wrong *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		known, word := shownFlags(c), unknown.GetSpecifiedName()
		if letters := unknown.GetSpecifiedShortnames(); letters != "" {
			word, _, _ = strings.Cut(letters, "=") // -target: one dash where two are wanted
		}
		return badInputf("%w%s%s; see %q", err, didYouMean("--", word, known), elsewhere(c, word), see)
	case errors.As(err, &bare):
		return badInputf("--%s needs a value: %s; see %q", bare.GetFlag().Name, wantedOf(bare.GetFlag()), see)
	case errors.As(err, &wrong):
		return badInputf("%w; see %q", valueError(wrong), see)
	}
	return badInputf("%w; see %q", err, see)
}

// elsewhere says which other commands have a flag that this one has not.
func elsewhere(c *cobra.Command, name string) string {
	var have []string
	for _, other := range c.Root().Commands() {
		if f := other.Flags().Lookup(name); f != nil && !f.Hidden && !other.Hidden && other != c && !showsConfig(other) {
			have = append(have, other.Name())
		}
	}
	if len(have) == 0 {
		return ""
	}
	return "; it is a flag of " + strings.Join(have, ", ")
}
