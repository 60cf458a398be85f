package main

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/loadgen/aiperf"
)

// aiperfFlag puts a flag of AIPerf's command line behind pflag's interface.
type aiperfFlag struct {
	aiperf.Flag
	o *aiperf.Options
}

func (f aiperfFlag) String() string { return "" }

func (f aiperfFlag) Type() string {
	if f.Switch {
		return "bool"
	}
	return "value"
}

func (f aiperfFlag) Set(v string) error { return f.Flag.Set(f.o, v) }

func (a *app) profileCmd() *cobra.Command {
	o := aiperf.Defaults()
	a.artifacts = func() []fileUse {
		f := o.Files()
		const export = "profile-export-prefix"
		uses := []fileUse{{export, f.JSON, true}, {export, f.CSV, true}, {"output-artifact-dir", f.Ready, true}}
		if o.Records {
			uses = append(uses, fileUse{export, f.Records, true})
		}
		return uses
	}
	c := &cobra.Command{
		Use:   "profile --model M --url URL --concurrency N --osl TOKENS",
		Short: "Measure one point with AIPerf's flags and files",
		Long: `profile is a drop-in for "aiperf profile" ` + aiperf.Version + `: it takes AIPerf's flags and writes
profile_export_aiperf.json and .csv, and with --export-level records a line a
request in profile_export.jsonl, into the folder --output-artifact-dir. An
unknown flag, or one of AIPerf's that is not supported, is an error. Values are
of the whole run, under AIPerf's names; tokens are what the server's usage says,
and answers are always streamed. Without --wait-for-model-timeout nothing is
sent before the load, and one word is taken as one token of a prompt.

With ` + sentinelEnv + ` in the environment, as AICR's benchmark job has it,
stdout is the JSON file between two lines of that text. An image for that job
has this program as /opt/venv/bin/python: the job's own command then measures
with it.

It ends with 1 when no request succeeded or --failed-request-threshold was
passed; the files are written all the same.`,
		Example: "  perfsweep profile --model m --url http://127.0.0.1:8000 --concurrency 64 --request-count 512 \\\n" +
			"    --warmup-request-count 64 --isl 128 --osl 128 --output-artifact-dir out",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.runProfile(c.Context(), &o) },
	}
	f := c.Flags()
	alias := map[string]string{}
	for _, flag := range aiperf.Flags() {
		name, short := flag.Names[0], ""
		help := flag.Help
		for _, n := range flag.Names[1:] {
			if len(n) == 1 {
				short = n
				continue
			}
			alias[n] = name
			help += "; also --" + n
		}
		v := f.VarPF(aiperfFlag{flag, &o}, name, short, help)
		if flag.Switch {
			v.NoOptDefVal = "true"
		}
	}
	f.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if canonical, ok := alias[name]; ok {
			name = canonical
		}
		return pflag.NormalizedName(name)
	})
	c.SetFlagErrorFunc(profileFlagError)
	return c
}

// profileFlagError explains flags that are not supported, and shows no value
// that may be a secret.
func profileFlagError(c *cobra.Command, err error) error {
	const see = `; see "perfsweep profile --help"`
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		if help := aiperf.Explain(unknown.GetSpecifiedName()); help != "" {
			return badInputf("%w: %s%s", err, help, see)
		}
	case errors.As(err, &invalid) && invalid.GetFlag().Name == "header":
		return badInputf("--header: %w%s", invalid.Unwrap(), see)
	}
	return flagError(c, err)
}

// spreadProfile prepares the arguments of profile for a parser that knows one
// value a flag; those of other commands stay as they are.
func spreadProfile(root *cobra.Command, args []string) []string {
	if c, _, err := root.Find(args); err != nil || c.Name() != "profile" {
		return args
	}
	return aiperf.Spread(args)
}

func (a *app) runProfile(ctx context.Context, o *aiperf.Options) error {
	fromJob(o)
	if o.APIKey == "" {
		o.APIKey = os.Getenv("PERFSWEEP_API_KEY")
	}
	if err := o.Check(); err != nil {
		return err
	}
	if !o.SeedGiven {
		o.Seed = binary.BigEndian.Uint64(randomBytes(8)) >> 1 // readers take it for signed
	}
	out, err := openArtifacts(o)
	if err != nil {
		return err
	}
	defer out.discard()
	pre, err := a.awaitModel(ctx, o)
	if err != nil {
		return err
	}
	run, rec, err := a.profile(ctx, o, pre, out)
	if err != nil {
		return err
	}
	if err := a.exportProfile(rec, run, out); err != nil {
		return err
	}
	return a.profileVerdict(ctx, o, rec, run)
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // it cannot fail
	return b
}

// awaitModel asks until the model answers, if the user wants that, and learns
// how long its prompts are.
func (a *app) awaitModel(ctx context.Context, o *aiperf.Options) (loadgen.Preflight, error) {
	pre := loadgen.Preflight{Model: o.Model}
	deadline := time.Now().Add(o.WaitForModel)
	for o.WaitForModel > 0 {
		within, cancel := context.WithDeadline(ctx, deadline)
		got, err := loadgen.RunPreflight(within, o.Config(), o.Spec())
		cancel()
		if err == nil {
			for _, w := range got.Warnings {
				a.say("note: %s", w)
			}
			pre = got
			break
		}
		if ctx.Err() != nil {
			return pre, fmt.Errorf("waiting for the model: %w", ctx.Err())
		}
		if time.Now().Add(o.WaitInterval).After(deadline) {
			return pre, fmt.Errorf("model %s did not answer within --wait-for-model-timeout %s: %w", o.Model, o.WaitForModel, err)
		}
		a.say("waiting for %s: %v", o.Model, err)
		select {
		case <-time.After(o.WaitInterval):
		case <-ctx.Done():
		}
	}
	if o.LegacyLimit {
		pre.OutputLimitField = "max_tokens"
	}
	return pre, nil
}

// profile makes the run.
func (a *app) profile(ctx context.Context, o *aiperf.Options, pre loadgen.Preflight, out *artifacts) (aiperf.Run, *aiperf.Recorder, error) {
	run := aiperf.Run{Options: o, ID: hex.EncodeToString(randomBytes(6)), Version: version, Command: aiperf.Command("perfsweep", a.args)}
	cfg := o.Config()
	var err error
	if cfg.Workload, err = loadgen.NewWorkload(o.Spec(), pre); err != nil {
		return run, nil, err
	}
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	rec := aiperf.NewRecorder(o, cancel)
	if out.records != nil {
		rec.Write(out.records, aiperf.Lines{Started: time.Now(), Prompts: o.Prompts, WarmsUp: o.WarmsUp()})
	}
	cfg.OnRequest = rec.Add
	if o.UI != "none" && !a.quiet {
		cfg.Progress = a.profileProgress()
	}
	defer leanHeap()()
	run.Result, err = loadgen.Run(within, cfg)
	if err != nil && within.Err() == nil {
		return run, nil, fmt.Errorf("profiling %s: %w", o.URL, err)
	}
	run.Cancelled = run.Result.Stopped == "cancelled" || err != nil
	switch {
	case rec.GaveUp:
		run.Incomplete = "given up: more requests failed than --failed-request-threshold allows"
	case run.Cancelled:
		run.Incomplete = "interrupted before all requests had ended"
	case run.Result.Stopped == "errors":
		run.Incomplete = "given up: every request failed"
	}
	run.Notes = profileNotes(o, pre, run.Result)
	return run, rec, nil
}

const progressEvery = 5 * time.Second

// profileProgress says where the run stands, every few seconds.
func (a *app) profileProgress() func(loadgen.Progress) {
	next := progressEvery
	return func(p loadgen.Progress) {
		if p.Elapsed < next {
			return
		}
		next += progressEvery
		a.say("%3.0f s  %3.0f %%  %d in flight, %d done, %d failed", p.Elapsed.Seconds(), 100*p.MeasuredFraction, p.InFlight, p.Completed, p.Errors)
	}
}

// profileNotes are what a reader of the numbers must know.
func profileNotes(o *aiperf.Options, pre loadgen.Preflight, r loadgen.Result) []string {
	var notes []string
	// With a calibration the run itself says how far the prompts were off.
	if got := r.PromptTokensPerRequest; pre.WordsPerToken == 0 && got > 0 && math.Abs(got/float64(o.ISL)-1) > .02 {
		notes = append(notes, fmt.Sprintf("prompts had %s where %d %s asked for; --wait-for-model-timeout calibrates their length before the load", plural.Of(got, "token"), o.ISL, plural.Verb(o.ISL, "was", "were")))
	}
	if share := r.Health.CPUShare; share > .8 {
		notes = append(notes, fmt.Sprintf("this client used %.0f %% of its CPUs: it may have been the bottleneck", 100*share))
	}
	return notes
}

// profileVerdict ends the command.
func (a *app) profileVerdict(ctx context.Context, o *aiperf.Options, rec *aiperf.Recorder, run aiperf.Run) error {
	r := run.Result
	for _, w := range slices.Concat(run.Notes, r.Warnings) {
		a.say("note: %s", w)
	}
	bad := r.Measured.Bad()
	switch {
	case rec.GaveUp:
		return fmt.Errorf("%d of %s failed, more than --failed-request-threshold %g allows%s", bad, plural.Of(r.Measured.Total(), "request"), o.FailedShare, example(r))
	case ctx.Err() != nil:
		a.write(a.err, "perfsweep: interrupted; what was measured until then is in %s and marked was_cancelled\n", o.ArtifactDir)
		return verdict{exitInterrupted}
	case r.Measured[loadgen.OK] == 0:
		return fmt.Errorf("no request succeeded%s", example(r))
	case bad > 0:
		a.say("note: %d of %s failed%s", bad, plural.Of(r.Measured.Total(), "request"), example(r))
	}
	return nil
}

// example quotes one error of the most frequent outcome.
func example(r loadgen.Result) string {
	most, text := int64(0), ""
	for o, texts := range r.Errors {
		if n := r.All[o]; len(texts) > 0 && (n > most || n == most && string(o) < text) {
			most, text = n, fmt.Sprintf("; %d ended as %s, such as: %s", n, o, strings.TrimSpace(texts[0]))
		}
	}
	return text
}
