package main

import (
	"bufio"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report"
	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/sweep"
	"github.com/perfsweep/perfsweep/sweep/imports"
)

func (a *app) kneeCmd() *cobra.Command {
	var eStar, slo float64
	c := &cobra.Command{
		Use:   "knee FILE",
		Short: "Find the knee of a journal or of a CSV; measures nothing",
		Long: `knee fits a journal of perfsweep, or a CSV with the header
concurrency_per_gpu,output_tok_per_s_per_gpu,ttft_p50_ms,ttft_p99_ms[,itl_ms]
(one row a run, several rows a level). It ends with 0 for the statuses knee and
latency_limited and with 9 for every other one.`,
		Example: "  perfsweep knee sweep.jsonl\n  perfsweep knee curve.csv -o json",
		Args:    exactly(1, "one FILE, a journal or a CSV"),
		RunE: func(_ *cobra.Command, args []string) error {
			opt := knee.Options{EStar: eStar}
			if err := opt.Validate(); err != nil {
				return badInputf("--e-star: %w", err)
			}
			if err := checkSLO(slo); err != nil {
				return err
			}
			cv, err := readCurve(args[0])
			if err != nil {
				return err
			}
			cv.Fit = knee.Find(cv.Runs, opt)
			p := sweep.DefaultPlan(sweep.Standard)
			p.EStar, p.SLOMaxTTFTMS = eStar, slo
			cv.Point = sweep.ChoosePoint(p, cv.Fit, cv.All)
			if err := a.printCurve(cv); err != nil {
				return err
			}
			return kneeVerdict(cv.Fit.Status)
		},
	}
	c.Flags().Float64Var(&eStar, "e-star", 0.20, "elasticity of throughput at the knee, 0.05 to 0.5")
	c.Flags().Float64Var(&slo, "slo-ttft-ms", 2000, "largest TTFT p99 that counts as healthy")
	return c
}

// readCurve reads a journal or a CSV; the first byte tells which.
func readCurve(path string) (report.Curve, error) {
	if _, err := regularFile(path); err != nil {
		return report.Curve{}, err
	}
	f, err := os.Open(path)
	if err != nil {
		return report.Curve{}, badInput(err)
	}
	defer func() { _ = f.Close() }() // only read
	br := bufio.NewReader(f)
	first, err := br.Peek(1)
	if err == io.EOF {
		return report.Curve{}, badInputf("%s is empty", path)
	}
	if err != nil {
		return report.Curve{}, fmt.Errorf("reading %s: %w", path, err)
	}
	if first[0] == '{' {
		c, err := readJournal(path)
		if err != nil {
			return report.Curve{}, err
		}
		return report.Curve{Runs: c.Points(), All: c.Runs, Fingerprint: &c.Fingerprint, Preflight: &c.Preflight}, nil
	}
	runs, err := imports.CSV(path, br)
	if err != nil {
		return report.Curve{}, badInput(err)
	}
	return report.Curve{Runs: runs, All: sweep.FromPoints(runs)}, nil
}
