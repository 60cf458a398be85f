package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// truth is what "perfsweep selftest serve" prints at its end, as far as it is needed.
type truth struct {
	Requests  int     `json:"requests"`
	Whole     int     `json:"whole"`
	Tokens    int64   `json:"output_tokens"`
	FirstNS   int64   `json:"first_request_unix_ns"`
	LastNS    int64   `json:"last_token_unix_ns"`
	Seconds   float64 `json:"duration_s"`
	TokPerSec float64 `json:"output_tok_per_s"`
	TTFTP50MS float64 `json:"ttft_p50_ms"`
	TTFTP99MS float64 `json:"ttft_p99_ms"`
}

// server is a paced server in a process of its own.
type server struct {
	url    string
	cmd    *exec.Cmd
	stdin  io.Closer
	stdout *bufio.Reader
}

func (b *bench) serve(ctx context.Context, l load) (*server, error) {
	cmd := b.command(ctx, l, serverCore, b.bin, "selftest", "serve", "--listen", "127.0.0.1:0",
		"--ttft", l.ttft.String(), "--itl", l.itl.String(), "--skip", fmt.Sprint(l.warmup))
	cmd.Stderr = b.talk
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("starting the paced server: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("starting the paced server: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the paced server: %w", err)
	}
	s := &server{cmd: cmd, stdin: in, stdout: bufio.NewReader(out)}
	line, err := s.stdout.ReadString('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the paced server printed no URL: %w", err), cmd.Wait())
	}
	s.url = strings.TrimSpace(line)
	return s, nil
}

func (s *server) stop() (truth, error) {
	var t truth
	_ = s.stdin.Close() // this is what ends it
	err := json.NewDecoder(s.stdout).Decode(&t)
	if werr := s.cmd.Wait(); err == nil {
		err = werr
	}
	if err != nil {
		return t, fmt.Errorf("the paced server gave no account of what it saw: %w", err)
	}
	return t, nil
}

// watched is what a client process cost.
type watched struct {
	launched, exited time.Time
	cpu              time.Duration // all of it
	samples          []sample
	pss              float64 // MiB, the largest seen
	stdout           []byte
}

type sample struct {
	at  int64 // unix ns
	cpu time.Duration
}

// cpuAt is the CPU time that the process had used at a time, interpolated.
func (w watched) cpuAt(unixNS int64) time.Duration {
	i, _ := slices.BinarySearchFunc(w.samples, unixNS, func(s sample, at int64) int { return int(s.at - at) })
	switch {
	case len(w.samples) == 0 || i == 0:
		return 0
	case i == len(w.samples):
		return w.cpu
	}
	a, b := w.samples[i-1], w.samples[i]
	return a.cpu + time.Duration(float64(b.cpu-a.cpu)*float64(unixNS-a.at)/float64(b.at-a.at))
}

// command is a program of one side, on its core if the load wants that.
func (b *bench) command(ctx context.Context, l load, core int, name string, args ...string) *exec.Cmd {
	if l.apart && runtime.NumCPU() > 1 {
		name, args = b.self, append([]string{"pin", fmt.Sprint(core), name}, args...)
	}
	cmd := exec.CommandContext(ctx, name, args...)
	// A program that has children must end them itself.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// client runs a command to its end and watches it.
func (b *bench) client(ctx context.Context, l load, name string, args ...string) (watched, error) {
	cmd := b.command(ctx, l, clientCore, name, args...)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	w := watched{launched: time.Now()}
	if err := cmd.Start(); err != nil {
		return w, fmt.Errorf("starting %s: %w", name, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	var err error
	for n := 0; ; n++ {
		select {
		case err = <-ended:
		case now := <-tick.C:
			if cpu, ok := cpuOf(cmd.Process.Pid); ok {
				w.samples = append(w.samples, sample{now.UnixNano(), cpu})
			}
			if n%10 == 5 { // it walks the page tables
				w.pss = max(w.pss, pssOf(cmd.Process.Pid))
			}
			continue
		}
		break
	}
	w.exited = time.Now()
	w.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	w.stdout = []byte(out.String())
	if err != nil {
		return w, fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, errs.String())
	}
	return w, nil
}

// scratch is a folder that is removed at the end.
func scratch() (dir string, remove func(), err error) {
	dir, err = os.MkdirTemp("", "perfsweep-figures-")
	if err != nil {
		return "", nil, fmt.Errorf("making a folder for the runs: %w", err)
	}
	return dir, func() { _ = os.RemoveAll(dir) }, nil
}
