package aiperf

import (
	"bytes"
	"fmt"
	"strings"
	"text/tabwriter"
)

// consoleMetrics are those that a person wants to see first.
var consoleMetrics = [...]string{
	"time_to_first_token", "time_to_second_token", "time_to_first_output_token", "request_latency", "inter_token_latency",
	"output_token_throughput_per_user", "output_sequence_length", "input_sequence_length", "output_token_throughput",
	"request_throughput", "request_count", "error_request_count", "goodput", "benchmark_duration",
}

// Text is the short table for a terminal.
func (c *Recorder) Text(run Run) []byte {
	known := map[string]metric{}
	for _, m := range c.measured.metrics(run.Options.SLOs) {
		known[m.tag] = m
	}
	var out bytes.Buffer
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(name string, cells ...string) {
		_, _ = fmt.Fprintf(w, "%s\t%s\t\n", name, strings.Join(cells, "\t"))
	}
	row("Metric", "avg", "min", "max", "p99", "p90", "p50", "std")
	for _, tag := range consoleMetrics {
		m, ok := known[tag]
		if !ok {
			continue
		}
		name := m.header + " (" + m.unit + ")"
		if m.stats == nil {
			row(name, number(m.value), "", "", "", "", "", "")
			continue
		}
		s := m.stats
		row(name, number(s.avg()), number(s.min), number(s.max), number(s.p[8]), number(s.p[6]), number(s.p[4]), number(s.std))
	}
	_ = w.Flush() // a bytes.Buffer takes everything
	return out.Bytes()
}
