package selftest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/loadgen"
)

// Options are the choices of a selftest.
type Options struct {
	Command Command
	Version string
	// Streams is how many are held at once in the part about memory and exact
	// concurrency.
	Streams int
	// Budget bounds the whole; what no longer fits is left out.
	Budget time.Duration
	// Notify, when set, is told of each point as it ends.
	Notify func(part string, m Measured)
}

// Result is what the machine was found to do.
type Result struct {
	SchemaVersion int       `json:"schema_version"`
	Version       string    `json:"tool_version"`
	Host          string    `json:"host"`
	CPUs          int       `json:"cpus"` // that this program may use
	Started       time.Time `json:"started"`
	Seconds       float64   `json:"duration_s"`
	// Ceiling is absent where no load passed.
	Ceiling *Ceiling `json:"ceiling,omitempty"`
	// Timing is 64 streams in step, with a token each 20 ms.
	Timing *Measured `json:"timing,omitempty"`
	// Held is the largest number of streams that was tried at half of the ceiling.
	Held *Measured `json:"held,omitempty"`
	// BytesAStream is what each further stream adds to the memory in use.
	BytesAStream float64 `json:"bytes_per_stream,omitempty"`
	// OthersCPUShare is the largest share of the machine's CPU that went to
	// neither the generator nor its server during a point.
	OthersCPUShare float64 `json:"others_cpu_share,omitempty"`
	// Points are all that was measured, in order.
	Points   []Measured `json:"points"`
	Warnings []string   `json:"warnings,omitempty"`
}

// Quiet reports that others left the machine to the selftest, so that its
// ceiling is the machine's and not that of a busy moment.
func (r Result) Quiet() bool { return r.OthersCPUShare <= othersShare }

// Ceiling is the largest rate that was read with a lag p99 below 1 ms and
// without failing the run gate on the generator.
type Ceiling struct {
	TokPerSec float64 `json:"chunks_per_s"`
	Streams   int     `json:"streams"`
	LagP99MS  float64 `json:"lag_p99_ms"`
	CPUShare  float64 `json:"cpu_share,omitempty"`
	// LimitedBy is lag, cpu or server at the next rate; range or time where
	// none was seen to fail. With the last three the machine may do more.
	LimitedBy string `json:"limited_by"`
	AtLeast   bool   `json:"at_least"`
	// FailedTokPerSec is the smallest rate that was asked for and not driven.
	FailedTokPerSec float64 `json:"failed_chunks_per_s,omitempty"`
}

var errNoTime = errors.New("the time of the selftest is over")

// ended drops the error that is an ordinary end of a search.
func ended(err error) error {
	if errors.Is(err, errNoTime) {
		return nil
	}
	return err
}

const (
	// rateITL is the interval of the rate search: 100 tokens a second and
	// stream, as a fast engine gives them.
	rateITL    = 10 * time.Millisecond
	rateAnswer = 500 * time.Millisecond
	rateFirst  = 64
	rateMost   = 8192
	// heldRate is for many streams where no ceiling is known.
	heldRate = 5000
	// The timing part: AIPerf's figures are known there.
	timingStreams = 64
	timingITL     = 20 * time.Millisecond
	// othersShare of the machine's CPU used by others makes a point doubtful.
	othersShare = 0.10
)

// tester is one selftest in progress.
type tester struct {
	o        Options
	deadline time.Time
	scale    float64 // of the budget to the default one
	r        Result
}

// DefaultBudget is enough for every part on a machine with a few cores.
const DefaultBudget = 30 * time.Second

// Run measures timing, the ceiling and a large number of streams.
func Run(ctx context.Context, o Options) (Result, error) {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	now := time.Now()
	t := &tester{o: o, deadline: now.Add(o.Budget), scale: min(1, o.Budget.Seconds()/DefaultBudget.Seconds()), r: Result{
		SchemaVersion: 1, Version: o.Version, Host: host, CPUs: runtime.GOMAXPROCS(0), Started: now.UTC(), Points: []Measured{},
	}}
	err = errors.Join(t.timing(ctx), t.ceiling(ctx), t.held(ctx))
	t.r.Seconds = time.Since(now).Seconds()
	if ctx.Err() != nil {
		return t.r, fmt.Errorf("the selftest was interrupted: %w", ctx.Err())
	}
	t.doubts()
	return t.r, err
}

// at holds one point and keeps what was found.
func (t *tester) at(ctx context.Context, part string, p Point) (Measured, error) {
	m, err := t.o.Command.Measure(ctx, p)
	if err != nil {
		return m, err
	}
	t.r.Points = append(t.r.Points, m)
	if t.o.Notify != nil {
		t.o.Notify(part, m)
	}
	return m, nil
}

// short scales a time to the budget.
func (t *tester) short(d time.Duration) time.Duration {
	return max(time.Duration(float64(d)*t.scale), 20*time.Millisecond)
}

// point makes answers of about the given length.
func (t *tester) point(streams int, itl, answer time.Duration) Point {
	p := Point{Streams: streams, TTFT: 10 * time.Millisecond, ITL: itl, Length: t.short(time.Second)}
	p.Tokens = max(2, int(t.short(answer)/itl))
	return p
}

func (t *tester) timingPoint() Point {
	p := t.point(timingStreams, timingITL, 640*time.Millisecond)
	p.TTFT, p.InStep, p.Length = t.short(50*time.Millisecond), true, t.short(2*time.Second)
	return p
}

func (t *tester) timing(ctx context.Context) error {
	m, err := t.at(ctx, "timing", t.timingPoint())
	if err == nil {
		t.r.Timing = &m
	}
	return err
}

func (t *tester) ceiling(ctx context.Context) error {
	passed := map[int]Measured{}
	why := map[int]string{}
	most := rateMost
	for most > rateFirst && loadgen.CheckStreams(most) != nil {
		most /= 2
	}
	// One more try and the last part must still fit.
	more := func() bool {
		next := t.point(rateFirst, rateITL, rateAnswer).takes()
		return time.Until(t.deadline) > next+t.heldPoint(heldRate).takes()
	}
	best, fails, err := search(rateFirst, most, more, func(n int) (bool, error) {
		m, err := t.at(ctx, "rate", t.point(n, rateITL, rateAnswer))
		if err != nil {
			return false, err
		}
		why[n] = m.limitedBy()
		passed[n] = m
		return why[n] == "", nil
	})
	if best == 0 || err != nil {
		return err
	}
	m := passed[best]
	c := Ceiling{TokPerSec: m.TokPerSec, Streams: best, LagP99MS: m.LagP99MS, CPUShare: m.CPUShare, LimitedBy: why[fails]}
	switch {
	case fails > 0:
		c.FailedTokPerSec = t.point(fails, rateITL, rateAnswer).nominal()
	case best == most:
		c.LimitedBy = "range"
	default:
		c.LimitedBy = "time"
	}
	c.AtLeast = c.LimitedBy != "lag" && c.LimitedBy != "cpu"
	t.r.Ceiling = &c
	return nil
}

// heldPoint is many streams at a rate.
func (t *tester) heldPoint(rate float64) Point {
	n := t.o.Streams
	itl := max(rateITL, time.Duration(float64(n)/rate*float64(time.Second)).Round(time.Millisecond))
	return t.point(n, itl, max(rateAnswer, 4*itl))
}

// held holds many streams at half of the ceiling.
func (t *tester) held(ctx context.Context) error {
	rate := float64(heldRate)
	if t.r.Ceiling != nil {
		rate = t.r.Ceiling.TokPerSec / 2
	}
	m, err := t.at(ctx, "streams", t.heldPoint(rate))
	if err != nil {
		return err
	}
	t.r.Held = &m
	if small := t.r.Timing; small != nil && m.PSSMiB > small.PSSMiB && small.PSSMiB > 0 && m.Streams >= 4*small.Streams {
		t.r.BytesAStream = (m.PSSMiB - small.PSSMiB) * (1 << 20) / float64(m.Streams-small.Streams)
	}
	return nil
}

// doubts says what a reader must know to believe the numbers.
func (t *tester) doubts() {
	for _, m := range t.r.Points {
		t.r.OthersCPUShare = max(t.r.OthersCPUShare, m.OthersCPUShare)
	}
	if !t.r.Quiet() {
		t.warn("others used up to %.0f %% of the machine's CPU meanwhile: the ceiling is that of what was left; repeat it on a quiet machine", 100*t.r.OthersCPUShare)
	}
	if t.r.Ceiling == nil {
		t.warn("no rate was read with a lag p99 below %d ms: this machine has no ceiling to hold a sweep against", maxLagMS)
	}
	for _, part := range []struct {
		name string
		m    *Measured
	}{{"64 streams in step", t.r.Timing}, {plural.Of(t.o.Streams, "stream"), t.r.Held}} {
		switch {
		case part.m == nil:
		case !part.m.TokensAgree || part.m.Failed > 0:
			t.warn("%s: %s failed, or the token counts of client and server differ: this is a fault, please report it", part.name, plural.Of(part.m.Failed, "request"))
		case !part.m.Exact:
			t.warn("%s: the server saw %.1f in flight on average and %d at most", part.name, part.m.InFlightMean, part.m.InFlightMax)
		}
		if part.m != nil && part.m.TTFTErrors == 0 {
			t.warn("%s: TTFT could not be compared with the server's own", part.name)
		}
	}
}

func (t *tester) warn(format string, args ...any) {
	t.r.Warnings = append(t.r.Warnings, fmt.Sprintf(format, args...))
}
