package report

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/selftest"
	"github.com/perfsweep/perfsweep/internal/plural"
)

// SelftestJSON prints a selftest as one JSON document.
func SelftestJSON(w io.Writer, r selftest.Result) error { return encode(w, r) }

// SelftestText prints the ceiling first, then what it stands on.
func SelftestText(w io.Writer, r selftest.Result) error {
	p := &printer{w: w}
	p.line("%s", ceilingLine(r.Ceiling))
	if m := r.Timing; m != nil && m.TTFTErrors > 0 {
		p.line("TTFT error against the server's own times: p50 %s ms, p99 %s ms (%s, %s in step)",
			figure(m.TTFTErrorP50MS), figure(m.TTFTErrorP99MS), plural.Of(m.TTFTErrors, "request"), plural.Of(m.Streams, "stream"))
	}
	if m := r.Timing; m != nil && m.TokPerCPUSec > 0 {
		p.line("%s chunks a CPU-second at %s x %g ms", number(m.TokPerCPUSec), plural.Of(m.Streams, "stream"), m.ITLMS)
	}
	if m := r.Held; m != nil {
		p.line("%s held: %d in flight at most, %.1f on average, seen from the server", plural.Of(m.Streams, "stream"), m.InFlightMax, m.InFlightMean)
	}
	if r.BytesAStream > 0 {
		p.line("%.0f KiB of memory for each further stream", r.BytesAStream/1024)
	}
	p.line("")
	p.points(r.Points)
	p.line("")
	p.line("%s, %s, perfsweep %s, %.0f s. The paced server ran on the same machine: beside a", r.Host, plural.Of(r.CPUs, "CPU"), r.Version, r.Seconds)
	p.line("server elsewhere this one can do more.")
	for _, s := range r.Warnings {
		p.line("note: %s", s)
	}
	return p.err
}

type pointDoc struct {
	SchemaVersion int `json:"schema_version"`
	selftest.Measured
}

// PointJSON prints a single point as one JSON document.
func PointJSON(w io.Writer, m selftest.Measured) error {
	return encode(w, pointDoc{1, m})
}

// PointText prints a single point.
func PointText(w io.Writer, m selftest.Measured) error {
	p := &printer{w: w}
	p.points([]selftest.Measured{m})
	p.line("")
	p.line("in flight, seen from the server: %d at most, %.1f on average; %s", m.InFlightMax, m.InFlightMean, exactness(m))
	if m.TTFTErrors > 0 {
		p.line("TTFT error against the server's own times: p50 %s ms, p99 %s ms (%s)", figure(m.TTFTErrorP50MS), figure(m.TTFTErrorP99MS), plural.Of(m.TTFTErrors, "request"))
	}
	if m.PSSMiB > 0 {
		p.line("%.0f MiB of memory, %s chunks a CPU-second", m.PSSMiB, number(m.TokPerCPUSec))
	}
	if len(m.ClientBound) == 0 {
		p.line("not client-bound")
	}
	for _, s := range m.ClientBound {
		p.line("%s", s)
	}
	return p.err
}

func exactness(m selftest.Measured) string {
	if m.Exact {
		return "exact"
	}
	return "not exact"
}

func ceilingLine(c *selftest.Ceiling) string {
	if c == nil {
		return "no ceiling: not even the lowest rate was read with a lag p99 below 1 ms"
	}
	line := fmt.Sprintf("ceiling %s chunks/s on %s, lag p99 %s ms", number(c.TokPerSec), plural.Of(c.Streams, "stream"), figure(c.LagP99MS))
	switch c.LimitedBy {
	case "lag", "cpu":
		line += fmt.Sprintf("; at %s chunks/s it is too much (%s)", number(c.FailedTokPerSec), c.LimitedBy)
	case "server", "failures":
		line = "at least " + line + fmt.Sprintf("; at %s chunks/s the test's own server gave out", number(c.FailedTokPerSec))
	default:
		line = "at least " + line + "; no higher rate was tried (" + c.LimitedBy + ")"
	}
	return line
}

func (p *printer) points(points []selftest.Measured) {
	if p.err != nil {
		return
	}
	tw := tabwriter.NewWriter(p.w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "streams\tx ms\tchunks/s\tof nominal\tlag p50 ms\tp99\tTTFT err p99\tCPU\tothers\tserver late p99\tbad\t")
	for _, m := range points {
		fmt.Fprintf(tw, "%d\t%g\t%s\t%.3f\t%s\t%s\t%s\t%.0f %%\t%.0f %%\t%s\t%d\t\n", m.Streams, m.ITLMS, number(m.TokPerSec), m.TokPerSec/m.NominalTokPerSec,
			figure(m.LagP50MS), figure(m.LagP99MS), figure(m.TTFTErrorP99MS), 100*m.CPUShare, 100*m.OthersCPUShare, figure(m.ServerLateP99MS), m.Failed)
	}
	p.err = tw.Flush()
}

// figure gives small times of this tool's own two digits.
func figure(ms float64) string { return fmt.Sprintf("%.2g", ms) }
