package main

import (
	"fmt"
	"strings"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report"
	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/sweep"
	"github.com/perfsweep/perfsweep/sweep/compare"
)

// afterKnee is what follows a curve that was only read from path. Of one that something
// else measured no gate is made: its point is measured first.
func afterKnee(c report.Curve, path string) string {
	found := c.Fit.Status == knee.Knee || c.Fit.Status == knee.LatencyLimited
	switch {
	case c.Fingerprint == nil && found:
		return proofOf(c.Point.ConcurrencyPerGPU)
	case c.Fingerprint == nil:
		return otherLevels(c.Fit.Status, "measure", " and fit all of them together")
	case sweep.Curve{Fingerprint: *c.Fingerprint, Runs: c.All}.ClientBound():
		return clientBound
	case found:
		return gateOf(path)
	}
	return otherLevels(c.Fit.Status, "sweep", anotherJournal)
}

// proofOf is what follows a point that was only read. The least one cannot be proved
// alone, as its half is not measured, and without one the whole curve is needed.
func proofOf(point int) string {
	if point < 2 {
		return "perfsweep calibrate --target T --gpus N --overlay FILE measures it again and makes a gate of it"
	}
	return fmt.Sprintf("perfsweep calibrate --target T --gpus N --overlay FILE --concurrency-per-gpu %d proves that point and makes a gate of it", point)
}

// gateOf is what follows a journal with a knee.
func gateOf(journal string) string {
	return "perfsweep calibrate with the same flags and --overlay FILE makes a gate of it; perfsweep report " + journal + " -o report.html shows it"
}

const anotherJournal = " and another --journal"

// otherLevels is how a curve without a usable knee is measured so that it has one.
func otherLevels(s knee.Status, verb, then string) string {
	switch {
	case verb == "sweep" && s == knee.NotSaturated:
		return "sweep with a higher --max-concurrency-per-gpu," + then
	case verb == "sweep" && s == knee.SaturatedAtMin:
		return "sweep with lower --levels," + then
	case verb == "sweep" && s == knee.Ambiguous:
		return "sweep with --repeats 4," + then
	case verb == "sweep":
		return "sweep with at least 4 --levels on both sides of the knee," + then
	case s == knee.NotSaturated:
		return "measure higher concurrencies as well," + then
	case s == knee.SaturatedAtMin:
		return "measure lower concurrencies as well," + then
	case s == knee.Ambiguous:
		return "measure each level twice more," + then
	}
	return "measure at least 4 levels on both sides of the knee," + then
}

// afterComparison is what follows two journals that were held against each other;
// without their names, nothing was kept.
func afterComparison(r compare.Report, a, b string, across []string) string {
	switch {
	case a == "":
		return "the same command with --journal FILE keeps the runs, for perfsweep report"
	case r.Throughput.Verdict == compare.CannotTell && r.Paired:
		return "the same command with more --repeats and another --journal"
	case r.Throughput.Verdict == compare.CannotTell:
		return "sweep both again with more --repeats and other journals; perfsweep sweep --ab measures them in turns, which tells smaller changes"
	}
	allow := ""
	if len(across) > 0 {
		allow = " --across " + strings.Join(across, ",")
	}
	return "perfsweep report " + a + " " + b + allow + " -o report.html draws both"
}
