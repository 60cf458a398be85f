package observe

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// serving answers each path with a page; others are a 404.
func serving(t *testing.T, pages map[string]string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, ok := pages[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(s.Close)
	return s
}

// Lists of models as the servers of the recorded pages sent them.
const (
	dynamoModels = `{"object":"list","data":[{"id":"tiny","object":"model","created":1795991871,"owned_by":"nvidia","context_window":512}]}`
	vllmModels   = `{"object":"list","data":[{"id":"tiny","object":"model","created":1795992501,"owned_by":"vllm","root":"tiny","parent":null,"max_model_len":1024}]}`
	llamaModels  = `{"models":[{"name":"tiny"}],"object":"list","data":[{"id":"tiny","owned_by":"llamacpp","meta":{"n_vocab":262144,"n_ctx":1024,"n_ctx_train":32768}}]}`
)

func TestReadFacts(t *testing.T) {
	worker := serving(t, map[string]string{"/metrics": recorded(t, "worker1-load.prom")})
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for name, c := range map[string]struct {
		pages   map[string]string
		workers []Source
		want    map[string]string
	}{
		"Dynamo, its workers read": {
			map[string]string{"/metrics": recorded(t, "frontend-kv.prom"), "/v1/models": dynamoModels, "/version": `{"version":"9"}`},
			[]Source{{URL: worker.URL + "/metrics"}, {URL: gone.URL + "/metrics"}},
			map[string]string{FactEngine: "vllm", FactRouterMode: "kv", FactMaxNumSeqs: "16", FactKVBlocks: "64", FactKVBlockTokens: "16", FactContextTokens: "512"},
		},
		"vLLM": {
			map[string]string{"/metrics": recorded(t, "vllm.prom"), "/v1/models": vllmModels, "/version": `{"version":"0.32.0"}`}, nil,
			map[string]string{FactEngine: "vllm", FactEngineVersion: "0.32.0", FactPrefixCaching: "true", FactKVBlocks: "8192", FactKVBlockTokens: "128", FactContextTokens: "1024"},
		},
		"llama.cpp without /metrics": {
			map[string]string{"/v1/models": llamaModels}, nil,
			map[string]string{FactEngine: "llama.cpp", FactContextTokens: "1024"},
		},
		"nothing told": {map[string]string{"/v1/models": "evil", "/metrics": "evil"}, nil, map[string]string{}},
		"another model, and nonsense": {
			map[string]string{"/v1/models": `{"data":[{"id":"other","owned_by":"vllm","max_model_len":5},{"id":"tiny","owned_by":"evil","max_model_len":-1.5}]}`}, nil,
			map[string]string{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := serving(t, c.pages)
			workers, err := Watch{Sources: c.workers, Model: "tiny"}.Read(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			got := ReadFacts(t.Context(), s.Client(), s.URL, "tiny", frontPage(t, s.Client(), s.URL, "tiny"), workers)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// Where workers differ, all of their values stand in the fingerprint.
func TestMergeFacts(t *testing.T) {
	got := MergeFacts(map[string]string{FactKVBlocks: "64,128", FactEngine: "vllm"}, map[string]string{FactKVBlocks: "96", FactEngine: "vllm"},
		map[string]string{FactDriver: "\x1b[2J", FactGPUProduct: "NVIDIA H100 80GB HBM3"})
	want := map[string]string{FactKVBlocks: "128,64,96", FactEngine: "vllm", FactGPUProduct: "NVIDIA H100 80GB HBM3"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
