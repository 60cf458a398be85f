package selftest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/perfsweep/perfsweep/loadgen/pacer"
)

// Command is how to start the paced server: this program's own file and the
// name that it was called by.
type Command struct{ Path, Name string }

// server is a paced server in a process of its own: a core that it uses is not
// mistaken for one that the generator used.
type server struct {
	url    string
	cmd    *exec.Cmd
	stdin  io.Closer
	stdout *bufio.Reader
	cancel context.CancelFunc
}

// start runs one server, which lives until stop.
func (c Command) start(ctx context.Context, p Point, skip int) (*server, error) {
	ctx, cancel := context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, c.Path, "selftest", "serve", "--listen", "127.0.0.1:0",
		"--ttft", p.TTFT.String(), "--itl", p.ITL.String(), "--skip", fmt.Sprint(skip))
	cmd.Args[0] = c.Name
	cmd.WaitDelay = time.Second
	s := &server{cmd: cmd, cancel: cancel}
	in, err := cmd.StdinPipe()
	if err != nil {
		cancel()
		return nil, fmt.Errorf("starting the paced server: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		cancel()
		return nil, fmt.Errorf("starting the paced server: %w", err)
	}
	s.stdin, s.stdout = in, bufio.NewReader(out)
	if err := cmd.Start(); err != nil {
		cancel()
		return nil, fmt.Errorf("starting the paced server %s: %w", c.Path, err)
	}
	line, err := s.stdout.ReadString('\n')
	if err != nil {
		cancel()
		return nil, errors.Join(fmt.Errorf("the paced server printed no URL: %w", err), cmd.Wait())
	}
	s.url = strings.TrimSpace(line)
	return s, nil
}

// stop ends the server and returns what it saw and the CPU time that it used.
func (s *server) stop() (pacer.Truth, time.Duration, error) {
	defer s.cancel()
	var t pacer.Truth
	_ = s.stdin.Close() // this is what ends it
	err := json.NewDecoder(s.stdout).Decode(&t)
	if werr := s.cmd.Wait(); err == nil {
		err = werr
	}
	if err != nil {
		return t, 0, fmt.Errorf("the paced server gave no account of what it saw: %w", err)
	}
	return t, s.cmd.ProcessState.UserTime() + s.cmd.ProcessState.SystemTime(), nil
}
