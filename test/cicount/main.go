package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("cicount", flag.ContinueOnError)
	fs.SetOutput(stderr)
	tally := fs.String("tally", "", "append the counts to this `file`")
	if err := fs.Parse(args); err != nil {
		return 2
	}
	t, err := Count(stdin, stdout)
	if err == nil && *tally != "" {
		err = appendTally(*tally, t)
	}
	if err == nil {
		_, err = fmt.Fprintf(stdout, "%d passed, %d failed, %d skipped in this step\n", t.Passed, t.Failed, t.Skipped)
	}
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "cicount:", err)
		return 2
	}
	if !t.Green() {
		return 1
	}
	return 0
}

func appendTally(path string, t Tally) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("record the counts: %w", err)
	}
	if _, err := fmt.Fprintln(f, t.Passed, t.Failed, t.Skipped); err != nil {
		_ = f.Close()
		return fmt.Errorf("record the counts in %s: %w", path, err)
	}
	return f.Close()
}
