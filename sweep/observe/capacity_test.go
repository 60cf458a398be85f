package observe

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
)

// server answers /metrics and /health with the given pages; "" is a 404.
func server(t *testing.T, metrics, health string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := map[string]string{"/metrics": metrics, "/health": health}[r.URL.Path]
		if body == "" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(s.Close)
	return s
}

func recorded(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// frontPage is a server's page of metrics, read once.
func frontPage(t testing.TB, hc *http.Client, baseURL, model string) Snapshot {
	t.Helper()
	read, err := Watch{Sources: []Source{{URL: baseURL + "/metrics", Client: hc}}, Model: model}.Read(t.Context())
	if err != nil || len(read) != 1 {
		t.Fatalf("%d pages, %v", len(read), err)
	}
	return read[0]
}

// The pages of a Dynamo 1.6.1 frontend with two mocker workers.
func TestRecordedFrontend(t *testing.T) {
	s := server(t, recorded(t, "frontend.prom"), recorded(t, "health.json"))
	ids, err := ReadWorkers(t.Context(), s.Client(), s.URL)
	if err != nil {
		t.Fatal(err)
	}
	got, err := CapacityOf(frontPage(t, s.Client(), s.URL, "tiny"), len(ids))
	if err != nil {
		t.Fatal(err)
	}
	if want := (Capacity{MaxNumSeqs: 4, Workers: 2}); got != want || got.Streams() != 8 {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// What is missing is an error, never a zero capacity that could bound a sweep.
func TestMissing(t *testing.T) {
	const gauge = `dynamo_frontend_model_max_num_seqs{model="m"} `
	for name, c := range map[string]struct {
		metrics string
		workers int
		says    string
	}{
		"no metrics page": {"", 1, "404"},
		"no gauge":        {"vllm:num_requests_running 1\n", 1, "no batch cap"},
		"no known server": {"up 1\n", 1, "no metric of a known server"},
		"another model":   {strings.ReplaceAll(gauge, `"m"`, `"other"`) + "16\n", 1, "no batch cap"},
		"zero":            {gauge + "0\n", 1, "no batch cap"},
		"not whole":       {gauge + "1.5\n", 1, "no batch cap"},
		"not a number":    {gauge + "NaN\n", 1, "no batch cap"},
		"no workers":      {gauge + "16\n", 0, "no list of instances"},
	} {
		t.Run(name, func(t *testing.T) {
			s := server(t, c.metrics, "")
			got, err := CapacityOf(frontPage(t, s.Client(), s.URL, "m"), c.workers)
			if err == nil || got != (Capacity{}) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %+v, error %v; want an error with %q", got, err, c.says)
			}
		})
	}
}

// Sources that are named twice are read once, and each has its answer in its place.
func TestReadsEachPageOnce(t *testing.T) {
	var read atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		read.Add(1)
		_, _ = w.Write([]byte("vllm:num_requests_running 4\n"))
	}))
	defer s.Close()
	own, gone := Source{URL: s.URL + "/metrics"}, Source{URL: "file:///nowhere"}
	got, err := Watch{Sources: []Source{own, gone, own}}.Read(t.Context())
	if err != nil || len(got) != 3 || read.Load() != 1 {
		t.Fatalf("%d readings of %d pages, %v", len(got), read.Load(), err)
	}
	if got[0].Engines == nil || got[1].Err == nil || got[2].Engines == nil {
		t.Errorf("%+v", got)
	}
}
