package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/live/livetest"
)

// ptyTest is a terminal of the kernel with a process on it, and what a human sees.
type ptyTest struct {
	*livetest.Terminal
	master, slave *os.File
	wrote         chan struct{}
	mu            sync.Mutex
	raw           bytes.Buffer // all that came, for what is shown too shortly to be seen
}

func openPTY(t *testing.T, width, height int) *ptyTest {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	if err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err == nil {
		n, err = unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	}
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := &ptyTest{Terminal: livetest.New(width, height), master: master, slave: slave, wrote: make(chan struct{}, 1)}
	p.resize(t, width, height)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			_, _ = p.Write(buf[:n]) // it takes all
			p.mu.Lock()
			p.raw.Write(buf[:n])
			p.mu.Unlock()
			select {
			case p.wrote <- struct{}{}:
			default:
			}
			if err != nil { // nobody has the other side open any more
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = slave.Close()
		<-ended
		_ = master.Close()
	})
	return p
}

func (p *ptyTest) resize(t *testing.T, width, height int) {
	t.Helper()
	p.Resize(width, height)
	if err := unix.IoctlSetWinsize(int(p.master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: uint16(width), Row: uint16(height)}); err != nil {
		t.Fatal(err)
	}
}

// onIt puts a process on the terminal, which is its controlling one.
func (p *ptyTest) onIt(stdout bool, env ...string) func(*exec.Cmd) {
	return func(c *exec.Cmd) {
		c.Env = append(os.Environ(), append([]string{"TERM=xterm-256color", "CI=", "NO_COLOR=", "LC_ALL=C.UTF-8"}, env...)...)
		c.Stdin, c.Stderr = p.slave, p.slave
		if stdout {
			c.Stdout = p.slave
		}
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	}
}

// see waits until the terminal shows something.
func (p *ptyTest) see(t *testing.T, what string, ok func(text string) bool) {
	t.Helper()
	late := time.After(childTime)
	for !ok(p.Text()) {
		select {
		case <-p.wrote:
		case <-late:
			t.Fatalf("never saw %s:\n%s", what, p.Text())
		}
	}
}

// came reports whether the terminal was ever sent a text.
func (p *ptyTest) came(text string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return bytes.Contains(p.raw.Bytes(), []byte(text))
}

func contains(word string) func(string) bool {
	return func(text string) bool { return strings.Contains(text, word) }
}

func (p *ptyTest) termios(t *testing.T) unix.Termios {
	t.Helper()
	got, err := unix.IoctlGetTermios(int(p.slave.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return *got
}

// smallSweep is a sweep of two levels, which takes some seconds.
func smallSweep(more ...string) []string {
	return append([]string{"sweep", "--target", "sim:kneed?chunk=32&speed=4", "--effort", "quick", "--levels", "8,24", "--repeats", "1", "--osl", "8"}, more...)
}

// TestLiveInterrupted: the view follows the window, and Ctrl-C leaves what was
// said, one error, and a terminal as it was.
func TestLiveInterrupted(t *testing.T) {
	t.Parallel()
	p := openPTY(t, 120, 30)
	was := p.termios(t)
	// Its first run takes half a minute: it lasts until the narrow view was seen.
	c := start(t, p.onIt(false), smallSweep("--effort", "standard")...)
	p.see(t, "the view", contains(" requests/s, "))
	before := p.Text()
	p.resize(t, 60, 30)
	p.see(t, "a narrow view", func(text string) bool {
		return text != before && strings.Contains(text, "run 1 of about") && widest(viewIn(text)) < 60
	})
	if _, err := p.master.Write([]byte{3}); err != nil { // Ctrl-C
		t.Fatal(err)
	}
	if code := c.wait(); code != exitInterrupted {
		t.Errorf("exit code %d", code)
	}
	p.see(t, "the error", contains("perfsweep: interrupted: "))
	text := p.Text()
	if viewIn(text) != "" || strings.Count(text, "interrupted") != 1 || !strings.Contains(text, "\ntarget sim:kneed") {
		t.Errorf("the terminal holds:\n%s", text)
	}
	if err := p.Err(); err != nil || p.Column() != 0 || p.termios(t) != was {
		t.Errorf("%v, column %d, modes changed: %v", err, p.Column(), p.termios(t) != was)
	}
	if c.out.String() != "" {
		t.Errorf("stdout has %q", c.out)
	}
}

// TestLiveFinished: on a narrow terminal without colour the runs are listed one
// after the other, then the answer, and nothing of the view is left.
func TestLiveFinished(t *testing.T) {
	t.Parallel()
	p := openPTY(t, 60, 24)
	c := start(t, p.onIt(true, "NO_COLOR=1"), smallSweep("--max-runs", "2")...)
	if code := c.wait(); code != exitInconclusive {
		t.Errorf("exit code %d", code)
	}
	p.see(t, "the answer", contains("no knee: fewer than 4 usable levels"))
	if !p.came("run 1 of about") {
		t.Error("the view was never shown")
	}
	text := p.Text()
	at := -1
	for _, want := range []string{"target sim:", "\n[1] 8 per GPU (8 streams), steady: ", " tok/s per GPU, TTFT p50 ", "\n[2] ", "\nno knee: "} {
		i := strings.Index(text, want)
		if i <= at {
			t.Fatalf("%q is not there, or not after the one before:\n%s", want, text)
		}
		at = i
	}
	if viewIn(text) != "" || strings.Contains(text, "to go") {
		t.Errorf("the terminal holds:\n%s", text)
	}
	if err := p.Err(); err != nil || p.Column() != 0 {
		t.Errorf("%v, column %d", err, p.Column())
	}
}

// viewIn is what a terminal shows from the view on.
func viewIn(text string) string {
	if i := strings.Index(text, "run 1 of about"); i >= 0 {
		return text[i:]
	}
	return ""
}

func widest(text string) int {
	n := 0
	for line := range strings.Lines(text) {
		n = max(n, len([]rune(strings.TrimSuffix(line, "\n"))))
	}
	return n
}

// TestScreenOf: a view stands on a terminal that can move its cursor, and that a
// human looks at.
func TestScreenOf(t *testing.T) {
	p := openPTY(t, 80, 24)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = r.Close(), w.Close() }()
	for _, tt := range []struct {
		f    *os.File
		env  map[string]string
		want bool
	}{
		{p.slave, map[string]string{"TERM": "xterm"}, true},
		{p.slave, map[string]string{"TERM": "xterm", "NO_COLOR": "1", "CI": "false"}, true},
		{p.slave, map[string]string{"TERM": "dumb"}, false},
		{p.slave, nil, false},
		{p.slave, map[string]string{"TERM": "xterm", "CI": "true"}, false},
		{w, map[string]string{"TERM": "xterm"}, false},
	} {
		if got := screenOf(tt.f, func(k string) string { return tt.env[k] }) != nil; got != tt.want {
			t.Errorf("%s, %v: %v", tt.f.Name(), tt.env, got)
		}
	}
	if screenOf(new(strings.Builder), func(string) string { return "xterm" }) != nil {
		t.Error("a buffer is no terminal")
	}
}

func TestStyleOf(t *testing.T) {
	for _, tt := range []struct {
		env             map[string]string
		colour, unicode bool
	}{
		{nil, true, false},
		{map[string]string{"LANG": "de_DE.UTF-8", "NO_COLOR": "1"}, false, true},
		{map[string]string{"LANG": "en_US.UTF-8", "LC_ALL": "C"}, true, false},
		{map[string]string{"LC_CTYPE": "C.utf8"}, true, true},
	} {
		got := styleOf(func(k string) string { return tt.env[k] })
		if got.Colour != tt.colour || got.Unicode != tt.unicode {
			t.Errorf("%v: %+v", tt.env, got)
		}
	}
}
