package live

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

// A terminal is written to at most every drawEvery, and looked at every lookEvery.
const (
	drawEvery = 250 * time.Millisecond
	lookEvery = 500 * time.Millisecond
)

// Screen is a terminal with a view at its end: what is written to it appears
// above the view. It hides no cursor and sets no mode, and leaves the cursor at
// the beginning of the line below the view: however a process ends, there is
// nothing to restore.
type Screen struct {
	tty   io.Writer
	size  func() Size
	style Style

	// The state has a lock of its own: who tells of a measurement must never wait
	// for a terminal.
	stateMu sync.Mutex
	state   State
	began   time.Time // of the run in progress

	mu    sync.Mutex
	shown []Line    // on the terminal
	drawn time.Time // last
	on    bool
	mid   bool // what was written last has not ended its line
	stop  chan struct{}
	done  chan struct{}
}

// NewScreen draws on a terminal whose size is asked for before each drawing.
func NewScreen(tty io.Writer, size func() Size, st Style) *Screen {
	return &Screen{tty: tty, size: size, style: st}
}

// Start begins to show the state, until Close. It may be called again after it.
func (s *Screen) Start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.on {
		return
	}
	s.on, s.stop, s.done = true, make(chan struct{}), make(chan struct{})
	go s.look(s.stop, s.done)
}

func (s *Screen) look(stop, done chan struct{}) {
	defer close(done)
	t := time.NewTicker(lookEvery)
	defer t.Stop()
	for {
		select {
		case <-stop:
			return
		case <-t.C:
			s.Redraw()
		}
	}
}

// Close takes the view away; what is written from then on is passed through.
func (s *Screen) Close() {
	s.mu.Lock()
	if !s.on {
		s.mu.Unlock()
		return
	}
	s.on = false
	stop, done := s.stop, s.done
	s.put(s.erase())
	s.mu.Unlock()
	close(stop)
	<-done
	s.stateMu.Lock()
	defer s.stateMu.Unlock()
	s.state = State{}
}

// Begin changes the state as a run begins.
func (s *Screen) Begin(change func(*State)) {
	s.Update(func(st *State) {
		change(st)
		s.began = time.Now()
	})
	s.Redraw()
}

// Update changes the state. It does not wait for the terminal.
func (s *Screen) Update(change func(*State)) {
	s.stateMu.Lock()
	defer s.stateMu.Unlock()
	change(&s.state)
}

// Redraw brings the view up to date, unless it was drawn a moment ago.
func (s *Screen) Redraw() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draw("")
}

// Forget leaves what is on the terminal to someone else, such as a shell in
// which this process was stopped and goes on.
func (s *Screen) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown = nil
}

// Write prints above the view.
func (s *Screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.on || len(b) == 0 {
		return s.tty.Write(b)
	}
	s.mid = b[len(b)-1] != '\n'
	s.draw(s.erase() + string(b))
	return len(b), nil
}

// draw writes before, and the view after it if it is time and something in it
// has changed. A write that fails is not told: nobody is there to read.
func (s *Screen) draw(before string) {
	if now := time.Now(); s.on && !s.mid && now.Sub(s.drawn) >= drawEvery {
		lines := Lines(s.now(), s.size(), s.style)
		if before != "" || !slices.Equal(lines, s.shown) {
			if before == "" {
				before = s.rewind()
			}
			before += s.frame(lines)
			s.shown, s.drawn = lines, now
		}
	}
	s.put(before)
}

func (s *Screen) put(text string) {
	if text != "" {
		_, _ = io.WriteString(s.tty, text) // see draw
	}
}

// now is the state as of now.
func (s *Screen) now() State {
	s.stateMu.Lock()
	defer s.stateMu.Unlock()
	state := s.state
	state.Run.Took = time.Since(s.began)
	return state
}

// frame is a view with the cursor below it.
func (s *Screen) frame(lines []Line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.paint(s.style) + "\x1b[K\r\n")
	}
	return b.String() + "\x1b[J"
}

// erase takes the view off the terminal.
func (s *Screen) erase() string {
	text := s.rewind()
	if text != "" {
		text += "\x1b[J"
	}
	s.shown = nil
	return text
}

// rewind moves the cursor to where the view begins. Where a terminal became
// narrower since, most break its lines anew, into more rows.
func (s *Screen) rewind() string {
	if len(s.shown) == 0 {
		return ""
	}
	size, rows := s.size().known(), 0
	for _, l := range s.shown {
		rows += max(1, (columns(l.Text)+size.Columns-1)/size.Columns)
	}
	return fmt.Sprintf("\x1b[%dA\r", rows)
}
