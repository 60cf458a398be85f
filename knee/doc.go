// Package knee finds where a throughput-against-concurrency curve stops
// paying, with an interval, or says why it cannot.
//
// The knee is the tilted argmax of the curve, argmax ln X(n) − e*·ln n, which
// is the largest n up to which one more percent of concurrency still buys at
// least e* percent of throughput wherever the elasticity crosses e* once.
//
// Everything here is pure: the same runs and options give bit-equal results.
package knee
