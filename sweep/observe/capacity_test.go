package observe

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
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

// The pages of a Dynamo 1.6.1 frontend with two mocker workers.
func TestRecordedFrontend(t *testing.T) {
	s := server(t, recorded(t, "frontend.prom"), recorded(t, "health.json"))
	got, err := ReadCapacity(context.Background(), s.Client(), s.URL, "tiny")
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
	const one = `{"instances":[{"endpoint":"generate","instance_id":18446744073709551615}]}`
	for name, c := range map[string]struct{ metrics, health, says string }{
		"no metrics page":   {"", one, "404"},
		"no gauge":          {"vllm:num_requests_running 1\n", one, "no batch cap"},
		"no known server":   {"up 1\n", one, "no metric of a known server"},
		"another model":     {strings.ReplaceAll(gauge, `"m"`, `"other"`) + "16\n", one, "no batch cap"},
		"zero":              {gauge + "0\n", one, "no batch cap"},
		"not whole":         {gauge + "1.5\n", one, "no batch cap"},
		"not a number":      {gauge + "NaN\n", one, "no batch cap"},
		"no health page":    {gauge + "16\n", "", "404"},
		"health is no JSON": {gauge + "16\n", "ok", "no list of instances"},
		"no workers":        {gauge + "16\n", `{"instances":[]}`, "no list of instances"},
	} {
		t.Run(name, func(t *testing.T) {
			s := server(t, c.metrics, c.health)
			got, err := ReadCapacity(context.Background(), s.Client(), s.URL, "m")
			if err == nil || got != (Capacity{}) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %+v, error %v; want an error with %q", got, err, c.says)
			}
		})
	}
}
