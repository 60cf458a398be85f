package live

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/live/livetest"
)

// screen is a Screen on a terminal for tests, which counts what is written.
type screen struct {
	*Screen
	tty    *livetest.Terminal
	mu     sync.Mutex
	size   Size
	writes int
}

func newScreen(width, rows int) *screen {
	s := &screen{tty: livetest.New(width, rows), size: Size{width, rows}}
	s.Screen = NewScreen(s, func() Size {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.size
	}, Style{Colour: true, Unicode: true})
	return s
}

// Write is the terminal's side; that of the Screen is s.Screen.Write.
func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	s.writes++
	s.mu.Unlock()
	return s.tty.Write(b)
}

func (s *screen) resize(width, rows int) {
	s.mu.Lock()
	s.size = Size{width, rows}
	s.mu.Unlock()
	s.tty.Resize(width, rows)
	s.Redraw()
}

func (s *screen) say(format string, args ...any) { _, _ = fmt.Fprintf(s.Screen, format, args...) }

func begin(st *State) { *st = usual() }

// TestScreen: what is said stays above the view in its order, one view is shown
// at a time whatever the window does, and nothing of it is left at the end.
func TestScreen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScreen(100, 30)
		s.say("before\n")
		s.Start()
		s.Start() // is on already
		defer s.Close()
		s.Begin(begin)
		want := "before\n"
		widths := []int{100, 60, 130, 42, 200, 80}
		for i := range 60 {
			line := fmt.Sprintf("note %d: %s\n", i, strings.Repeat("word ", i%20))
			want += strings.TrimRight(line[:len(line)-1], " ") + "\n"
			s.say("%s", line)
			time.Sleep(time.Duration(i%7) * 90 * time.Millisecond)
			if i%5 == 0 {
				time.Sleep(lookEvery) // until the view stands
				s.resize(widths[i/5%len(widths)], 30)
			}
			time.Sleep(lookEvery)
			got := s.tty.Text()
			if said, _, _ := strings.Cut(got, "run 7 of"); said != want || strings.Count(got, "run 7 of") != 1 || s.tty.Column() != 0 {
				t.Fatalf("after %d lines, at %d columns:\n%s", i, s.size.Columns, got)
			}
		}
		s.Close()
		s.Close() // is off already
		s.say("after")
		if got := s.tty.Text(); got != want+"after" {
			t.Errorf("at the end:\n%s", got)
		}
		if err := s.tty.Err(); err != nil {
			t.Error(err)
		}
	})
}

// TestScreenRate: however often the state changes and whatever is asked for, the
// view is written at most four times a second, and not where nothing changes.
func TestScreenRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScreen(80, 24)
		s.Start()
		defer s.Close()
		const seconds = 20
		for i := range seconds * 100 {
			s.Begin(func(st *State) { begin(st); st.Done = i })
			time.Sleep(10 * time.Millisecond)
		}
		s.mu.Lock()
		writes := s.writes
		s.mu.Unlock()
		if writes < seconds || writes > seconds*4+1 {
			t.Errorf("%d writes in %d s", writes, seconds)
		}
	})
}

// TestScreenBlocked: a terminal that takes nothing (Ctrl-S) does not hold up who
// tells of the measurement.
func TestScreenBlocked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		held := make(chan struct{})
		s := NewScreen(blocked(held), func() Size { return Size{} }, Style{})
		s.Start()
		s.Update(begin)
		time.Sleep(2 * lookEvery) // it is drawing
		began := time.Now()
		for range 1000 {
			s.Update(begin)
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("telling took %s", took)
		}
		close(held)
		s.Close()
	})
}

type blocked chan struct{}

func (b blocked) Write(p []byte) (int, error) {
	<-b
	return len(p), nil
}

// TestScreenForget: what a shell wrote while the process was stopped is left.
func TestScreenForget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScreen(80, 24)
		s.Start()
		s.Update(begin)
		time.Sleep(2 * lookEvery)
		_, _ = fmt.Fprint(s.tty, "^Z\n[1]+ Stopped\n$ fg\n")
		s.Forget()
		time.Sleep(2 * lookEvery)
		s.Close()
		if got := s.tty.Text(); !strings.HasSuffix(got, "^Z\n[1]+ Stopped\n$ fg\n") {
			t.Errorf("%s", got)
		}
	})
}

// A line that has not ended is not drawn into.
func TestScreenHalfLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScreen(80, 24)
		s.Start()
		s.Update(begin)
		time.Sleep(2 * lookEvery)
		s.say("one ")
		time.Sleep(2 * lookEvery)
		s.say("two\n")
		time.Sleep(2 * lookEvery)
		if got := s.tty.Text(); !strings.HasPrefix(got, "one two\nrun 7 of") {
			t.Errorf("%s", got)
		}
		s.Close()
	})
}
