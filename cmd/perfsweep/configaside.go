package main

import (
	"slices"

	"github.com/spf13/pflag"
)

// measuringFlags say what to measure, and how. What was measured is judged without
// them.
func measuringFlags() []string {
	return append(slices.Concat(netFlagNames[:], loadFlagNames[:], kubeFlagNames[:], bridgeFlagNames[:], []string{"deploy"}),
		"gpus", "model", "effort", "workload", "isl", "isl-stddev", "osl", "osl-stddev", "pool", "seed", "shared-prefix", "reuse-prompts", "ignore-eos", "label", "deployment", "metrics", "window", "window-gap", "max-wall", "max-runs",
		"levels", "max-concurrency-per-gpu", "repeats", "e-star", "concurrency-per-gpu")
}

// setAside are the keys of a campaign file that a flag of the command line makes
// void, so that one file serves a campaign from the plan to the overlay; by is that
// flag, "" where there is none.
func setAside(fl *pflag.FlagSet) (by string, keys []string) {
	switch {
	case fl.Changed("from"):
		return "from", append(measuringFlags(), "target", "journal", "bundle", "sign-key", "ttft-p99", "itl-p99")
	case fl.Changed("approve"):
		return "approve", append(measuringFlags(), "target", "journal", "bundle", "sign-key", "anchor", "scaling")
	case fl.Changed("reconfirm"):
		return "reconfirm", append(notReconfirmed[:], "sign-key")
	}
	return "", nil
}

// judgeFlags refuses what calibrate refuses before it opens anything.
func (f *calibrateFlags) judgeFlags(cam *campaign) error {
	switch {
	case len(f.bundle.from) > 0:
		err := f.checkFrom(cam)
		cam.flags.journal = "" // which it names for messages, and nobody gave
		return err
	case f.anchor.approve != "":
		return nil
	}
	return cam.judgeFlags()
}
