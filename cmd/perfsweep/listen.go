package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
	"github.com/perfsweep/perfsweep/sweep/observe"
	"github.com/perfsweep/perfsweep/sweep/observe/bothsides"
)

const metricsHelp = `Servers are watched while a level runs, once a second: the frontend's own
/metrics, or the pages named with --metrics (the frontend's, every worker's, a
DCGM exporter's, file:///proc/pressure for this machine's own). What they say is
kept in the journal and tells what holds a level back.`

// metricsOff is the value of --metrics that watches nothing.
const metricsOff = "off"

// maxListed bounds how many workers a note names.
const maxListed = 4

// labelFrontends is the label of a fingerprint that says how many frontends
// take the requests.
const labelFrontends = "frontends"

// ears are how a campaign hears its servers: what is watched, and what the
// servers say of themselves before any load.
type ears struct {
	watch    observe.Watch    // no sources: nothing is heard
	frontend observe.Snapshot // the target's own page, whatever is watched
	facts    map[string]string
	// frontends are those whose pages are watched; 0 where none says that it is one.
	frontends int
}

// listen finds out what can be heard; every page is read once. One that the
// user names must answer; the target's own is taken if it tells anything.
func (c *campaign) listen(ctx context.Context, t *target, cfg loadgen.Config, pre loadgen.Preflight) (ears, error) {
	client, err := t.loaders.client(cfg)
	if err != nil {
		return ears{}, err
	}
	w := observe.Watch{Model: pre.Model}
	off := slices.Equal(c.flags.metrics, []string{metricsOff})
	if !off {
		for _, u := range c.flags.metrics {
			w.Sources = append(w.Sources, observe.Source{URL: u, Client: clientFor(u, t, client)})
		}
	}
	named := len(w.Sources)
	w.Sources = append(w.Sources, observe.Source{URL: t.baseURL + "/metrics", Client: client})
	if named == 0 && !off {
		for _, u := range t.loaders.found() {
			w.Sources = append(w.Sources, observe.Source{URL: u, Client: client})
		}
	}
	pages, err := w.Read(ctx)
	if err != nil {
		return ears{}, badInputf("--metrics: %w", err)
	}
	if err := ctx.Err(); err != nil { // which no page is to blame for
		return ears{}, fmt.Errorf("reading the pages of metrics: %w", err)
	}
	e := ears{frontend: pages[named]}
	if off {
		return e, nil
	}
	if named == 0 {
		var heard []observe.Snapshot
		w.Sources, heard = c.answering(w.Sources, pages)
		workers := heard
		if deafness(e.frontend) == nil {
			workers = heard[1:]
		}
		e.facts = observe.ReadFacts(ctx, client, t.baseURL, pre.Model, e.frontend, workers)
		if len(heard) == 0 {
			return e, nil
		}
		return e.watching(w, heard), nil
	}
	e.facts = observe.ReadFacts(ctx, client, t.baseURL, pre.Model, e.frontend, pages[:named])
	w.Sources = w.Sources[:named]
	told := false
	for _, s := range pages[:named] {
		if s.Err != nil {
			return ears{}, fmt.Errorf("--metrics %s: %w; give the address of a metrics page, or --metrics off", s.Source, s.Err)
		}
		told = told || deafness(s) == nil
	}
	if !told {
		return ears{}, fmt.Errorf("--metrics: none of the pages tells anything of Dynamo, vLLM, SGLang, TRT-LLM, llama.cpp, DCGM or a node's pressure; give the address of one that does, or --metrics off")
	}
	if unwatched := observe.Unwatched(c.known(pre), pages[:named]); len(unwatched) > 0 {
		names := strings.Join(unwatched[:min(len(unwatched), maxListed)], ", ")
		if more := len(unwatched) - maxListed; more > 0 {
			names += fmt.Sprintf(" and %d more", more)
		}
		c.say("note: no page of --metrics is that of worker %s: how evenly the workers are loaded cannot be told", names)
	}
	return e.watching(w, pages[:named]), nil
}

// watching adds what is watched, and counts the frontends of whose pages it has
// the first reading.
func (e ears) watching(w observe.Watch, first []observe.Snapshot) ears {
	e.watch = w
	counted := map[string]bool{}
	for _, s := range first {
		if s.Frontend != nil {
			counted[s.Source] = true
		}
	}
	e.frontends = len(counted)
	if e.frontends > 1 { // the page of one may be that of any behind a Service
		e.facts[labelFrontends] = strconv.Itoa(e.frontends)
	}
	return e
}

// answering are the pages that tell something of those that nobody named: the
// target's own, first, and its workers', which were found in the cluster.
func (c *campaign) answering(sources []observe.Source, pages []observe.Snapshot) (told []observe.Source, heard []observe.Snapshot) {
	for i, page := range pages {
		why := deafness(page)
		switch {
		case why == nil:
			told, heard = append(told, sources[i]), append(heard, page)
		case i > 0:
			c.say("note: a worker's page tells nothing: %v", why)
		case len(pages) == 1:
			c.say("note: what holds a level back is told from this side only: %v", why)
		default:
			c.say("note: what the frontend knows is not told: %v", why)
		}
	}
	return told, heard
}

// known are the workers' ids that the server told: those in its list, and who
// served the preflight's probe, which may be all that tells.
func (c *campaign) known(pre loadgen.Preflight) []string {
	ids := slices.Clone(c.census.ids)
	if pre.WorkerID != "" {
		ids = append(ids, pre.WorkerID)
	}
	return ids
}

// deafness is why a page tells nothing; nil where it does.
func deafness(s observe.Snapshot) error {
	if s.Err == nil && s.Frontend == nil && s.Engines == nil && s.GPUs == nil && s.Node == nil {
		return errors.New("the target's /metrics tells nothing that is known here")
	}
	return s.Err
}

// clientFor sends the target's keys to the target only. In a cluster the pages
// are read by a pod, which keeps to that too.
func clientFor(page string, t *target, own *http.Client) *http.Client {
	if t.loaders != nil {
		return own
	}
	a, errA := url.Parse(page)
	b, errB := url.Parse(t.baseURL)
	if errA == nil && errB == nil && a.Scheme == b.Scheme && strings.EqualFold(a.Host, b.Host) {
		return own
	}
	return nil
}

// addFacts fills in what the user did not state. A journal is continued with
// the labels that it has: one that knew less stays one that did.
func addFacts(f *sweep.Fingerprint, facts map[string]string, old *sweep.Curve) {
	for _, k := range slices.Sorted(maps.Keys(facts)) {
		_, stated := f.Labels[k]
		if old != nil {
			if _, had := old.Fingerprint.Labels[k]; !had {
				continue
			}
		}
		if stated || k == observe.FactRouterMode && f.RoutingMode != "" {
			continue
		}
		f.Labels = maps.Clone(f.Labels)
		if f.Labels == nil {
			f.Labels = map[string]string{}
		}
		f.Labels[k] = facts[k]
	}
}

// hear begins to watch; the function that it returns ends that and sums up what
// was heard in the measured part of the run.
func (e ears) hear(ctx context.Context) func(loadgen.Result) *sweep.Servers {
	deaf := func(loadgen.Result) *sweep.Servers { return nil }
	if len(e.watch.Sources) == 0 {
		return deaf
	}
	w, err := e.watch.Start(ctx)
	if err != nil {
		return deaf // never: Read takes the same addresses and has not failed
	}
	return func(r loadgen.Result) *sweep.Servers { return e.heard(w.Stop(), r) }
}

// heard puts what was read into the journal's form.
func (e ears) heard(read []observe.Snapshot, r loadgen.Result) *sweep.Servers {
	span, ok := bothsides.Span(read, r)
	if !ok {
		return nil
	}
	said, err := json.Marshal(span)
	if err != nil {
		return nil // never: a span holds finite numbers only
	}
	s := &sweep.Servers{Said: said}
	if e.frontends > 0 {
		s.Frontends = &sweep.Frontends{Expected: e.frontends, Before: span.FrontendsStart, After: span.FrontendsEnd}
	}
	for _, w := range span.Workers {
		s.Changed = append(s.Changed, changed(w)...)
		if share, ok := shareOf(w); ok {
			s.Shares = append(s.Shares, share)
		}
	}
	return s
}

func changed(w observe.Worker) []string {
	var out []string
	for _, c := range []struct {
		did  bool
		what string
	}{{w.Restarted, "restarted"}, {w.Left, "left"}, {w.Joined, "joined"}} {
		if c.did {
			out = append(out, fmt.Sprintf("worker %s %s", w.ID, c.what))
		}
	}
	return out
}

// shareOf is a worker's part of the load, by the counter that it has: requests,
// or first tokens, of which every request has one.
func shareOf(w observe.Worker) (sweep.Share, bool) {
	running, ok := w.Stats[observe.Running]
	if !ok {
		return sweep.Share{}, false
	}
	s := sweep.Share{Worker: w.ID, InFlight: running.Mean + w.Stats[observe.Waiting].Mean}
	for _, m := range []observe.Metric{observe.Requests, observe.EngineTTFTN} {
		if done, ok := w.Stats[m]; ok {
			s.Completed = done.Delta
			return s, true
		}
	}
	return s, true
}
