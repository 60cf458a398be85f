package live

import "time"

// State is what a view shows. Zero fields are unknown and not shown.
type State struct {
	// Side names the target of two that is measured, "" for the only one.
	Side string
	// Ending says that an interruption was asked for.
	Ending bool
	// Done runs are made; Left are probably still to come, the one in progress
	// included, and Most is what they cannot exceed. ToGo is the time of Left.
	Done, Left, Most int
	ToGo             time.Duration
	// The run in progress.
	Run Run
	// Invalid counts the runs made that are INVALID.
	Invalid int
	// Last and Best are runs made, zero before the first.
	Last, Best Point
	// Points are the medians of the valid runs, by concurrency, ascending.
	Points []Point
}

// Run is a run in progress.
type Run struct {
	ConcurrencyPerGPU, Streams int
	Kind, Why                  string
	// Took is how long it has run, Expected how long such runs take.
	Took, Expected time.Duration
	// Requests have ended, Failed of them badly; InFlight are under way. They
	// are as old as the last report of the load generator, which came At.
	Requests, Failed, InFlight int64
	At                         time.Duration
}

// Point is a level of the curve.
type Point struct {
	ConcurrencyPerGPU int
	TokPerSecPerGPU   float64
	TTFTP99MS         float64
}

// Size is that of a terminal in characters; 0 is unknown.
type Size struct{ Columns, Rows int }

// The size of a terminal that does not tell.
const (
	usualColumns = 80
	usualRows    = 24
)

func (s Size) known() Size {
	if s.Columns <= 0 {
		s.Columns = usualColumns
	}
	if s.Rows <= 0 {
		s.Rows = usualRows
	}
	return s
}

// Style is what a terminal can show.
type Style struct {
	Colour  bool
	Unicode bool
}

// Line is a line of a view.
type Line struct {
	Text string
	Tone Tone
}

// Tone is how loud a line is, where there is colour.
type Tone int

// The tones.
const (
	Plain Tone = iota
	Strong
	Faint
)

// paint adds a tone to a text.
func (l Line) paint(s Style) string {
	if !s.Colour || l.Text == "" {
		return l.Text
	}
	switch l.Tone {
	case Strong:
		return "\x1b[1m" + l.Text + "\x1b[0m"
	case Faint:
		return "\x1b[2m" + l.Text + "\x1b[0m"
	}
	return l.Text
}
