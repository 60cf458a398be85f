package observe

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	dto "github.com/prometheus/client_model/go"
)

// The facts by which servers identify themselves. One that no server tells is
// absent; where servers differ the values stand beside each other, with commas.
const (
	FactEngine        = "engine" // vllm, sglang, trtllm or llama.cpp
	FactEngineVersion = "engine_version"
	FactRouterMode    = "router_mode"
	FactMaxNumSeqs    = "max_num_seqs" // batch cap of one worker
	FactKVBlocks      = "kv_blocks"    // of one worker
	FactKVBlockTokens = "kv_block_tokens"
	FactContextTokens = "context_tokens"
	FactPrefixCaching = "prefix_caching" // true or false
	FactGPUProduct    = "gpu_product"
	FactDriver        = "driver"
)

// maxValues bounds what stands beside each other; a page may make up any number.
const maxValues = 8

// addFact joins a value to those of its key.
func addFact(facts map[string]string, key, value string) {
	value, ok := plainName(value)
	if !ok || strings.Contains(value, ",") {
		return
	}
	var all []string
	if old := facts[key]; old != "" {
		all = strings.Split(old, ",")
	}
	if len(all) == maxValues || slices.Contains(all, value) {
		return
	}
	all = append(all, value)
	slices.Sort(all)
	facts[key] = strings.Join(all, ",")
}

// MergeFacts joins the facts of several pages.
func MergeFacts(of ...map[string]string) map[string]string {
	out := map[string]string{}
	for _, facts := range of {
		for key, values := range facts {
			for _, v := range strings.Split(values, ",") {
				addFact(out, key, v)
			}
		}
	}
	return out
}

// info takes the facts out of the labels of a series.
func (t *translation) info(w word, m *dto.Metric) {
	if w.name == routerWorker {
		addFact(t.facts, FactRouterMode, "kv") // the other modes track no worker
		return
	}
	addFact(t.facts, FactEngine, w.engine)
	s := t.subject(w, m)
	for name, of := range map[string]Metric{
		"num_gpu_blocks": KVBlocks, "block_size": KVBlockTokens, // vLLM
		"num_pages": KVBlocks, "page_size": KVBlockTokens, // SGLang
	} {
		v, err := strconv.ParseFloat(label(m, name), 64)
		if v, ok := (word{form: setting}).read(v); err == nil && ok {
			t.uses = append(t.uses, use{line: -1, value: v, word: word{prefer: w.prefer, fold: w.fold}, metric: of, about: s})
		}
	}
	if on, err := strconv.ParseBool(label(m, "enable_prefix_caching")); err == nil {
		addFact(t.facts, FactPrefixCaching, strconv.FormatBool(on))
	}
}

// identify takes the facts that ordinary series carry.
func (t *translation) identify(w word, m *dto.Metric) {
	switch {
	case w.scope == ofGPU:
		addFact(t.facts, FactGPUProduct, label(m, "modelName"))
		addFact(t.facts, FactDriver, label(m, "DCGM_FI_DRIVER_VERSION"))
	case w.engine != "":
		addFact(t.facts, FactEngine, w.engine)
	}
}

// gather turns the settings that are numbers into facts. A frontend shows those
// of one of its workers, so that an engine's own go first.
func (t *translation) gather(s *Snapshot) {
	facts := maps.Clone(t.facts)
	for m, key := range map[Metric]string{
		MaxNumSeqs: FactMaxNumSeqs, KVBlocks: FactKVBlocks, KVBlockTokens: FactKVBlockTokens, ContextTokens: FactContextTokens,
	} {
		for _, r := range s.Engines {
			if v, ok := r[m]; ok {
				addFact(facts, key, strconv.FormatInt(int64(v), 10))
			}
		}
		if v, ok := s.Frontend[m]; ok && facts[key] == "" {
			addFact(facts, key, strconv.FormatInt(int64(v), 10))
		}
	}
	if len(facts) > 0 {
		s.Facts = facts
	}
}
