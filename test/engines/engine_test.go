//go:build engines || vllm

package engines

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/test/internal/live"
)

// An engine serves slots requests at once, and so many streams that some of
// them must wait.
const (
	slots   = 4
	streams = 3 * slots
)

// requests of each case, besides a warm-up request a stream: 200 for the two
// endings that every engine has on two endpoints.
const requests = 50

// engine is a real server and what is known of it.
type engine struct {
	live.Engine
	// Names of its counters. The prompt tokens of some engines are in two,
	// those that were computed and those that were found in a cache.
	output         string
	prompt, cached []string
	// stops are strings of which answers have one sooner or later. endToken,
	// when set, is a logit_bias that makes the first token the end of the answer.
	stops, endToken string
	// headersWait says that an answer's head comes when a slot takes the
	// request; from other engines it comes at once.
	headersWait bool
	// chunkIsToken says that each token has a chunk with text of its own.
	chunkIsToken bool
}

// ending is a way to make answers end and what they must look like.
type ending struct {
	name      string
	osl, dev  int
	ignoreEOS bool
	body      map[string]json.RawMessage
	reason    string // that must be seen
	all       bool   // and no other
}

func (e engine) endings() []ending {
	// Drawn, not the likeliest tokens: a model of random weights repeats those
	// for ever.
	stop := map[string]json.RawMessage{"stop": json.RawMessage(e.stops), "temperature": json.RawMessage("1")}
	list := []ending{
		{name: "length", osl: 8, dev: 3, ignoreEOS: true, reason: "length", all: true},
		{name: "stop", osl: 24, dev: 8, reason: "stop", body: stop},
	}
	if e.endToken != "" {
		list = append(list, ending{name: "end token", osl: 8, reason: "stop", all: true,
			body: map[string]json.RawMessage{"logit_bias": json.RawMessage(e.endToken)}})
	}
	return list
}

// compare runs every ending on both endpoints.
func (e engine) compare(t *testing.T) {
	for _, endpoint := range []loadgen.Endpoint{loadgen.ChatCompletions, loadgen.Completions} {
		for seed, ending := range e.endings() {
			t.Run(string(endpoint)+"/"+ending.name, func(t *testing.T) {
				e.compareOnce(t, endpoint, ending, uint64(seed+1))
			})
		}
	}
}

func (e engine) compareOnce(t *testing.T, endpoint loadgen.Endpoint, end ending, seed uint64) {
	spec := loadgen.WorkloadSpec{Name: loadgen.Synthetic, ISL: 24, ISLStddev: 6, OSL: end.osl, OSLStddev: end.dev,
		Seed: seed, IgnoreEOS: end.ignoreEOS}
	var all []loadgen.Request
	got := make(chan loadgen.Request, requests+2*streams)
	cfg := loadgen.Config{
		BaseURL: e.Base, Model: e.Model, Concurrency: streams, Kind: loadgen.Gate, Endpoint: endpoint,
		Network: loadgen.Network{Body: end.body},
		Limits:  loadgen.Limits{MinRequests: requests, MaxDuration: 5 * time.Minute},
		OnRequest: func(r loadgen.Request) {
			r.Chunks = append([]time.Duration(nil), r.Chunks...)
			got <- r
		},
	}
	before := e.count(t)
	pre, err := loadgen.RunPreflight(t.Context(), cfg, spec)
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Workload, err = loadgen.NewWorkload(spec, pre); err != nil {
		t.Fatal(err)
	}
	r, err := loadgen.Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	close(got)
	for r := range got {
		all = append(all, r)
	}
	if r.Measured[loadgen.OK] != requests || r.All[loadgen.OK] != int64(len(all)) || r.All.Bad() != 0 {
		t.Errorf("measured %v of %v, told of %d requests; want %d ok and no other: %v", r.Measured, r.All, len(all), requests, r.Errors)
	}
	want := tokens{output: pre.OutputTokens + r.TotalOutputTokens, prompt: pre.PromptTokens + r.TotalPromptTokens}
	counted := e.sameTokens(t, before, want, r, all, pre)
	t.Logf("the engine counted %s; reasons %v, %d chunks", counted, reasons(all), chunks(all))
	for _, r := range all {
		e.checkRequest(t, r, end)
	}
	if n := reasons(all)[end.reason]; n == 0 || end.all && n != len(all) {
		t.Errorf("finish reasons %v of %d requests, want %q (the only one: %t)", reasons(all), len(all), end.reason, end.all)
	}
	if end.name == "length" {
		e.checkHeads(t, all)
	}
}
