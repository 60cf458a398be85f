package observe

import "testing"

// A series that stands on a page again counts once, in whatever order its labels are:
// the first one, as for Prometheus.
func TestSeriesCountOnce(t *testing.T) {
	const page = `vllm:generation_tokens_total{engine="0",model_name="m"} 100
vllm:generation_tokens_total{model_name="m",engine="0"} 100
vllm:generation_tokens_total{engine="0",model_name="m"} 7
vllm:request_success_total{engine="0",finished_reason="stop"} 3
vllm:request_success_total{engine="0",finished_reason="length"} 4
vllm:num_requests_running{engine="0"} 5
vllm:num_requests_running{engine="0"} 9
dynamo_frontend_output_tokens_total{model="m"} 50
dynamo_frontend_output_tokens_total{model="m"} 50
`
	tr := newTranslation("h", "m")
	for range 2 { // the second page is read by what is known of the first
		s, err := tr.page([]byte(page))
		if err != nil {
			t.Fatal(err)
		}
		e := s.Engines["h/0"]
		if len(s.Engines) != 1 || e[OutputTokens] != 100 || e[Requests] != 7 || e[Running] != 5 || s.Frontend[FrontendTokens] != 50 {
			t.Errorf("%v, frontend %v", s.Engines, s.Frontend)
		}
	}
}
