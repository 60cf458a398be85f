package live

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

// usual is a campaign in the middle of its way.
func usual() State {
	return State{
		Done: 6, Left: 17, Most: 40, ToGo: 12*time.Minute + 4*time.Second, Invalid: 1,
		Run: Run{
			ConcurrencyPerGPU: 64, Streams: 256, Kind: "steady", Why: "second pass, in random order",
			Took: 12 * time.Second, Expected: 20 * time.Second, Requests: 492, InFlight: 256, Failed: 3, At: 12 * time.Second,
		},
		Last: Point{32, 1234, 230}, Best: Point{ConcurrencyPerGPU: 64, TokPerSecPerGPU: 1301},
		Points: []Point{{1, 90, 0}, {2, 180, 0}, {4, 350, 0}, {8, 640, 0}, {16, 990, 0}, {32, 1234, 0}, {64, 1301, 0}},
	}
}

func text(lines []Line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.Text + "\n")
	}
	return b.String()
}

func TestLines(t *testing.T) {
	for _, tt := range []struct {
		name  string
		state func(*State)
		size  Size
		ascii bool
		want  string
	}{
		{"wide", nil, Size{120, 40}, false, `
run 7 of about 23: 64 per GPU, 256 streams, steady
  0:12 of about 0:20, 41.0 requests/s, 256 in flight, 3 failed
  about 11:52 to go, at most 40 runs, 7 levels done, 1 INVALID
  last 1,234 tok/s per GPU at 32, TTFT p99 230 ms, best 1,301 at 64
  why: second pass, in random order
  1,301                 ▆▆ ██
                     ██ ██ ██
               ▁▁ ██ ██ ██ ██
         ▂▂ ▄▄ ██ ██ ██ ██ ██
          1  2  4  8 16 32 64  per GPU
`},
		{"narrow", nil, Size{40, 10}, true, `
run 7 of about 23: 64 per GPU, steady
  0:12 of about 0:20, 41.0 requests/s
  about 11:52 to go, at most 40 runs
  last 1,234 tok/s per GPU at 32
  why: second pass, in random order
  1,301 ...-=##
        1 to 64 per GPU
`},
		{"low", nil, Size{60, 6}, false, `
run 7 of about 23: 64 per GPU, 256 streams, steady
  0:12 of about 0:20, 41.0 requests/s, 256 in flight
  about 11:52 to go, at most 40 runs, 7 levels done
`},
		{"first run", func(s *State) { *s = State{Run: Run{ConcurrencyPerGPU: 1, Streams: 4, Kind: "steady"}} }, Size{}, false, `
run 1: 1 per GPU, 4 streams, steady
  0:00 in this run
  time to go is not known, 0 levels done
`},
		{"side", func(s *State) { s.Side, s.Ending = "B", true }, Size{60, 6}, false, `
ending, B: run 7 of about 23: 64 per GPU, 256 streams
  0:12 of about 0:20, 41.0 requests/s, 256 in flight
  about 11:52 to go, at most 40 runs, 7 levels done
`},
		{"nothing", func(s *State) { *s = State{} }, Size{80, 24}, false, ``},
	} {
		s := usual()
		if tt.state != nil {
			tt.state(&s)
		}
		got := text(Lines(s, tt.size, Style{Unicode: !tt.ascii}))
		if diff := cmp.Diff(strings.TrimPrefix(tt.want, "\n"), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestLinesFit: no line of any state reaches the last column, none holds what
// could move the cursor, and a view leaves rows to what is printed above it.
func TestLinesFit(t *testing.T) {
	hostile := usual()
	hostile.Side = "A\x1b[2J\u202e"
	hostile.Run.Why = "名前\x1b]0;x\x07\u0301\u200b" + strings.Repeat("重い🚀", 200) + "\r\n\x9b2J"
	hostile.Run.Kind = strings.Repeat("k", 500)
	hostile.Done, hostile.Left, hostile.Most = math.MaxInt, math.MaxInt, math.MaxInt
	hostile.ToGo, hostile.Run.Took, hostile.Run.Expected = math.MaxInt64, math.MaxInt64, math.MaxInt64
	odd := usual()
	odd.Points = []Point{{1, math.NaN(), 0}, {2, -5, 0}, {4, 0, 0}, {8, 1e18, 0}, {math.MaxInt, 3, 0}}
	odd.ToGo, odd.Run.Took, odd.Run.At = -time.Hour, -time.Hour, 1
	many := usual()
	for n := range 300 {
		many.Points = append(many.Points, Point{ConcurrencyPerGPU: 100 + n, TokPerSecPerGPU: float64(n)})
	}
	for name, s := range map[string]State{"usual": usual(), "hostile": hostile, "odd": odd, "many": many, "begun": {Run: Run{ConcurrencyPerGPU: 1}}} {
		for _, width := range []int{1, 2, 5, 10, 20, 39, 40, 41, 60, 79, 80, 81, 120, 200, 500} {
			for _, rows := range []int{1, 4, 5, 8, 16, 24, 100} {
				for _, unicode := range []bool{false, true} {
					where := fmt.Sprintf("%s, %d x %d", name, width, rows)
					check(t, where, Lines(s, Size{width, rows}, Style{Unicode: unicode}), width, rows)
				}
			}
		}
	}
}

func check(t *testing.T, where string, lines []Line, width, rows int) {
	t.Helper()
	if len(lines) == 0 || len(lines) > max(1, rows-rowsAbove) {
		t.Errorf("%s: %d lines", where, len(lines))
	}
	for _, l := range lines {
		if n := columns(l.Text); n >= width && width > 1 || l.Text != clean(l.Text) {
			t.Errorf("%s: %d columns: %q", where, n, l.Text)
		}
		if strings.IndexFunc(l.Text, unicode.IsControl) >= 0 {
			t.Errorf("%s: control characters in %q", where, l.Text)
		}
	}
}

// TestNoColour: tones are the only sequences within a line, and there are none
// where they are not wanted.
func TestNoColour(t *testing.T) {
	for _, colour := range []bool{false, true} {
		all := ""
		for _, l := range Lines(usual(), Size{80, 24}, Style{Colour: colour}) {
			all += l.paint(Style{Colour: colour})
		}
		if strings.Contains(all, "\x1b") != colour {
			t.Errorf("colour %v: %q", colour, all)
		}
	}
}

func TestClock(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0:00", 7400 * time.Millisecond: "0:07", 750 * time.Second: "12:30", time.Hour + 123*time.Second: "1:02:03",
	} {
		if got := clock(d); got != want {
			t.Errorf("%s: %s, want %s", d, got, want)
		}
	}
}
