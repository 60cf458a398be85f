package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
	"github.com/perfsweep/perfsweep/sweep/imports"
)

const (
	// bridgeLimit is how long AICR's job gives AIPerf.
	bridgeLimit = 15 * time.Minute
	// bridgePatience is how long what it leaves running may hold its output.
	bridgePatience = 5 * time.Second
	bridgeTail     = 2048
)

// aiperfRun is one run of AIPerf, asked for.
type aiperfRun struct {
	command  []string
	url      string
	model    string
	workload loadgen.WorkloadSpec
	streams  int
	requests int64
	limit    time.Duration // 0: bridgeLimit
}

// do runs AIPerf and reads what it wrote. Nothing that it says is taken for
// more than it is: the run must be whole, without a failed request, and of as many
// requests and streams as were asked for.
func (r aiperfRun) do(ctx context.Context) (out imports.AIPerfRun, began time.Time, err error) {
	dir, err := os.MkdirTemp("", "perfsweep-bridge-*")
	if err != nil {
		return out, began, fmt.Errorf("a folder for AIPerf: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	limit := r.limit
	if limit <= 0 {
		limit = bridgeLimit
	}
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	args := append(append([]string{}, r.command[1:]...), aicrArguments(r.url, r.model, r.workload, r.streams, r.requests, dir)...)
	cmd := exec.CommandContext(within, r.command[0], args...)
	said := &tail{most: bridgeTail, secrets: secretsIn(r.command[1:])}
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = said, said, bridgePatience
	ownGroup(cmd)
	start := time.Now()
	began = start.UTC()
	if err = cmd.Run(); errors.Is(err, exec.ErrWaitDelay) { // it ended well, and left something running
		err = nil
	}
	took := time.Since(start)
	endGroup(cmd)
	switch {
	case ctx.Err() != nil:
		return out, began, ctx.Err()
	case errors.Is(within.Err(), context.DeadlineExceeded):
		return out, began, fmt.Errorf("AIPerf (%s) was ended after %s, which AICR's job allows%s", r.command[0], limit, said)
	case err != nil:
		return out, began, fmt.Errorf("AIPerf (%s): %w%s; repair that, and go on with --resume", r.command[0], err, said)
	}
	out, err = imports.ReadAIPerfRun(filepath.Join(dir, imports.AIPerfFile))
	if err != nil {
		return out, began, fmt.Errorf("what AIPerf wrote cannot be used: %w%s; does the command of --bridge, which begins with %s, profile?", withoutFolder(err, dir), said, r.command[0])
	}
	return out, began, r.whole(out, took)
}

// whole refuses a run that is not the one asked for.
func (r aiperfRun) whole(out imports.AIPerfRun, took time.Duration) error {
	switch {
	case out.Seconds > took.Seconds():
		return fmt.Errorf("AIPerf says that it measured for %.1f s, and it ran for %.1f s: what it wrote is not of this run; does its command copy a file?", out.Seconds, took.Seconds())
	case out.Errors > 0:
		return fmt.Errorf("%d of AIPerf's %s failed: its numbers are not of a healthy run; look at the target, and go on with --resume", out.Errors, plural.Of(out.Errors+out.Requests, "request"))
	case out.Requests != r.requests:
		return fmt.Errorf("AIPerf made %s where %d %s asked for; does its command set --request-count or a duration?", plural.Of(out.Requests, "request"), r.requests, plural.Verb(r.requests, "was", "were"))
	case out.Concurrency != r.streams:
		return fmt.Errorf("AIPerf held %s where %d %s asked for; does its command set --concurrency?", plural.Of(out.Concurrency, "stream"), r.streams, plural.Verb(r.streams, "was", "were"))
	}
	return nil
}

// reading is the run in the journal's form. AIPerf counts by its own tokenizer.
func (r aiperfRun) reading(out imports.AIPerfRun, began time.Time) sweep.BridgeReading {
	b := sweep.BridgeReading{
		Started: began, Seconds: out.Seconds, Requests: out.Requests, OutputTokens: out.OutputTokens, TokPerSec: out.TokPerSec, TTFTP99MS: out.TTFTP99MS,
	}
	if b.OutputTokens <= 0 {
		b.OutputTokens = float64(out.TokPerSec * out.Seconds)
	}
	warm := out.WarmUpTokens
	if warm <= 0 {
		warm = b.OutputTokens * float64(r.streams) / float64(r.requests)
	}
	b.AllOutputTokens = b.OutputTokens + warm
	return b
}

// withoutFolder drops from a message a folder that is gone by the time it is read.
func withoutFolder(err error, dir string) error {
	return errors.New(strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), ""))
}
