// Package knee finds where a throughput-against-concurrency curve stops
// paying, with an interval, or says why it cannot.
//
// # What a knee is
//
// Write e for the elasticity of throughput X in concurrency n, e = d ln X/d ln
// n: what one more percent of concurrency buys, in percent of throughput. A
// curve that rises in proportion has e = 1, a plateau 0, a collapse less. The
// knee is the tilted argmax of the curve,
//
//	argmax ln X − e*·ln n,
//
// which is the largest n up to which e is at least e* wherever e crosses e*
// once. For a hard cap that is the cap, for a collapse it is the edge, whatever
// e* is; only on smooth curves is e* a choice. The default of 0.20 stops where
// a doubling buys less than 11 % of throughput: on the hyperbola n·h/(n+h) at
// 80 % of what it can ever give, n = 4h. In a closed loop the mean residence
// time is n/X by Little's law (1961), so Kleinrock's power (1979), X divided by
// that time, is largest where e = 1/2: the same definition with another e*,
// which stops at half of the capacity. The operational bound of Denning and
// Buzen (1978), reported as NStar, is early in the same way.
//
// # How it is found
//
// A step of continuous batching takes about a + b·n, so throughput rises as a
// hyperbola (Inoue 2021 for batch servers in general), until an admission
// limit, the KV cache, a frontend or a scheduler ends it: flat, falling, or
// bending. Ten closed forms of ln X cover that: FLAT and LIN; HYP; a linear or
// hyperbolic rise to a cap (LCAP, HCAP) or to a power-law fall (LRET, HRET); a
// smooth corner, after which X may fall (SB0, SBR), which holds the universal
// scalability law of Gunther (1993) without contention as a special case; and
// two corners in log-log (TWO).
//
// Find goes through these steps, and with Options.Explain tells each of them:
//
//  1. Runs below a gap wider than the noise explains are stalls: a level keeps
//     its upper cluster, and is flagged. Throughput is only ever lost to a
//     stall. The threshold scales with the noise pooled within levels.
//  2. Levels far below both a lower and a higher one, and levels deep inside a
//     collapse, are left out.
//  3. Each form is fitted by separable least squares (Golub and Pereyra 1973):
//     all but one or two parameters are linear, and those two lie on a grid, so
//     nothing has to converge and the same input gives the same bits.
//  4. AICc (Hurvich and Tsai 1989) chooses, with a floor of 1 % for the error
//     of any closed form.
//  5. The winner's knee counts only where the measured levels agree with it:
//     between the neighbours of the tilted argmax level, or at a level that is
//     as good within two standard errors. Otherwise the status is
//     knee_ambiguous, and Refine says what to measure.
//  6. A sustained TTFT p99 step of three or more before the knee overrules it:
//     latency_limited, with the middle of that step.
//  7. A knee in the last octave of a curve that still climbs is none:
//     not_saturated.
//  8. Where there is a knee, the forms are compared once more, each refined
//     between its grid points, together with two kinds that the ten cannot
//     describe: a cliff within one step (LCLIFF, HCLIFF), of which all that is
//     known is the step, and a bend over many octaves (BEND). They may move the
//     knee, and never decide whether there is one.
//
// The interval is the union of a seeded bootstrap of the level centres with
// model re-selection (Efron 1979), the measured levels around the knee, and the
// tilted argmax with the level after it: the bootstrap alone knows nothing of
// model error or of the spacing of the levels, and covered 72 % of the knees
// instead of 90 %. Where no model may speak the tilted argmax is what is
// redrawn, and the interval reaches back to the level before: the knee of a
// staircase is the jump between two levels.
//
// # What was not used
//
// The Kneedle of Satopää et al. (2011) depends on the axes and on how far a
// sweep went, and finds a knee in curves that have none. Segmented regression
// (Muggeo 2003) alone puts the knee of a smooth curve two octaves low. The
// universal scalability law has no corner: on a cap its knee lies an octave
// high. All of them, and the bare tilted argmax, were compared with this
// package on curves of known knee.
//
// # What it promises
//
// Everything here is pure: the same runs and options give bit-equal results,
// in whatever order the runs come. No input makes it panic or take long: runs
// that cannot be measurements are left out with a warning, options that
// Validate refuses and more than 256 levels give Insufficient with one.
//
// How well it does on curves of known knee, on families that it was designed
// with, on families that it was not, and which targets it misses, is the table
// that make accept prints.
//
// # References
//
//   - P. J. Denning, J. P. Buzen, "The operational analysis of queueing network
//     models", ACM Computing Surveys 10(3), 1978.
//   - B. Efron, "Bootstrap methods: another look at the jackknife", Annals of
//     Statistics 7(1), 1979.
//   - G. H. Golub, V. Pereyra, "The differentiation of pseudo-inverses and
//     nonlinear least squares problems whose variables separate", SIAM Journal
//     on Numerical Analysis 10(2), 1973.
//   - N. J. Gunther, "A simple capacity model of massively parallel transaction
//     systems", CMG 1993.
//   - C. M. Hurvich, C.-L. Tsai, "Regression and time series model selection in
//     small samples", Biometrika 76(2), 1989.
//   - Y. Inoue, "Queueing analysis of GPU-based inference servers with dynamic
//     batching", Performance Evaluation 147, 2021, arXiv 1912.06322.
//   - L. Kleinrock, "Power and deterministic rules of thumb for probabilistic
//     problems in computer communications", ICC 1979.
//   - J. D. C. Little, "A proof for the queuing formula L = λW", Operations
//     Research 9(3), 1961.
//   - V. M. R. Muggeo, "Estimating regression models with unknown
//     break-points", Statistics in Medicine 22, 2003.
//   - V. Satopää, J. Albrecht, D. Irwin, B. Raghavan, "Finding a 'Kneedle' in a
//     haystack", ICDCS Workshops 2011.
package knee
