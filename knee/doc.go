// Package knee finds where a throughput-against-concurrency curve stops
// paying, with an interval, or says why it cannot.
//
// The knee is the tilted argmax of the curve, argmax ln X − e*·ln n, which is
// the largest n up to which one more percent of concurrency still buys at
// least e* percent of throughput wherever the elasticity crosses e* once.
//
// Find cleans the levels (runs below a gap wider than the noise explains are
// stalls), fits ten closed forms of ln X by separable least squares (Golub and
// Pereyra 1973) on a fixed grid, chooses by AICc (Hurvich and Tsai 1989),
// accepts the winner's knee only where the measured levels agree with it, lets
// a sustained TTFT step overrule it, and gives one status. The winner is then
// refined between grid points, by an eighth of an octave at most. The interval
// joins a seeded bootstrap with the levels around the knee.
//
// Everything here is pure: the same runs and options give bit-equal results,
// in whatever order the runs come. No input makes it panic or take long: runs
// that cannot be measurements are left out with a warning, options that
// Validate refuses and more than 256 levels give Insufficient with one.
package knee
