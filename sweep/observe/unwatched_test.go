package observe

import (
	"slices"
	"testing"
)

// The ids of a frontend, in decimal, meet those of the workers' own pages, in
// hexadecimal.
func TestUnwatched(t *testing.T) {
	const a, b, c = "2521489949892347902", "18446744073709551615", "7"
	page := func(text, source string) Snapshot {
		s, err := Translate([]byte(text), source, "")
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	own := page("dynamo_component_uptime_seconds{worker_id=\"22fe21c0000d07fe\"} 5\nvllm:num_requests_running{engine=\"0\"} 1\nvllm:num_requests_running{engine=\"1\"} 1\n", "w1:9090")
	heard := page("dynamo_frontend_worker_last_time_to_first_token_seconds{worker_id=\""+b+"\",dp_rank=\"0\"} 0.1\n", "f:8000")
	nameless := page("vllm:num_requests_running{engine=\"0\"} 1\n", "w2:8000")
	for name, test := range map[string]struct {
		pages []Snapshot
		want  []string
	}{
		"none":                          {nil, []string{a, b, c}},
		"one, and hearsay of another":   {[]Snapshot{own, heard}, []string{b, c}},
		"one without an id":             {[]Snapshot{own, nameless}, []string{b, c}},
		"one without an id, read twice": {[]Snapshot{own, nameless, nameless}, []string{b, c}},
		"enough without an id":          {[]Snapshot{own, nameless, page("vllm:num_requests_running 1\n", "w3:8000")}, nil},
	} {
		if got := Unwatched([]string{a, b, b, c}, test.pages); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}
