package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/live"
)

// app is what every command shares: streams and the global flags.
type app struct {
	in        io.Reader
	out, err  io.Writer
	output    string // text, json, csv
	quiet     bool
	exitCodes string       // "", aicr
	screen    *live.Screen // the terminal that err is, nil where it is none
	args      []string
	config    *usedConfig // nil without a campaign file
	flagsOnly bool        // judge the flags of a command, and do nothing with them
	// open finds a target that is no cluster's: openTarget outside virtual time.
	open func(spec string, gpus int) (*target, error)
	// artifacts are the files that profile will write.
	artifacts func() []fileUse
	// remains are what could not be removed of what was made elsewhere.
	remains []error
	// journals are those that were begun or found: an interruption leaves them.
	journals []string
	unkept   bool // the command could have kept its runs and was not told where
}

// run is the whole program above the operating system.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	screen := screenOf(stderr, os.Getenv)
	if screen != nil {
		defer screen.Close() // also where it panics
		stderr = screen
	}
	size := terminalSize(stdout)
	stdout, stderr = plainText{stdout}, plainText{stderr}
	if size != nil {
		stdout = paper{stdout, size}
	}
	a := &app{in: stdin, out: stdout, err: stderr, screen: screen, args: asJob(args), open: openTarget}
	return a.execute(ctx)
}

// execute runs the command that the arguments name and returns its exit code.
func (a *app) execute(ctx context.Context) int {
	root := a.root()
	args := spreadProfile(root, a.args)
	root.SetArgs(args)
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	err := refuseMisspelt(root, args)
	if err == nil {
		err = root.ExecuteContext(ctx)
	}
	if c, _, err := root.Find(args); err == nil {
		f := c.Flags().Lookup("journal")
		a.unkept = f != nil && f.Value.String() == ""
	}
	code, silent := exitCode(ctx, err)
	if !silent {
		err = a.placed(err)
		a.write(a.err, "perfsweep: %s\n", a.oneLine(err, code))
	}
	for _, err := range a.remains {
		a.write(a.err, "perfsweep: %s\n", a.oneLine(err, exitWorld))
		if code == exitDone {
			code = exitWorld
		}
	}
	if a.exitCodes == "aicr" || asksForAICR(a.args) {
		return aicrCode(code)
	}
	return code
}

// maxMessage bounds a message: words of a file in it may be as long as that.
const maxMessage = 16 << 10

// oneLine bounds an error's text, and adds the way out of an interruption: one that
// came before there was a journal leaves nothing to go on with.
func (a *app) oneLine(err error, code int) string {
	msg := inWords(err)
	if len(msg) > maxMessage { // it quotes a file
		msg = strings.ToValidUTF8(msg[:maxMessage], "") + "…"
	}
	if code != exitInterrupted {
		return msg
	}
	msg = strings.ReplaceAll(msg, context.Canceled.Error(), "a signal ended it")
	switch {
	case len(a.journals) == 0 && a.unkept:
		return "interrupted: " + msg + "; no run was kept: with --journal FILE each is, and --resume goes on from them"
	case len(a.journals) == 0:
		return "interrupted: " + msg
	case len(a.journals) == 1:
		return "interrupted: " + msg + "; the journal " + a.journals[0] + " is intact, continue it with --resume"
	}
	return "interrupted: " + msg + "; the journals " + strings.Join(a.journals, " and ") + " are intact, continue them with --resume"
}

// hasJournal notes a journal that there is now, however the command ends.
func (a *app) hasJournal(path string) {
	if !slices.Contains(a.journals, path) {
		a.journals = append(a.journals, path)
	}
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "perfsweep",
		Short: "Find the saturation knee of an LLM deployment and calibrate gates from it",
		Long: `perfsweep holds N streaming chat requests in flight against an OpenAI-compatible
server, sweeps N per GPU, finds the saturation knee with an interval, confirms a
concurrency safely below it, and writes calibrated per-GPU throughput floors and
TTFT ceilings into AICR overlays. "check" later re-measures that one point.

Exit codes: 0 done or passed, 1 the world (unreachable, permission, disk),
2 what you wrote (flags, overlay, input file), 8 gate failed, 9 inconclusive or
refused, 130 interrupted with the journal intact.`,
		Example:           "  perfsweep calibrate --target sim:gb300 --effort quick --allow-simulated --overlay my.yaml",
		Version:           version,
		SilenceUsage:      true,
		SilenceErrors:     true,
		DisableAutoGenTag: true,
		PersistentPreRunE: func(c *cobra.Command, args []string) error {
			if err := a.checkGlobals(c); err != nil {
				return err
			}
			if err := a.useConfig(c); err != nil {
				return err
			}
			if err := a.ownFiles(c, args); err != nil {
				return err
			}
			return ownSidecar(c, args)
		},
	}
	f := root.PersistentFlags()
	f.StringVarP(&a.output, "output", "o", "text", "what stdout holds: text, json or csv; lint also writes sarif, config yaml, and report html, svg, md or a file")
	f.BoolVar(&a.quiet, "quiet", false, "no progress on stderr")
	f.StringVar(&a.exitCodes, "exit-codes", "", `"aicr" maps every failure to 1, because AICR reads a container's 2 as skipped`)
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(helpCmd())
	root.AddCommand(takesConfig(a.sweepCmd()), a.kneeCmd(), a.compareCmd(), a.reportCmd(), takesConfig(a.calibrateCmd()), a.verifyCmd(), takesConfig(a.checkCmd()), a.configCmd(), a.profileCmd(), a.lintCmd(), a.recipesCmd(), a.discoverCmd(), a.simulateCmd(), a.selftestCmd(), a.workerCmd(),
		conceptsTopic(), exitCodesTopic())
	complete(root)
	decimals(root)
	root.Args = noArgs
	root.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	return root
}

// asksForAICR finds --exit-codes aicr where flags after a wrong one were never
// parsed: AICR would take the 2 of a mistyped check for one that was skipped.
func asksForAICR(args []string) bool {
	for i, arg := range args {
		if arg == "--exit-codes=aicr" || arg == "aicr" && i > 0 && args[i-1] == "--exit-codes" {
			return true
		}
	}
	return false
}

func (a *app) checkGlobals(c *cobra.Command) error {
	// An empty value is what a script makes of a variable that is not set, such
	// as --journal "$J": to measure for hours without one is not what it meant.
	var empty error
	c.Flags().Visit(func(f *pflag.Flag) {
		if empty == nil && f.Value.Type() == "string" && f.Value.String() == "" {
			empty = badInputf("--%s is empty: give it a value, or leave it out", f.Name)
		}
	})
	if empty != nil {
		return empty
	}
	switch a.output {
	case "text", "json", "csv":
	case "sarif":
		if c.Name() != "lint" {
			return badInputf("-o sarif is for lint; use text, json or csv")
		}
	case "yaml":
		if !showsConfig(c) {
			return badInputf("-o yaml is for config; use text, json or csv")
		}
	default:
		if c.Name() == "report" {
			break // knows more forms, and files
		}
		return badInputf("-o %q: use text, json or csv", a.output)
	}
	if a.exitCodes != "" && a.exitCodes != "aicr" {
		return badInputf("--exit-codes %q: the only mapping is aicr", a.exitCodes)
	}
	return nil
}

// noArgs, atMostOne and exactly are cobra's argument checks with our words and
// exit code.
func noArgs(c *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case c.HasSubCommands():
		return unknownCommand(c, args[0])
	}
	return badInputf("%s takes flags only, and %q is none%s; see %q", c.CommandPath(), args[0], didYouMean("--", args[0], shownFlags(c)), c.CommandPath()+" --help")
}

func atMostOne(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > 1 {
			return badInputf("%s takes %s at most, and %q is one more; see %q", c.CommandPath(), what, args[1], c.CommandPath()+" --help")
		}
		return nil
	}
}

func atLeastOne(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return badInputf("%s needs %s; see %q", c.CommandPath(), what, c.CommandPath()+" --help")
		}
		return nil
	}
}

func exactly(n int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != n {
			return badInputf("%s needs %s; see %q", c.CommandPath(), what, c.CommandPath()+" --help")
		}
		return nil
	}
}

// write is for talk: a closed stderr must not end a measurement.
func (a *app) write(w io.Writer, format string, args ...any) {
	_, _ = fmt.Fprintf(w, format, args...)
}

// say writes talk to stderr unless --quiet.
func (a *app) say(format string, args ...any) {
	if !a.quiet {
		a.write(a.err, format+"\n", args...)
	}
}
