package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// exitMeanings is the table of exit codes in words.
var exitMeanings = [...]struct {
	code    int
	meaning string
}{
	{exitDone, "done, or passed"},
	{exitWorld, "the world: unreachable, permission, disk, target failed"},
	{exitInput, "what you wrote: flags, overlay, input file; nothing was measured or written"},
	{exitGateFailed, "a gate failed"},
	{exitInconclusive, "inconclusive or refused: unstable, no knee, client-bound, provisional, no gate"},
	{exitInterrupted, "interrupted; a journal that was begun is intact"},
}

// exitCodesTopic and conceptsTopic are pages of help, not commands.
func exitCodesTopic() *cobra.Command {
	var b strings.Builder
	b.WriteString("Scripts may rely on these.\n\n")
	for _, m := range exitMeanings {
		fmt.Fprintf(&b, "  %3d  %s\n", m.code, m.meaning)
	}
	b.WriteString(`
knee, and sweep for its curve: 0 for the statuses knee and latency_limited, 9
for every other one. lint: 2 where there is an error, 0 with warnings only.
recipes status: 9 where a gate is stale. recipes verify: 8 where a value
differs, 9 where no sidecar is there. report: 0 whenever it was written.

--exit-codes aicr folds them into 0 and 1, because AICR's validator reads a
container's 2 as skipped, and a skipped check would count as none at all.`)
	return &cobra.Command{Use: "exit-codes", Short: "What each exit code means", Long: b.String()}
}

func conceptsTopic() *cobra.Command {
	return &cobra.Command{Use: "concepts", Short: "The words that answers and refusals use", Long: `Load
  concurrency per GPU   requests in flight divided by GPUs: what is swept
  level                 one concurrency; it is run several times
  closed loop           a stream sends its next request when the last has ended
  steady run            ramped, measured in a window, topped up: feeds the knee
  gate run              AICR's protocol: feeds floor, ceiling and verdict
  ISL, OSL              tokens in and out of a request

Numbers
  tok/s                 output tokens of good answers, from the server's usage
  TTFT                  from the first byte sent to the first chunk with output
  ITL                   (E2E - TTFT) / (tokens - 1) of a request
  goodput               what was served within an objective

Answers
  knee                  up to here one more percent of concurrency buys at least
                        e* = 0.2 percent of throughput; with an interval
  operating point       the ladder value at or below 0.8 x the knee, confirmed
  ladder                1, 2, 3, 4, 6, 8, 12, 16, 24 ...: the points to choose
  model                 the form that fits the levels best, such as HCAP, a
                        hyperbola up to a cap; knee --explain shows them all
  tilted argmax         the level with the largest ln X - e* ln n, X throughput
                        and n concurrency: the knee without any form
  N*                    largest throughput over that of one stream of the lowest
                        level: what would do if nothing waited, so always early
  run noise             standard deviation of ln X between runs of one level
  floor, ceiling        least tok/s per GPU, largest TTFT p99; an evaluator
                        passes at 0.9 x floor and 1.1 x ceiling ("acts as")
  latency_limited       TTFT jumps before throughput stops: the jump is the knee
  not_saturated         the curve still rises at the last level
  flat                  more load never helped: start lower, or ask why

Why it refuses
  INVALID               a run failed a gate V1..V9 (errors, load not held, a
                        stall, this tool at its limit ...): it is kept and
                        never counts as a slow run
  unstable              runs at one level disagree, drift, or stand still
  PROVISIONAL           the data stand, and nothing outside says that the whole
                        place is not slow: give an --anchor, or an --approve
  anchor                a baseline, a second node, a person, the public record
  window                a second time or a second deployment, as chance has more
                        than one face
  fingerprint           what was measured: model, image, GPUs, router, workload.
                        Two different ones are never compared: stale
  capacity pulse        a check's run near the knee, where a lost worker shows

calibrate --explain prints every gate: what was seen, wanted, is to be done.`}
}
