package compare

import (
	"cmp"
	"slices"
)

// MaxRuns bounds the runs of a side at one level: the distribution is
// enumerated, never approximated.
const MaxRuns = 50

// ranks2 returns twice the midrank of every value; twice, so that ties leave
// whole numbers.
func ranks2(values []float64) []int {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(values[i], values[j]) })
	out := make([]int, len(values))
	for from := 0; from < len(order); {
		to := from
		for to < len(order) && values[order[to]] == values[order[from]] {
			to++
		}
		for _, i := range order[from:to] {
			out[i] = from + 1 + to
		}
		from = to
	}
	return out
}

// null is the distribution of twice the Mann–Whitney statistic of n values
// drawn without order from values of these doubled ranks: the probability of
// each whole number.
func null(ranks []int, n int) []float64 {
	top := 0
	for _, r := range slices.Sorted(slices.Values(ranks))[len(ranks)-n:] {
		top += r
	}
	// ways[k][s] counts the choices of k values whose doubled ranks sum to s.
	ways := make([][]float64, n+1)
	for k := range ways {
		ways[k] = make([]float64, top+1)
	}
	ways[0][0] = 1
	for i, r := range ranks {
		for k := min(n, i+1); k > 0; k-- {
			for s := r; s <= top; s++ {
				ways[k][s] += ways[k-1][s-r]
			}
		}
	}
	all := 0.0
	for _, w := range ways[n] {
		all += w
	}
	least := n * (n + 1) // the doubled ranks of the n smallest of untied values
	out := make([]float64, max(top-least, 0)+1)
	for u := range out {
		out[u] = ways[n][u+least] / all
	}
	return out
}

// untied is null without ties.
func untied(m, n int) []float64 {
	ranks := make([]int, m+n)
	for i := range ranks {
		ranks[i] = 2 * (i + 1)
	}
	return null(ranks, n)
}

// convolve is the distribution of a sum.
func convolve(a, b []float64) []float64 {
	out := make([]float64, len(a)+len(b)-1)
	for i, x := range a {
		if x == 0 {
			continue
		}
		for j, y := range b {
			out[i+j] += x * y
		}
	}
	return out
}

// tails are P(W ≤ w) and P(W ≥ w).
func tails(dist []float64, w int) (lower, upper float64) {
	for i, p := range dist {
		if i <= w {
			lower += p
		}
		if i >= w {
			upper += p
		}
	}
	return lower, upper
}
