package calibrate

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/perfsweep/perfsweep/internal/exact"
	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
)

// The constants of the floor rule. sbPrior, the between-deployment standard
// deviation assumed in the absence of data, and its weight are a convention:
// no public record measures either.
const (
	swFloor       = 0.015 // a within-deployment sd below this is luck
	sbPrior       = 0.03
	sbPriorWeight = 4 // degrees of freedom
	// nPrimeMax keeps the noncentrality where the series of the distribution
	// converges; more runs than that only make k a little larger than needed.
	nPrimeMax = 200
	z95       = 1.6448536269514722

	portableShare   = 0.85
	regressionShare = 0.95
	// minRunsToWrite is the fewest gate runs a floor may rest on.
	minRunsToWrite = 5
)

// Limits is the floor arithmetic: a one-sided 95/95 tolerance limit over
// deployments, and the two floors made from it. Rates are per GPU.
type Limits struct {
	Runs        int     `json:"runs"`
	Deployments int     `json:"deployments"`
	Median      float64 `json:"median_output_tok_per_s_per_gpu,omitempty"`
	// LogMean is the mean of the deployments' means of ln X, S the standard
	// deviation of one run of a new deployment around it.
	LogMean float64 `json:"log_mean,omitempty"`
	S       float64 `json:"s,omitempty"`
	SW      float64 `json:"s_within"`
	SB      float64 `json:"s_between"`
	SBBasis string  `json:"s_between_basis,omitempty"` // assumed, shrunk, measured
	// SWRaw is SW before its lower bound; what C8 judges.
	SWRaw  float64 `json:"s_within_measured"`
	F      float64 `json:"degrees_of_freedom"`
	NPrime float64 `json:"n_prime"`
	K      float64 `json:"k"`
	L      float64 `json:"tolerance_limit_output_tok_per_s_per_gpu,omitempty"`
	// Portable and Regression are the two floors, Raw… the same unrounded.
	Portable      float64 `json:"portable_output_tok_per_s_per_gpu,omitempty"`
	Regression    float64 `json:"regression_output_tok_per_s_per_gpu,omitempty"`
	RawPortable   float64 `json:"-"`
	RawRegression float64 `json:"-"`
	// FalseAlarm is the predicted share of healthy runs that fail each floor.
	FalseAlarmPortable   float64 `json:"false_alarm_portable"`
	FalseAlarmRegression float64 `json:"false_alarm_regression"`
}

// FloorLimits computes the limits of gate-run throughputs per GPU, one slice a
// deployment. One formula serves any number of deployments: the data's own
// between-deployment variance is shrunk towards the assumed one. The
// evaluator's own tolerance is counted once: L bounds what it compares with.
func FloorLimits(deployments [][]float64) (Limits, error) {
	var all, means []float64
	var ss, inverse float64
	for i, runs := range deployments {
		if len(runs) == 0 {
			return Limits{}, fmt.Errorf("floor limits: deployment %d has no runs; leave it out", i+1)
		}
		logs := make([]float64, len(runs))
		for j, x := range runs {
			if !positive(x) {
				return Limits{}, fmt.Errorf("floor limits: run %d of deployment %d reads %v tok/s; leave out runs without a throughput", j+1, i+1, x)
			}
			logs[j] = exact.Log(x)
		}
		mean := exact.Mean(logs)
		for _, y := range logs {
			ss += float64((y - mean) * (y - mean))
		}
		all, means, inverse = append(all, runs...), append(means, mean), inverse+1/float64(len(runs))
	}
	a, n := float64(len(deployments)), float64(len(all))
	if n-a < 1 {
		return Limits{}, errors.New("floor limits: no deployment has two runs, so run-to-run noise is unknown; measure more")
	}
	l := Limits{Runs: len(all), Deployments: len(deployments), Median: sweep.Median(all), LogMean: exact.Mean(means)}
	l.SWRaw = math.Sqrt(ss / (n - a))
	l.SBBasis = betweenBasis(len(deployments))
	l.fill(means, n-a, a/inverse)
	if !positive(l.K) || !positive(l.L) {
		return Limits{}, fmt.Errorf("floor limits: no tolerance limit for %s with within-deployment sd %.3g; the runs are not of one system", plural.Of(len(all), "run"), l.SWRaw)
	}
	return l, nil
}

// fill applies the formula to deployment means, nuW within-deployment degrees
// of freedom, and nTilde runs per deployment (harmonic mean).
func (l *Limits) fill(means []float64, nuW, nTilde float64) {
	a := float64(len(means))
	sw2 := max(swFloor*swFloor, l.SWRaw*l.SWRaw)
	own := 0.0
	if len(means) >= 2 {
		own = max(0, exact.Variance(means)-sw2/nTilde)
	}
	nuB := a - 1 + sbPriorWeight
	sb2 := (float64(sbPriorWeight*sbPrior*sbPrior) + float64((a-1)*own)) / nuB
	s2 := sb2 + sw2
	l.SW, l.SB, l.S = math.Sqrt(sw2), math.Sqrt(sb2), math.Sqrt(s2)
	l.F = s2 * s2 / (sb2*sb2/nuB + sw2*sw2/nuW)
	l.NPrime = a * s2 / (sb2 + sw2/nTilde)
	l.K = kFactor(l.F, l.NPrime)
	l.L = exact.Exp(l.LogMean - float64(l.K*l.S))
	l.RawPortable = min(portableShare*l.Median, l.L/(1-recipes.Tolerance))
	l.RawRegression = min(regressionShare*l.Median, l.L/(1-recipes.Tolerance))
	l.Portable, l.Regression = floorSig(l.RawPortable, 3), floorSig(l.RawRegression, 3)
	l.FalseAlarmPortable = l.FailProbability((1-recipes.Tolerance)*l.Portable, 1)
	l.FalseAlarmRegression = l.FailProbability((1-recipes.Tolerance)*l.Regression, 1)
}

// FailProbability predicts how likely one gate run of a new deployment, whose
// throughput is ratio times the calibrated one, reads below effective tok/s
// per GPU.
func (l Limits) FailProbability(effective, ratio float64) float64 {
	if !positive(effective) || !positive(ratio) || !positive(l.S) || !positive(l.NPrime) {
		return 0
	}
	z := (exact.Log(effective) - l.LogMean - exact.Log(ratio)) / (l.S * math.Sqrt(1+1/l.NPrime))
	return normalCDF(z)
}

// kFactor is the factor of a one-sided 95/95 tolerance limit whose standard
// deviation has f degrees of freedom and whose centre is worth n runs; NaN
// where there is none.
func kFactor(f, n float64) float64 {
	if !positive(f) || !positive(n) {
		return math.NaN()
	}
	root := math.Sqrt(min(n, nPrimeMax))
	return exact.Digits(distuv.NoncentralT{Nu: f, Mu: z95 * root}.Quantile(0.95), distDigits) / root
}

func betweenBasis(deployments int) string {
	switch {
	case deployments < 3:
		return "assumed"
	case deployments < 6:
		return "shrunk"
	default:
		return "measured"
	}
}
