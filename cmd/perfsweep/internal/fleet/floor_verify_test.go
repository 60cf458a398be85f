//go:build verify && linux

package fleet

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The floor of a common start: the sockets and the requests of a fleet without
// the fleet. No generator on the same machine can start closer together.

// burst dials, says that it is ready, and reads from stdin the moment, in Unix
// nanoseconds, at which it writes one request to each connection: one thread,
// one write(2) after another. Then it prints when the first and the last began.
func burst(host string, streams, size int) error {
	debug.SetGCPercent(-1)
	runtime.LockOSThread()
	request := rawRequest(host, size)
	fds := make([]int, streams)
	for i := range fds {
		c, err := net.Dial("tcp", host)
		if err != nil {
			return err
		}
		defer c.Close()
		raw, err := c.(*net.TCPConn).SyscallConn()
		if err == nil {
			err = raw.Control(func(fd uintptr) { fds[i] = int(fd) })
		}
		if err != nil {
			return err
		}
	}
	fmt.Println("ready")
	var at int64
	if _, err := fmt.Scanln(&at); err != nil {
		return err
	}
	rest := syscall.NsecToTimespec(at - time.Now().UnixNano())
	_ = syscall.Nanosleep(&rest, nil) // cut short, it would only look worse
	first, last := time.Now().UnixNano(), int64(0)
	for _, fd := range fds {
		last = time.Now().UnixNano()
		if n, err := syscall.Write(fd, request); err != nil || n != len(request) {
			return fmt.Errorf("wrote %d of %d bytes: %w", n, len(request), err)
		}
	}
	fmt.Println(first, last)
	_, err := io.Copy(io.Discard, os.Stdin) // the connections stand until all have told
	return err
}

// rawRequest is one of about so many bytes.
func rawRequest(host string, size int) []byte {
	const head, tail = `{"model":"paced","messages":[{"role":"user","content":"`, `"}],"stream":true,"max_completion_tokens":8}`
	words := strings.Repeat("words ", max(1, (size-len(head)-len(tail)-200)/len("words ")))
	return fmt.Appendf(nil, "POST /v1/chat/completions HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s%s%s",
		host, len(head)+len(words)+len(tail), head, words, tail)
}

// sink takes connections and never reads from them.
func sink(ctx context.Context, l net.Listener) error {
	go func() { <-ctx.Done(); _ = l.Close() }()
	for {
		c, err := l.Accept()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		defer c.Close()
	}
}

// floor is how far apart the first sends of so many bursts are, in
// milliseconds.
func floor(t *testing.T, host string, generators, streams, size int) float64 {
	t.Helper()
	ins, outs := make([]io.WriteCloser, generators), make([]*bufio.Reader, generators)
	for i := range ins {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=burst %s %d %d", roleVariable, host, streams, size))
		cmd.Stderr = os.Stderr
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = in.Close(); _ = cmd.Wait() }()
		ins[i], outs[i] = in, bufio.NewReader(out)
	}
	for i, out := range outs {
		if said, err := out.ReadString('\n'); said != "ready\n" {
			t.Fatalf("burst %d said %q: %v", i, said, err)
		}
	}
	at := time.Now().Add(lead).UnixNano()
	for _, in := range ins {
		if _, err := fmt.Fprintln(in, at); err != nil {
			t.Fatal(err)
		}
	}
	var from, until int64
	for i, out := range outs {
		var first, last int64
		if _, err := fmt.Fscanln(out, &first, &last); err != nil {
			t.Fatalf("burst %d: %v", i, err)
		}
		if i == 0 || first < from {
			from = first
		}
		until = max(until, last)
	}
	return float64(until-from) / 1e6
}
