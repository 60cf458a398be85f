package sweep

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
)

// lineBridge is a pair of runs by two tools, see BridgePair.
const lineBridge = "bridge"

// BridgeTool is one of the two tools of a pair.
type BridgeTool string

// The tools that are held against each other.
const (
	ByAIPerf    BridgeTool = "aiperf"
	ByPerfsweep BridgeTool = "perfsweep"
)

// BridgePair is one run of AIPerf and one gate run of this tool, made one right
// after the other at one point, with the same requests asked for.
type BridgePair struct {
	Seq               int        `json:"seq"` // from 1, in the order of the journal
	ConcurrencyPerGPU int        `json:"concurrency_per_gpu"`
	First             BridgeTool `json:"first"` // which of the two was made first
	// Window and Deployment are those that the campaign was in.
	Window     int    `json:"window,omitempty"`
	Deployment string `json:"deployment_id,omitempty"`
	// Version is AIPerf's own.
	Version   string        `json:"aiperf_version"`
	AIPerf    BridgeReading `json:"aiperf"`
	Perfsweep BridgeReading `json:"perfsweep"`
	// Violations are the run gates that the run of this tool failed.
	Violations []Violation `json:"violations,omitempty"`
	// NextRequest is the first request number that the pair did not use.
	NextRequest uint64 `json:"next_request,omitempty"`
}

// Valid reports whether the run of this tool passed every run gate.
func (p BridgePair) Valid() bool { return len(p.Violations) == 0 }

// BridgeReading is one run as its tool reads it, whole: ramp and drain included,
// warm-up left out.
type BridgeReading struct {
	Started      time.Time `json:"started"`
	Seconds      float64   `json:"duration_s"`
	Requests     int64     `json:"requests"`
	OutputTokens float64   `json:"output_tokens"`
	TokPerSec    float64   `json:"output_tok_per_s"`
	TTFTP99MS    float64   `json:"ttft_p99_ms"`
	// AllOutputTokens are those of every request sent, warm-up included, as the
	// tool counts them, and ServerOutputTokens what the server's own counter grew
	// by meanwhile.
	AllOutputTokens    float64 `json:"total_output_tokens"`
	ServerOutputTokens float64 `json:"server_output_tokens"`
}

// ServerTokPerSec is the throughput by the server's own count, over the time that
// the tool took.
func (r BridgeReading) ServerTokPerSec() float64 {
	return r.TokPerSec * r.ServerOutputTokens / r.AllOutputTokens
}

// PairsAt are the pairs of a campaign at a concurrency per GPU: how many were made,
// and those that may be used.
func (c Curve) PairsAt(n int) (made int, valid []BridgePair) {
	for _, p := range c.Bridge {
		if p.ConcurrencyPerGPU != n {
			continue
		}
		if made++; p.Valid() {
			valid = append(valid, p)
		}
	}
	return made, valid
}

// Beside makes one gate run at a point that is no step of the plan. It is judged
// like every run, and not recorded.
func (c *Campaign) Beside(ctx context.Context, n int) (Run, error) {
	s := Step{ConcurrencyPerGPU: n, Kind: loadgen.Gate, Purpose: Confirm, Why: "beside a run of another tool"}
	r, counted, servers, err := c.watched(ctx, ctx, s)
	if ctx.Err() != nil {
		return Run{}, ctx.Err()
	}
	if err != nil {
		return Run{}, fmt.Errorf("gate run at %d per GPU: %w", n, err)
	}
	return c.judged(s, r, counted, servers), nil
}

// AddPair records a pair.
func (c *Campaign) AddPair(p BridgePair) error {
	p.Seq, p.Window, p.Deployment = len(c.Curve.Bridge)+1, max(c.Curve.Plan.Window, 1), c.Deployment
	if err := lawfulPair(p, &c.Curve); err != nil { // it could not be read again
		return fmt.Errorf("pair %d at %d per GPU: %w", p.Seq, p.ConcurrencyPerGPU, err)
	}
	if c.Journal != nil {
		if err := c.Journal.AppendPair(p); err != nil {
			return err
		}
	}
	c.Curve.Bridge = append(c.Curve.Bridge, p)
	return nil
}

// bridgeLine is a pair in a journal.
type bridgeLine struct {
	Type string `json:"type"`
	BridgePair
}

// isBridge reports whether a line of a journal says that it is a pair.
func isBridge(line []byte) bool {
	var kind struct {
		Type string `json:"type"`
	}
	return bytes.Contains(line, []byte(lineBridge)) && json.Unmarshal(line, &kind) == nil && kind.Type == lineBridge
}

// parsePair appends a pair.
func parsePair(line []byte, c *Curve) error {
	var p bridgeLine
	if err := json.Unmarshal(line, &p); err != nil {
		return fmt.Errorf("damaged pair: %w", loadgen.PlainJSON(err))
	}
	cleaned(reflect.ValueOf(&p.BridgePair))
	if err := lawfulPair(p.BridgePair, c); err != nil {
		return fmt.Errorf("pair %d: %w", p.Seq, err)
	}
	if err := exactKeys(line, shapeOf(reflect.TypeFor[bridgeLine]())); err != nil {
		return err
	}
	c.Bridge = append(c.Bridge, p.BridgePair)
	return nil
}

// maxPairs bounds the pairs of a journal, each of which is held against all others.
const maxPairs = 1000

// aiperfShare is how far AIPerf's own rate may lie from its tokens over its time:
// versions differ in which tokens they divide.
const aiperfShare = 0.02

// lawfulPair refuses a pair that nothing measures, or that contradicts itself or
// what came before it.
func lawfulPair(p BridgePair, c *Curve) error {
	switch n := p.ConcurrencyPerGPU; {
	case len(c.Bridge) == maxPairs:
		return fmt.Errorf("more than %d pairs, which no campaign makes", maxPairs)
	case p.Seq != len(c.Bridge)+1:
		return fmt.Errorf("pair %d where pair %d was expected", p.Seq, len(c.Bridge)+1)
	case n < minLevel || n > maxLevel:
		return fmt.Errorf("%d per GPU is outside %d..%d", n, minLevel, maxLevel)
	case p.First != ByAIPerf && p.First != ByPerfsweep:
		return fmt.Errorf("%.40q is neither of its tools", p.First)
	case p.Version == "" || len(p.Version) > 40:
		return fmt.Errorf("%.60q is no version of AIPerf", p.Version)
	case p.First == ByAIPerf && p.AIPerf.Started.After(p.Perfsweep.Started.Add(MaxClockError)):
		return fmt.Errorf("its first run is dated %s, after the second one", p.AIPerf.Started.UTC().Format(time.RFC3339))
	}
	for _, r := range []struct {
		by BridgeTool
		BridgeReading
		share float64
	}{{ByAIPerf, p.AIPerf, aiperfShare}, {ByPerfsweep, p.Perfsweep, roundingShare}} {
		if err := r.lawful(r.share); err != nil {
			return fmt.Errorf("%s: %w", r.by, err)
		}
		if !c.Started.IsZero() && r.Started.Before(c.Started.Add(-MaxClockError)) {
			return fmt.Errorf("%s: it is dated before its campaign", r.by)
		}
		for _, o := range c.Bridge {
			for _, earlier := range []BridgeReading{o.AIPerf, o.Perfsweep} {
				if r.Started.Equal(earlier.Started) || r.copies(earlier) {
					return fmt.Errorf("%s: it is a copy of a run of pair %d, and one must not count twice", r.by, o.Seq)
				}
			}
		}
	}
	return nil
}

// copies reports whether a reading has the time, rate and TTFT of another one to the
// last bit, as no two runs have, whenever it claims to be made.
func (r BridgeReading) copies(o BridgeReading) bool {
	for _, v := range [][2]float64{{r.Seconds, o.Seconds}, {r.TokPerSec, o.TokPerSec}, {r.TTFTP99MS, o.TTFTP99MS}} {
		if mark(v[0]) == 0 || v[0] != v[1] {
			return false
		}
	}
	return true
}

// lawful holds the numbers of one reading against each other.
func (r BridgeReading) lawful(share float64) error {
	for _, v := range []float64{r.Seconds, float64(r.Requests), r.OutputTokens, r.TokPerSec, r.TTFTP99MS, r.AllOutputTokens, r.ServerOutputTokens} {
		if v <= 0 || !measurable(v) {
			return fmt.Errorf("%v is no measurement", v)
		}
	}
	switch rate := float64(r.TokPerSec * r.Seconds); {
	case r.Started.IsZero():
		return fmt.Errorf("it has no date")
	case r.AllOutputTokens < r.OutputTokens:
		return fmt.Errorf("%v output tokens in all and %v of them measured", r.AllOutputTokens, r.OutputTokens)
	case math.Abs(rate-r.OutputTokens) > float64(share*r.OutputTokens):
		return fmt.Errorf("%v output tokens in %v s are not %v a second", r.OutputTokens, r.Seconds, r.TokPerSec)
	case r.TTFTP99MS > 1000*r.Seconds:
		return fmt.Errorf("a TTFT p99 of %v ms in a run of %v s", r.TTFTP99MS, r.Seconds)
	}
	return nil
}
