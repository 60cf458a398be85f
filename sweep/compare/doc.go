// Package compare says what moved between two curves, with an interval, or how
// many more runs it takes to say it.
//
// The change of a metric is the Hodges–Lehmann estimate of the shift of its
// logarithm, written as a ratio B/A: the median of all differences between a
// run of B and a run of A at the same level (Hodges and Lehmann, Ann. Math.
// Stat. 34, 1963). Its interval and its p value come from the exact
// permutation distribution of the Mann–Whitney statistic (Mann and Whitney,
// Ann. Math. Stat. 18, 1947), conditional on ties; nothing is approximated, and
// no shape of the noise is assumed beyond its being the same on both sides.
//
// Levels are strata: only runs at one level are held against each other, and
// the statistics of the levels are added (van Elteren 1960), which lets two
// runs a level prove over eight levels what they cannot prove at one. That sum
// is the verdict, a single test; levels on their own are corrected for their
// number (Holm, Scand. J. Stat. 6, 1979).
package compare
