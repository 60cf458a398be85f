package sweep

import (
	"fmt"
	"math"

	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/loadgen"
)

// What is measured lies between these, in whatever unit, or is 0 for absent;
// beyond them ratios are no numbers.
const leastNumber, mostNumber = 1e-12, 1e15

func measurable(v float64) bool { return v == 0 || v >= leastNumber && v <= mostNumber }

// consistent refuses a run whose result is not one of its step, holds what
// nothing measures, or contradicts itself.
func consistent(r Run, f Fingerprint) error {
	res, gpus := &r.Result, f.GPUs
	if want := r.Step.ConcurrencyPerGPU * gpus; res.Concurrency != 0 && res.Concurrency != want {
		return fmt.Errorf("%s where %d per GPU on %s %s planned",
			plural.Of(res.Concurrency, "stream"), r.Step.ConcurrencyPerGPU, plural.Of(gpus, "GPU"), plural.Verb(want, "was", "were"))
	}
	if res.Kind != "" && res.Kind != r.Step.Kind {
		return fmt.Errorf("the result of a %s run where a %s run was planned", res.Kind, r.Step.Kind)
	}
	for _, e := range []*loadgen.Estimate{&res.Window, &res.WholeRun} {
		for _, v := range []float64{
			e.Seconds, float64(e.Requests), e.OutputTokens, e.OutputTokPerSec, e.RequestsPerSec,
			e.TTFTMeanMS, e.TTFTP50MS, e.TTFTP90MS, e.TTFTP99MS, e.TTFTMaxMS, e.TTFTP99LowMS, e.TTFTP99HighMS,
			e.TTFOMeanMS, e.TTFOP50MS, e.TTFOP99MS, e.TTSTMeanMS, e.TTSTP50MS, e.TTSTP99MS,
			e.ITLMeanMS, e.ITLP50MS, e.ITLP99MS, e.GapP50MS, e.GapP99MS, e.E2EMeanMS, e.E2EP50MS, e.E2EP99MS,
		} {
			if !measurable(v) {
				return fmt.Errorf("%v is no measurement", v)
			}
		}
	}
	if err := evidence(r); err != nil {
		return err
	}
	if g := res.Goodput; g != nil {
		for _, v := range []float64{g.RequestsPerSec, g.OutputTokPerSec, float64(g.Requests), float64(g.WithoutITL)} {
			if !measurable(v) {
				return fmt.Errorf("%v is no measurement of goodput", v)
			}
		}
		if !(g.Share >= 0 && g.Share <= 1) || g.Good < 0 || g.Good > g.Requests {
			return fmt.Errorf("%s of %d, a share of %v", plural.Of(g.Good, "good request"), g.Requests, g.Share)
		}
	}
	if err := lawful(r); err != nil {
		return err
	}
	return lawfulWorkers(r.Workers, f.Labels)
}

// evidence refuses what the run gates look at and nothing measures. Shares and
// residuals may be as small as arithmetic makes them, and clocks and counters may
// step back.
func evidence(r Run) error {
	res := &r.Result
	some := []float64{
		res.SeriesSeconds, res.LongestSilenceMS, res.OutputTokensPerRequest, res.RequestedOutputTokens,
		res.PromptTokensPerRequest, res.RequestedPromptTokens, res.CachedTokensPerRequest, res.SeriesStartS, res.StartSpreadMS,
		res.Health.CPUShare, res.Health.LagP50MS, res.Health.LagP99MS, res.Health.LagMaxMS, res.Health.LittleResidual,
		res.Health.DeliveredConcurrency, res.Health.DeliveredConcurrencyLow,
		float64(res.RepeatedPrompts), float64(res.TotalOutputTokens), float64(res.TotalPromptTokens), float64(res.CachedTokensTold),
	}
	for _, o := range []loadgen.Outcomes{res.Measured, res.All} {
		for _, n := range o {
			some = append(some, float64(n))
		}
	}
	for _, s := range res.Suspended {
		some = append(some, s.StartS, s.LengthS)
	}
	if r.Servers != nil {
		for _, s := range r.Servers.Shares {
			some = append(some, math.Abs(s.Completed), math.Abs(s.InFlight))
		}
	}
	for _, of := range [][]float64{some, res.Series, res.TTFTWavesMS} {
		for _, v := range of {
			if !(v >= 0 && v <= mostNumber) {
				return fmt.Errorf("%v is no measurement", v)
			}
		}
	}
	return nil
}
