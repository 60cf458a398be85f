package aiperf

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"slices"
	"strconv"
)

// CSV is the content of profile_export_aiperf.csv: metrics of requests, an
// empty line, single values; each by tag.
func (c *Recorder) CSV(run Run) ([]byte, error) {
	metrics := c.measured.metrics(run.Options.SLOs)
	slices.SortFunc(metrics, func(a, b metric) int { return cmp.Compare(a.tag, b.tag) })
	header := []string{"Metric", "avg", "min", "max", "sum"}
	for _, q := range quantiles {
		header = append(header, percentileName(q))
	}
	requests, single := [][]string{append(header, "std")}, [][]string{{"Metric", "Value"}}
	for _, m := range metrics {
		if m.stats == nil {
			single = append(single, []string{m.name(), number(m.value)})
			continue
		}
		s := m.stats
		row := []string{m.name(), number(s.avg()), number(s.min), number(s.max), number(s.sum)}
		for _, p := range s.p {
			row = append(row, number(p))
		}
		requests = append(requests, append(row, number(s.std)))
	}
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	if len(requests) > 1 {
		if err := w.WriteAll(requests); err != nil {
			return nil, err
		}
		out.WriteByte('\n')
	}
	err := w.WriteAll(single)
	return out.Bytes(), err
}

// name is the header with its unit, but for what is counted.
func (m metric) name() string {
	if m.unit == "requests" || m.unit == "count" {
		return m.header
	}
	return m.header + " (" + m.unit + ")"
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }
