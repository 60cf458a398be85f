// Command cicount reads the output of go test -json, prints one line a package
// and the whole output of what failed, and counts what ran.
//
//	go test -json ./... | cicount -tally FILE
//
// A test, a subtest, a fuzz target's seed run, an example and a benchmark count
// one each, under the name that go test gives them. A package that fails
// without a failing test of its own (it did not build, it panicked, it ran out
// of time, its stream broke off) counts one failure. A package without test
// files counts nothing. The counts are appended to the tally file as a line
// "passed failed skipped".
//
// The exit status is 0 when something passed and nothing failed or was skipped,
// 1 when not, 2 when the input cannot be read: a suite that ran nothing proves
// nothing.
package main
