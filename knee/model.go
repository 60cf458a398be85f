package knee

import (
	"math"

	"github.com/perfsweep/perfsweep/internal/exact"
)

// The families, in the order in which a tie is decided. HYP rises as
// n·h/(n+h); LCAP and HCAP stop rising at k; LRET and HRET fall after k; SB0
// and SBR bend smoothly; TWO has two corners in log-log.
const (
	flat = iota
	lin
	hyp
	lcap
	hcap
	lret
	hret
	sb0
	sbr
	two
	families // the ten that compete for every curve
)

// The challengers, which are asked only where the ten are known to be wrong.
// LCLIFF and HCLIFF rise and then stand at a part of the top; BEND is a
// parabola in log-log.
const (
	lcliff = families + iota
	hcliff
	bend
	everyFamily
)

func familyName(f int) string {
	return [everyFamily]string{"FLAT", "LIN", "HYP", "LCAP", "HCAP", "LRET", "HRET", "SB0", "SBR", "TWO", "LCLIFF", "HCLIFF", "BEND"}[f]
}

// freeParams counts the parameters of a family for AICc; the step in which a
// cliff lies is one.
func freeParams(f int) int {
	return [everyFamily]int{1, 1, 2, 2, 3, 3, 4, 3, 4, 5, 3, 4, 3}[f]
}

// Bounds of the linear parameters.
const (
	maxFall   = 6.0 // γ of LRET and HRET
	maxSBFall = 4.0 // γ of SBR
	minMiddle = 0.05
	maxMiddle = 0.9 // e1 of TWO
)

// model is one family with its parameters. Concurrencies are held as
// logarithms; only those of the family are set.
type model struct {
	family int
	lnA    float64 // ln of tokens/s per stream as n → 0 (FLAT: ln of the level)
	lnH    float64 // half-saturation of the hyperbola
	lnK    float64 // cap
	fall   float64 // γ ≥ 0; the depth of a cliff; the curvature of BEND
	lnC    float64 // centre of the smooth corner
	q      float64 // its sharpness
	t1, t2 float64 // ln of the corners of TWO
	middle float64 // slope between them; slope of BEND at n = 1
}

func (m model) name() string { return familyName(m.family) }

// rise is ln(n·h/(n+h)) at x = ln n.
func (m model) rise(x float64) float64 {
	switch m.family {
	case hyp, hcap, hret, hcliff:
		return hyperbola(x, m.lnH)
	}
	return x
}

func hyperbola(x, lnH float64) float64 { return x - softplus(x-lnH) }

// softplus is ln(1+e^z) without overflow.
func softplus(z float64) float64 {
	if z > 0 {
		return z + exact.Log1p(exact.Exp(-z))
	}
	return exact.Log1p(exact.Exp(z))
}

// at evaluates ln X at x = ln n.
func (m model) at(x float64) float64 {
	switch m.family {
	case flat:
		return m.lnA
	case lin, hyp:
		return m.lnA + m.rise(x)
	case lcap, hcap:
		return m.lnA + m.rise(min(x, m.lnK))
	case lret, hret:
		return m.lnA + m.rise(min(x, m.lnK)) - float64(m.fall*max(x-m.lnK, 0))
	case sb0, sbr:
		return m.lnA + x - (1+m.fall)*softplus(m.q*(x-m.lnC))/m.q
	case lcliff, hcliff:
		return m.lnA + m.rise(min(x, m.lnK)) - float64(m.fall*past(x, m.lnK))
	case bend:
		return m.lnA + float64(m.middle*x) - float64(m.fall*x*x)
	default:
		return m.lnA + min(x, m.t1) + float64(m.middle*(min(max(x, m.t1), m.t2)-m.t1)) - float64(m.fall*max(x-m.t2, 0))
	}
}

// past is 1 past a cliff and 0 before it.
func past(x, at float64) float64 {
	if x > at {
		return 1
	}
	return 0
}

// knee is the largest n up to which the elasticity is at least e; in every
// family the elasticity only falls with n, so this is also the tilted argmax.
// 0 means that it is below e everywhere, +Inf that it never gets there.
func (m model) knee(e float64) float64 {
	switch m.family {
	case flat:
		return 0
	case lin:
		return math.Inf(1)
	case hyp:
		return exact.Exp(m.lnH) * (1/e - 1)
	case lcap, lret, lcliff:
		return exact.Exp(m.lnK)
	case bend:
		return exact.Exp((m.middle - e) / (2 * m.fall))
	case hcap, hret, hcliff:
		return min(exact.Exp(m.lnH)*(1/e-1), exact.Exp(m.lnK))
	case sb0, sbr:
		q := (1 - e) / (1 + m.fall)
		return exact.Exp(m.lnC) * exact.Pow(q/max(1-q, 1e-9), 1/m.q)
	default:
		if m.middle < e {
			return exact.Exp(m.t1)
		}
		return exact.Exp(m.t2)
	}
}

// params names the parameters for a report: a is tokens/s per stream as n → 0,
// h, k, c, t1 and t2 are concurrencies per GPU, depth is the part of the
// throughput that a cliff takes.
func (m model) params() map[string]float64 {
	p := map[string]float64{"a": exact.Exp(m.lnA)}
	switch m.family {
	case hyp, hcap, hret, hcliff:
		p["h"] = exact.Exp(m.lnH)
	case sb0, sbr:
		p["c"], p["q"] = exact.Exp(m.lnC), m.q
	case two:
		p["t1"], p["t2"], p["e1"] = exact.Exp(m.t1), exact.Exp(m.t2), m.middle
	case bend:
		p["slope"], p["curvature"] = m.middle, m.fall
	}
	switch m.family {
	case lcap, hcap, lret, hret, lcliff, hcliff:
		p["k"] = exact.Exp(m.lnK)
	}
	switch m.family {
	case lcliff, hcliff:
		p["depth"] = -exact.Expm1(-m.fall)
	case lret, hret, sbr, two:
		p["gamma"] = m.fall
	}
	return p
}

// curve turns the model into throughput at a concurrency per GPU.
func (m model) curve() func(float64) float64 {
	return func(n float64) float64 { return exact.Exp(m.at(exact.Log(n))) }
}
