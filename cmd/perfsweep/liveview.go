package main

import (
	"context"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/term"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/live"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
)

// screenOf is the terminal behind stderr, on which a live view may stand; nil
// where there are to be plain lines: in a pipe, a file, a CI job, or on a terminal
// that cannot move its cursor.
func screenOf(stderr io.Writer, env func(string) string) *live.Screen {
	size := terminalSize(stderr)
	if size == nil || !canMove(env) {
		return nil
	}
	return live.NewScreen(stderr, size, styleOf(env))
}

// terminalSize asks a terminal for its size; nil where w is none.
func terminalSize(w io.Writer) func() live.Size {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return func() live.Size {
		w, h, err := term.GetSize(int(f.Fd()))
		if err != nil {
			return live.Size{} // unknown
		}
		return live.Size{Columns: w, Rows: h}
	}
}

// paper is stdout on a terminal, to whose width sentences are folded.
type paper struct {
	io.Writer
	size func() live.Size
}

// Columns makes it a report.Columned.
func (p paper) Columns() int { return p.size().Columns }

// canMove reads what a user says of a terminal; a CI job may have one, whose lines
// are kept in a log.
func canMove(env func(string) string) bool {
	kind, ci := env("TERM"), env("CI")
	return kind != "" && kind != "dumb" && (ci == "" || ci == "false")
}

// styleOf honours NO_COLOR, and a locale that has no block characters.
func styleOf(env func(string) string) live.Style {
	locale := ""
	for _, name := range []string{"LANG", "LC_CTYPE", "LC_ALL"} { // the later ones win
		if v := env(name); v != "" {
			locale = v
		}
	}
	locale = strings.ReplaceAll(strings.ToLower(locale), "-", "")
	return live.Style{Colour: env("NO_COLOR") == "", Unicode: strings.Contains(locale, "utf8")}
}

// showLive shows where a campaign is, where there is a terminal for it, until
// the function that it returns is called.
func (a *app) showLive(ctx context.Context) (hide func()) {
	if a.screen == nil || a.quiet {
		return func() {}
	}
	a.screen.Start()
	unwatch := watchTerminal(a.screen)
	unheed := context.AfterFunc(ctx, func() {
		a.screen.Update(func(s *live.State) { s.Ending = true })
		a.screen.Redraw()
	})
	return sync.OnceFunc(func() {
		unheed()
		unwatch()
		a.screen.Close()
	})
}

// viewOf is a campaign's part of the view, nil where there is none.
func (c *campaign) viewOf(gpus int) *campaignView {
	if c.screen == nil || c.quiet {
		return nil
	}
	return &campaignView{Screen: c.screen, side: string(c.side), gpus: gpus, rates: map[int][]float64{}}
}

// campaignView tells a screen what becomes of one campaign.
type campaignView struct {
	*live.Screen
	side    string
	gpus    int
	rates   map[int][]float64 // of valid runs, by concurrency per GPU
	invalid int
	last    live.Point
}

// begins tells of a step that is about to be run.
func (v *campaignView) begins(e sweep.Event) {
	v.Begin(func(s *live.State) {
		*s = live.State{
			Side: v.side, Ending: s.Ending, Done: e.Done, Left: e.Outlook.Runs, Most: e.Outlook.MostRuns, ToGo: e.Outlook.Time,
			Run: live.Run{
				ConcurrencyPerGPU: e.Step.ConcurrencyPerGPU, Streams: e.Step.ConcurrencyPerGPU * v.gpus, Kind: string(e.Step.Kind), Why: e.Step.Why,
				Expected: e.Outlook.Next,
			},
			Invalid: v.invalid, Last: v.last, Points: v.points(),
		}
		for _, p := range s.Points {
			if p.TokPerSecPerGPU > s.Best.TokPerSecPerGPU {
				s.Best = p
			}
		}
	})
}

// ended takes what a run measured into the curve.
func (v *campaignView) ended(r sweep.Run) {
	est, n := r.Result.Estimate(), r.Step.ConcurrencyPerGPU
	v.last = live.Point{ConcurrencyPerGPU: n, TokPerSecPerGPU: est.OutputTokPerSec / float64(v.gpus), TTFTP99MS: est.TTFTP99MS}
	if !r.Valid() {
		v.invalid++
		return
	}
	v.rates[n] = append(v.rates[n], v.last.TokPerSecPerGPU)
}

func (v *campaignView) points() []live.Point {
	var out []live.Point
	for n, rates := range v.rates {
		out = append(out, live.Point{ConcurrencyPerGPU: n, TokPerSecPerGPU: sweep.Median(rates)})
	}
	slices.SortFunc(out, func(a, b live.Point) int { return a.ConcurrencyPerGPU - b.ConcurrencyPerGPU })
	return out
}

// progress is what a load generator reports about once a second. It must not
// wait, and does not.
func (a *app) progress() func(loadgen.Progress) {
	if a.screen == nil || a.quiet {
		return nil
	}
	return func(p loadgen.Progress) {
		a.screen.Update(func(s *live.State) {
			s.Run.At, s.Run.Requests, s.Run.Failed, s.Run.InFlight = p.Elapsed, p.Completed, p.Errors, p.InFlight
		})
	}
}
