package main

import "github.com/spf13/pflag"

const calibrateLong = `calibrate is the main job: it sweeps, finds the knee, confirms a concurrency
safely below it, derives a throughput floor per GPU and a TTFT ceiling, and
prints the change to the overlay as a diff. Only --write changes the file, and
only when every gate on the data is met; otherwise it ends with 9 and says which
gate is unmet. Without --target it uses what --journal holds.

What the gate rests on is written with it: for people into a comment, for programs
into OVERLAY.provenance.json beside it (--sidecar FILE), with which check tells a
loss of speed from a change of what is measured. Keep the two files together.

Nothing within a campaign shows that a whole environment is slow, so a gate needs
an anchor from outside (C7). --anchor JOURNAL gives a strong one: an approved
baseline of the same place, or the same thing measured on another node or
cluster, as both journals state with --label node=... or cluster=...; each must
agree. --approve JOURNAL --by NAME --why TEXT gives a human
one, for the portable profile only: it writes an entry with the journal's hash
beside the overlay, to be reviewed and kept with it. A journal that changes
afterwards voids its approval.

An environment that varies over hours looks steady for one. Run again with the
same flags and --window 2, half an hour later (--window-gap 30m waits) or with
--deployment on another deployment: the point of the first window is confirmed
by 3 more attempts, all runs are judged together, and the floor knows what the
deployments differ by.

A gate is judged on the deployment that AICR's evaluator makes for itself (C11).
--deployment-spec FILE compares the measured one with it, field by field: what
differs refuses to write unless --accept-deployment-diff, and without a file the
comment says unverified.

--explain prints the whole decision: each run gate and each gate with what was
seen, wanted and is to be done, the fit, and every question up to the one that
decided; -o json has the same under "explain".

` + bridgeHelp + `

` + reconfirmHelp + `

` + dataHelp + `

` + bundleHelp + `

` + fromHelp + `

` + configHelp + `

` + planHelp

func (f *calibrateFlags) bind(fl *pflag.FlagSet) {
	fl.StringVar(&f.overlay, "overlay", "", "AICR overlay whose gate is set")
	fl.StringVar(&f.recipes, "recipes", "", recipesUsage)
	fl.StringVar(&f.sidecar, "sidecar", "", sidecarUsage)
	fl.StringVar(&f.data.dir, "data", "", dataUsage)
	fl.BoolVar(&f.write, "write", false, "change the file; without it only the diff is printed")
	fl.BoolVar(&f.again, "reconfirm", false, "measure the overlay's own point again, and keep its gate or propose another")
	f.anchor.bind(fl)
	f.spec.bind(fl)
	f.bundle.bind(fl)
	f.bridge.bind(fl)
	fl.BoolVar(&f.explain, "explain", false, "also print the whole decision, gate by gate, and why this knee")
	fl.StringVar(&f.profile, "floor-profile", "portable", "portable (other clusters) or regression (this one)")
	fl.StringVar(&f.form, "floor-form", "", "per-gpu or absolute (default: the form that the overlay has, else per-gpu)")
	fl.IntVar(&f.nodeGPUs, "node-gpus", 0, "GPUs of a full node; needed by --floor-form absolute")
	fl.StringVar(&f.gate, "gate", "both", "both, or ttft-only to write no floor")
	fl.IntVar(&f.point, "concurrency-per-gpu", 0, "prove this point instead of searching for one")
	fl.BoolVar(&f.allowSim, "allow-simulated", false, "allow writing from a sim: target; waives C6, C7 and C11 and says so")
}
