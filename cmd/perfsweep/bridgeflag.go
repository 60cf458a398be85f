package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"unicode"

	"github.com/spf13/pflag"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/loadgen"
)

const bridgeHelp = `AICR's evaluator measures with AIPerf, which drives less than it is asked to and reads
first tokens late, the more streams the more. --bridge aiperf[=COMMAND] measures that
where the gate is to hold: once the point is confirmed AIPerf and perfsweep make one
gate run each, in the order A B, B A, A B, three pairs or --bridge-pairs, with AICR's own
arguments for both. Floor and ceiling are then what AIPerf reads of this deployment,
and the comment says so with both ratios, their intervals and what the server's own
counter of tokens says of either; pairs that contradict it, or scatter, refuse to
write. Pairs are kept in the journal: one broken off goes on with what is missing.
--plan and --max-wall count their runs and time; out of it nothing is written.
COMMAND (default: aiperf profile) is split into words as a shell does, without one,
and AICR's arguments are added; it needs a tokenizer that it can load, such as
--bridge 'aiperf=aiperf profile --tokenizer DIR'. It runs here, so not for k8s:
targets. Without --bridge the comment says "Bridge: none" and what AIPerf is known to
lose; no margin is widened for it.`

// bridgeFlags ask for runs of AIPerf beside those of this tool.
type bridgeFlags struct {
	spec  string
	pairs int

	command []string // nil: none was asked for
}

// bridgeFlagNames mean nothing where nothing is measured.
var bridgeFlagNames = [...]string{"bridge", "bridge-pairs"}

const (
	maxBridgePairs  = 20
	defaultCommand  = "aiperf profile"
	maxCommandBytes = 4096
)

func (f *bridgeFlags) bind(fl *pflag.FlagSet) {
	fl.StringVar(&f.spec, "bridge", "", "aiperf[=COMMAND]: also measure the point with AIPerf, in pairs, so that floor and ceiling are what AIPerf reads")
	fl.IntVar(&f.pairs, "bridge-pairs", calibrate.MinBridgePairs, "pairs of --bridge; more of them narrow its intervals")
}

// check refuses, before anything is measured, what could not be bridged.
func (f *bridgeFlags) check(m *measureFlags, changed func(string) bool) error {
	f.command = nil
	if !changed("bridge") {
		if changed("bridge-pairs") {
			return badInputf("--bridge-pairs counts the pairs of --bridge, which is missing")
		}
		return nil
	}
	tool, command, given := strings.Cut(f.spec, "=")
	if tool != "aiperf" {
		return badInputf("--bridge %.40q: use aiperf, or aiperf=COMMAND", f.spec)
	}
	if !given {
		command = defaultCommand
	}
	words, err := shellWords(command)
	switch {
	case err != nil:
		return badInputf("--bridge: the command of AIPerf: %w", err)
	case len(words) == 0:
		return badInputf("--bridge aiperf=: name the command, such as 'aiperf=aiperf profile --tokenizer DIR', or drop the =")
	case strings.Contains(words[0], "="):
		return badInputf("--bridge: its command begins with a variable, and no shell runs it: write env before it, or export the variable")
	case f.pairs < calibrate.MinBridgePairs || f.pairs > maxBridgePairs:
		return badInputf("--bridge-pairs %d: must be between %d and %d", f.pairs, calibrate.MinBridgePairs, maxBridgePairs)
	case isClusterTarget(m.target):
		return badInputf("--bridge runs AIPerf on this machine, and the load on a k8s: target is made by pods: two tools in two places are no pair. " +
			"Run calibrate in a pod that has both, with --target URL of the deployment, or drop --bridge")
	}
	if err := f.reachable(m, given, changed); err != nil {
		return err
	}
	if _, err := exec.LookPath(words[0]); err != nil {
		return badInputf("--bridge: %w; install AIPerf (pip install aiperf), or name its command with --bridge aiperf=COMMAND", err)
	}
	f.command = words
	return nil
}

// reachable refuses ways to the target that AIPerf would not take, and loads that
// AICR's job does not make.
func (f *bridgeFlags) reachable(m *measureFlags, given bool, changed func(string) bool) error {
	n := &m.net
	key := n.apiKeyFile != "" || changed("api-key-env") || os.Getenv(n.keyEnv) != ""
	for _, way := range []struct {
		on   bool
		flag string
	}{
		{n.unixSocket != "", "unix-socket"}, {n.proxy, "proxy-from-env"}, {n.http2, "http2"}, {n.certFile != "", "cert-file"}, {n.caFile != "", "ca-file"},
		{n.endpoint != string(loadgen.ChatCompletions), "endpoint"}, {n.transport != string(loadgen.Native), "transport"}, {m.deploy.on, "deploy"},
	} {
		if way.on {
			return badInputf("--bridge gives AIPerf the target's URL and AICR's arguments, and nothing of --%s: the two would not measure one thing; drop one of the two", way.flag)
		}
	}
	if !given && (key || len(n.headers) > 0 || len(n.fields) > 0) {
		return badInputf("--bridge: keys, headers and body fields are not passed on to AIPerf; give them to its command, --bridge 'aiperf=aiperf profile --header …'")
	}
	if m.workload != loadgen.AICR {
		return badInputf("--bridge holds AICR's gate run against this tool's, and --workload %s is another load; drop one of the two", m.workload)
	}
	return nil
}

// shellWords splits a command as a shell does that expands nothing: blanks part
// words, quotes and backslashes keep them.
func shellWords(s string) ([]string, error) {
	if len(s) > maxCommandBytes {
		return nil, fmt.Errorf("%d bytes, and %d are allowed", len(s), maxCommandBytes)
	}
	var out []string
	var word strings.Builder
	begun, quote, escaped := false, rune(0), false
	for _, r := range s {
		switch {
		case r == 0:
			return nil, errors.New("it holds a zero byte")
		case escaped:
			if quote == '"' && r != '"' && r != '\\' {
				word.WriteRune('\\')
			}
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, begun = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, begun = r, true
		case quote == 0 && unicode.IsSpace(r):
			if begun {
				out = append(out, word.String())
				word.Reset()
				begun = false
			}
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	switch {
	case quote != 0:
		return nil, fmt.Errorf("a %c is not closed", quote)
	case escaped:
		return nil, errors.New("it ends in a backslash")
	}
	if begun {
		out = append(out, word.String())
	}
	return out, nil
}

// aicrArguments are those of AICR's inference-perf job, in its order.
func aicrArguments(url, model string, w loadgen.WorkloadSpec, streams int, requests int64, dir string) []string {
	n := strconv.Itoa
	return []string{
		"--model", model, "--url", url, "--endpoint-type", "chat", "--streaming",
		"--concurrency", n(streams), "--request-count", strconv.FormatInt(requests, 10), "--warmup-request-count", n(streams),
		"--prompt-input-tokens-mean", n(w.ISL), "--prompt-input-tokens-stddev", n(w.ISLStddev),
		"--prompt-output-tokens-mean", n(w.OSL), "--prompt-output-tokens-stddev", n(w.OSLStddev),
		"--num-dataset-entries", n(w.Pool), "--random-seed", strconv.FormatUint(w.Seed, 10), "--extra-inputs", "temperature:0",
		"--output-artifact-dir", dir, "--export-level", "summary",
	}
}
