package observe

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// ReadFacts says what the server at baseURL and its workers are: the keys are
// FactEngine and the others. Their pages of metrics have been read; the server
// is asked for its list of models, and vLLM for its version. What no page tells
// is absent, and so is what a page that cannot be read would have told.
func ReadFacts(ctx context.Context, hc *http.Client, baseURL, model string, frontend Snapshot, workers []Snapshot) map[string]string {
	var told []map[string]string
	for _, s := range workers {
		told = append(told, s.Facts)
	}
	own := orElse(MergeFacts(told...), frontend.Facts) // a frontend shows the settings of one worker
	var models map[string]string
	if page(ctx, hc, baseURL+"/v1/models", func(r io.Reader) (err error) {
		models, err = factsOfModels(r, model)
		return err
	}) == nil {
		own = orElse(own, models)
	}
	// Only vLLM's own server has this page; elsewhere it may mean another program.
	if models[FactEngine] == "vllm" {
		_ = page(ctx, hc, baseURL+"/version", func(r io.Reader) error { // unknown if not told
			var v struct {
				Version string `json:"version"`
			}
			err := json.NewDecoder(r).Decode(&v)
			addFact(own, FactEngineVersion, v.Version)
			return err
		})
	}
	return own
}

// orElse fills in what is not known yet.
func orElse(facts, more map[string]string) map[string]string {
	for key, v := range more {
		if facts[key] == "" {
			facts[key] = v
		}
	}
	return facts
}

// factsOfModels reads /v1/models. Dynamo names the context length
// context_window, vLLM and SGLang max_model_len, llama.cpp meta.n_ctx, which is
// that of one slot.
func factsOfModels(r io.Reader, model string) (map[string]string, error) {
	var page struct {
		Data []struct {
			ID      string  `json:"id"`
			Owner   string  `json:"owned_by"`
			Window  float64 `json:"context_window"`
			Longest float64 `json:"max_model_len"`
			Meta    struct {
				Context float64 `json:"n_ctx"`
			} `json:"meta"`
		} `json:"data"`
	}
	if err := json.NewDecoder(r).Decode(&page); err != nil {
		return nil, errors.New("the list of models is not JSON as OpenAI's API has it") // the decoder's words quote it
	}
	out := map[string]string{}
	for _, m := range page.Data {
		if !strings.EqualFold(m.ID, model) {
			continue
		}
		switch m.Owner { // others are owners of models, not engines
		case "vllm", "sglang":
			out[FactEngine] = m.Owner
		case "llamacpp":
			out[FactEngine] = "llama.cpp"
		}
		for _, v := range []float64{m.Window, m.Longest, m.Meta.Context} {
			if v, ok := (word{form: setting}).read(v); ok {
				addFact(out, FactContextTokens, strconv.FormatInt(int64(v), 10))
			}
		}
	}
	return out, nil
}
