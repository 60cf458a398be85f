package main

import (
	"bytes"
	"context"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// childTime bounds what a child may take on a busy machine; no test measures it.
// The last sweep of the tests that kill makes up to 32 runs of 3 to 8 s, and
// those again that the machine makes INVALID.
const childTime = 12 * time.Minute

// child is a perfsweep process; TestMain puts the command on the path.
type child struct {
	cmd         *exec.Cmd
	out, talked *lines
	done        chan struct{} // closed when the process has ended
}

// lines keeps what a stream held and passes its lines on.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
	from int         // where the line that is being written begins
	next chan string // far more room than a test has lines
}

func newLines() *lines { return &lines{next: make(chan string, 10_000)} }

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.Write(b)
	for {
		rest := l.text.Bytes()[l.from:]
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			return len(b), nil
		}
		l.next <- string(rest[:end])
		l.from += end + 1
	}
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// start runs perfsweep; prepare, if not nil, changes the command before.
func start(t *testing.T, prepare func(*exec.Cmd), args ...string) *child {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), childTime)
	c := &child{cmd: exec.CommandContext(ctx, "perfsweep", args...), out: newLines(), talked: newLines(), done: make(chan struct{})}
	c.cmd.Dir, c.cmd.Stdout, c.cmd.Stderr = t.TempDir(), c.out, c.talked
	if prepare != nil {
		prepare(c.cmd)
	}
	if err := c.cmd.Start(); err != nil {
		cancel()
		t.Fatal(err)
	}
	go func() {
		_ = c.cmd.Wait() // the exit code says it all
		close(c.done)
	}()
	t.Cleanup(func() {
		cancel()
		<-c.done
	})
	return c
}

// hear waits for a line that begins with what is given, and returns it.
func (c *child) hear(t *testing.T, from *lines, begins string) string {
	t.Helper()
	for {
		select {
		case line := <-from.next:
			if strings.HasPrefix(line, begins) {
				return line
			}
		case <-c.done:
			if len(from.next) == 0 {
				t.Fatalf("the process ended without a line %q: %s", begins, c.talked)
			}
		}
	}
}

// wait returns the exit code, -1 for a process that a signal ended.
func (c *child) wait() int {
	<-c.done
	return c.cmd.ProcessState.ExitCode()
}

// perfsweep runs a command to its end.
func perfsweep(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	c := start(t, nil, args...)
	code = c.wait()
	return code, c.out.String(), c.talked.String()
}
