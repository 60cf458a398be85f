package main

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
)

// workloadFlags say what the requests are.
type workloadFlags struct {
	workload     string
	isl          int
	islStddev    int
	osl          int
	oslStddev    int
	pool         int
	seed         uint64
	sharedPrefix float64
	reusePrompts bool
	ignoreEOS    bool
}

func (w *workloadFlags) bind(f *pflag.FlagSet) {
	f.StringVar(&w.workload, "workload", "aicr", `aicr (AICR's own: 100 prompts, the same in every run), synthetic (a new prompt a request), or FILE.jsonl with a {"prompt": "…"}, {"text": "…"} or {"messages": […]} a line, each with "max_tokens" or "output_length"`)
	f.IntVar(&w.isl, "isl", 0, "mean input tokens without the chat template (default: the workload's)")
	f.IntVar(&w.islStddev, "isl-stddev", 0, "standard deviation of input tokens: normal, cut at 1 and 2 × mean − 1, at most half of the mean")
	f.IntVar(&w.osl, "osl", 0, "mean output tokens (default: the workload's; 32 for --effort quick); for a file, of lines that name none")
	f.IntVar(&w.oslStddev, "osl-stddev", 0, "standard deviation of output tokens, as --isl-stddev")
	f.IntVar(&w.pool, "pool", 0, "distinct prompts of a run (default: the workload's; 0 = every request its own)")
	f.Uint64Var(&w.seed, "seed", 0, "seed of synthetic prompts and lengths, and of the order of runs (default: the workload's)")
	f.Float64Var(&w.sharedPrefix, "shared-prefix", 0, "fraction of each synthetic prompt that all have in common, 0 to 1")
	f.BoolVar(&w.reusePrompts, "reuse-prompts", false, "let every run send the same prompts again, which prefix caches then answer (the aicr workload does)")
	f.BoolVar(&w.ignoreEOS, "ignore-eos", true, "ask for the whole output length with ignore_eos (default: true for synthetic, false for a file; aicr never does)")
}

// spec builds the workload from the flags. changed says which flags were set.
func (w *workloadFlags) spec(changed func(string) bool, effort sweep.Effort) (loadgen.WorkloadSpec, error) {
	name := w.workload
	if strings.HasSuffix(name, ".jsonl") {
		name = loadgen.FromFile
	}
	s, err := loadgen.DefaultSpec(name)
	if err != nil || name == loadgen.FromFile && w.workload == name {
		return s, badInputf("--workload %q: use aicr, synthetic or the name of a file that ends in .jsonl", w.workload)
	}
	if name == loadgen.FromFile {
		s.File = w.workload
		if _, err := regularFile(w.workload); err != nil {
			return s, badInputf("--workload: %w", err)
		}
	} else if effort == sweep.Quick {
		s.OSL = 32
	}
	for _, o := range []struct {
		flag string
		min  int
		from int
		to   *int
	}{
		{"isl", 1, w.isl, &s.ISL},
		{"isl-stddev", 0, w.islStddev, &s.ISLStddev},
		{"osl", 1, w.osl, &s.OSL},
		{"osl-stddev", 0, w.oslStddev, &s.OSLStddev},
		{"pool", 0, w.pool, &s.Pool},
	} {
		if !changed(o.flag) {
			continue
		}
		if o.from < o.min || o.from > 1<<20 {
			return s, badInputf("--%s %d: must be between %d and %d", o.flag, o.from, o.min, 1<<20)
		}
		*o.to = o.from
	}
	// A file has no seed, and AICR's is compiled in: there the flag orders runs.
	if changed("seed") && name == loadgen.Synthetic {
		s.Seed = w.seed
	}
	if changed("shared-prefix") {
		s.SharedPrefix = w.sharedPrefix
	}
	if changed("reuse-prompts") {
		s.ReusePrompts = w.reusePrompts
	}
	if changed("ignore-eos") {
		s.IgnoreEOS = w.ignoreEOS
	}
	return s.Recorded()
}
