package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"strconv"

	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
	"github.com/perfsweep/perfsweep/sweep/observe"
)

// labelWorkers is the label of a fingerprint that says how many workers a
// deployment is meant to have.
const labelWorkers = "workers"

// census is what V1 needs of a target.
type census struct {
	read func(context.Context) ([]uint64, error)
	// ready is the number at the preflight, ids who they were; missing says why
	// there is none.
	ready   int
	ids     []string
	missing error
}

// takeCensus counts the ready workers for the first time. A server that cannot
// be counted now is not asked again: V1 is then not observed.
func takeCensus(ctx context.Context, t *target, cfg loadgen.Config) census {
	hc, err := t.loaders.client(cfg)
	if err != nil {
		return census{missing: err}
	}
	return countWorkers(ctx, hc, t.baseURL)
}

func countWorkers(ctx context.Context, hc *http.Client, baseURL string) census {
	c := census{read: func(ctx context.Context) ([]uint64, error) { return observe.ReadWorkers(ctx, hc, baseURL) }}
	ids, err := c.read(ctx)
	c.ready, c.missing = len(ids), err
	for _, id := range ids {
		c.ids = append(c.ids, strconv.FormatUint(id, 10))
	}
	return c
}

// watchWorkers says how many workers a campaign expects, and puts the number
// into its fingerprint: those that the user states, else those of the journal
// that is continued, else those that the baseline of a check had on each GPU,
// else those that were there at the preflight. A worker that is already gone
// then cannot be known to be. nil where the server lists none.
func (c *campaign) watchWorkers(f *sweep.Fingerprint, old *sweep.Curve) *sweep.WorkerWatch {
	if c.census.missing != nil && c.census.read != nil && counted(old) {
		c.say("note: the ready workers, whom %s counted, cannot be counted now: runs are INVALID (V1) until they can: %v", c.flags.journal, c.census.missing)
	} else if c.census.missing != nil {
		c.say("note: whether every worker is ready is not observed (V1): %v", c.census.missing)
		return nil
	}
	w := &sweep.WorkerWatch{Read: c.census.read}
	w.Expected, w.From = workersStated(*f), "--label workers"
	if w.Expected == 0 && old != nil {
		w.Expected, w.From = workersStated(old.Fingerprint), "as the journal's first run"
	}
	for _, k := range c.baselines {
		if w.Expected == 0 {
			w.Expected, w.From = workersOn(k.fingerprint, f.GPUs), "as "+k.name
		}
	}
	if w.Expected == 0 {
		w.Expected, w.From = c.census.ready, "as at the preflight"
	}
	if w.Expected == 0 {
		c.say("note: whether every worker is ready is not observed (V1): the server lists no instance with the endpoint generate")
		return nil
	}
	if c.census.missing == nil && c.census.ready != w.Expected {
		c.say("note: %d of %s ready (%s): runs are INVALID (V1) until they are", c.census.ready, plural.Of(w.Expected, "worker"), w.From)
	}
	// A journal whose fingerprint does not tell stays one that does not.
	if old == nil || workersStated(old.Fingerprint) > 0 {
		f.Labels = maps.Clone(f.Labels)
		if f.Labels == nil {
			f.Labels = map[string]string{}
		}
		f.Labels[labelWorkers] = strconv.Itoa(w.Expected)
	}
	return w
}

// counted reports whether the last run of a journal has its workers counted.
func counted(old *sweep.Curve) bool {
	return old != nil && len(old.Runs) > 0 && old.Runs[len(old.Runs)-1].Workers != nil
}

// knownWorkers is a fingerprint that a check is held against.
type knownWorkers struct {
	name        string // for messages
	fingerprint sweep.Fingerprint
}

// workersStated is the number that a fingerprint states, else 0.
func workersStated(f sweep.Fingerprint) int {
	n, err := strconv.Atoi(f.Labels[labelWorkers])
	if err != nil || n < 1 {
		return 0
	}
	return n
}

// workersOn is how many workers the thing of a fingerprint has on a number of
// GPUs: as many on each as were measured. 0 where that is not a whole number.
func workersOn(f sweep.Fingerprint, gpus int) int {
	n := workersStated(f)
	if f.GPUs < 1 || gpus < 1 || n > sweep.MaxGPUs || n*gpus%f.GPUs != 0 {
		return 0
	}
	return n * gpus / f.GPUs
}

// checkCountLabels refuses a number of workers or frontends that is none.
func checkCountLabels(labels map[string]string) error {
	for _, name := range []string{labelWorkers, labelFrontends} {
		v, given := labels[name]
		if n, err := strconv.Atoi(v); given && (err != nil || n < 1 || n > sweep.MaxGPUs || v != fmt.Sprint(n)) {
			return badInputf("--label %s=%.40s: use the number of %s that the deployment is meant to have", name, v, name)
		}
	}
	return nil
}
