package main

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report"
	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep/compare"
)

// reportForms are what a report may be written as, by the ending of a file.
var reportForms = map[string]string{".html": "html", ".htm": "html", ".svg": "svg", ".md": "md", ".csv": "csv", ".json": "json", ".txt": "text"}

// reportForm says what -o asks for: a form, for stdout, or a file, whose ending
// tells its form.
func reportForm(output string) (form, file string, err error) {
	for _, f := range reportForms {
		if output == f {
			return f, "", nil
		}
	}
	form = reportForms[strings.ToLower(filepath.Ext(output))]
	if form == "" {
		return "", "", badInputf("-o %q: use html, svg, md, csv, json or text, or a file with one of these endings", output)
	}
	return form, output, nil
}

// reportFlags say what a report shows beside the journals.
type reportFlags struct {
	overlay, sidecar string
	chart            string
	compare          compareFlags
}

func (a *app) reportCmd() *cobra.Command {
	f := reportFlags{compare: usualChange()}
	c := &cobra.Command{
		Use:   "report JOURNAL [JOURNAL2] [-o FILE.html]",
		Short: "Make one self-contained page of a journal, or of two and what moved",
		Long: `report shows what a journal holds; it measures nothing. -o FILE.html is one page
that needs no network: the decision, the curve per GPU with every run, the fitted
model, the knee with its interval, operating point and gate, latency, the trade-off
between a GPU and a user, the time line with stalls, each level with its outcomes
and what holds it back, every gate with what was observed, the health of this tool,
and the fingerprint. Its charts need no script; with one their values can be read
off with a pointer or with arrow keys. Goodput a level is there where an objective
(--ttft-p99, --itl-p99) was measured with. Whatever servers said is text in it, never
markup or script.

The ending of FILE tells the form: .html, .svg (one chart, see --chart), .md (for
a pull request), .csv (the runs), .json and .txt (as knee and compare print them).
-o html, svg, md, csv, json or text writes to stdout; without -o it is text.
A file that is there is replaced only if it is empty or of the kind that is written.

With two journals both are drawn over each other, and what moved is said as
compare does; fingerprints that differ are refused unless --across allows it.

--overlay FILE shows the gate that calibrate wrote into it, from the provenance
beside it. Without one a calibration is judged anew from its journal alone.

A CSV and the results of AIPerf and GuideLLM are read as knee reads them. report
ends with 0 when it was written, whatever the verdict in it is.`,
		Example: "  perfsweep report sweep.jsonl -o sweep.html\n  perfsweep report cal.jsonl --overlay my.yaml -o cal.html\n  perfsweep report before.jsonl after.jsonl -o md",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return badInputf("perfsweep report needs one JOURNAL or two; see %q", "perfsweep report --help")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			form, file, err := reportForm(a.output)
			if err != nil {
				return err
			}
			if file != "" {
				if err := recipes.CheckWritable(file); err != nil {
					return err
				}
			}
			if c.Flags().Changed("chart") && form != "svg" {
				return badInputf("--chart chooses what an SVG shows; use it with -o svg or -o FILE.svg")
			}
			page, err := f.page(args, c.Flags().Changed)
			if err != nil {
				return err
			}
			return a.writeReport(page, form, file, f.chart)
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.overlay, "overlay", "", "overlay that was calibrated from JOURNAL, whose written gate is shown")
	fl.StringVar(&f.sidecar, "sidecar", "", sidecarUsage)
	fl.StringVar(&f.chart, "chart", "throughput", "the chart of an SVG: throughput, latency, tradeoff or timeline (timelineA, timelineB of two)")
	fl.IntVar(&f.compare.gpus, "gpus", 0, "GPUs that were measured, for results of AIPerf and GuideLLM, which do not tell")
	fl.IntVar(&f.compare.gpusB, "gpus-b", 0, "GPUs of JOURNAL2, where they are not those of the first")
	fl.StringSliceVar(&f.compare.across, "across", nil, "show both although these fields of the fingerprint differ: "+compare.AcrossNames())
	return c
}

// writeReport renders whole before anything is written: a report that cannot be
// made leaves the file of an earlier one alone.
func (a *app) writeReport(p report.Page, form, file, chart string) error {
	var b bytes.Buffer
	if err := renderReport(&b, p, form, chart); err != nil {
		var none *report.NoChartError
		if errors.As(err, &none) {
			return badInputf("--chart: %w", err)
		}
		return err
	}
	if file != "" {
		var plain bytes.Buffer // what stdout would hold: a file is printed to a terminal too
		if _, err := (plainText{&plain}).Write(b.Bytes()); err != nil {
			return err
		}
		if err := recipes.WriteFile(file, plain.Bytes()); err != nil {
			return err
		}
		a.say("wrote %s", file)
		return nil
	}
	_, err := a.out.Write(b.Bytes())
	return err
}

func renderReport(w io.Writer, p report.Page, form, chart string) error {
	two := p.Comparison
	switch form {
	case "html":
		return report.PageHTML(w, p)
	case "svg":
		return report.PageSVG(w, p, chart)
	case "md":
		return report.PageMarkdown(w, p)
	case "csv":
		if two != nil {
			return report.CompareCSV(w, *two)
		}
		return report.CurveCSV(w, p.A.Curve)
	case "json":
		if two != nil {
			return report.CompareJSON(w, *two)
		}
		return report.CurveJSON(w, p.A.Curve)
	}
	if two != nil {
		return report.CompareText(w, *two)
	}
	return report.CurveText(w, p.A.Curve)
}
