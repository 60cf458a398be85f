package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/selftest"
	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/sweep"
)

// Plan is what a campaign would take, with nothing measured.
type Plan struct {
	Target, Model string
	GPUs          int
	Effort        sweep.Effort
	// FirstLook: nothing can be written from what this campaign finds.
	FirstLook bool
	// RunsDone are in the journal already; Finished is why nothing is left to do.
	RunsDone int
	Finished string
	Outlook  sweep.Outlook
	MaxWall  time.Duration
	// Peak is the largest concurrency per GPU, PeakChunksPerSec what its streams
	// bring at most: as fast as one alone, which no engine holds under load.
	Peak             int
	PeakChunksPerSec float64
	Ceiling          *selftest.Result
	// A further window of at most WindowRuns runs comes WindowsApart later, or
	// on another deployment.
	WindowsApart time.Duration
	WindowRuns   int
	// Deployments are brought up one after the other, 0 where none is; LoadPods
	// make the load, 0 where this machine does. Makes says what that leaves in the
	// cluster meanwhile.
	Deployments, LoadPods int
	Makes                 []string
	Files                 []string
	Permissions           []string
	// Unstated are the labels without which no anchor of another place counts or,
	// of a campaign that is Pooled with those of other clusters, no bundle.
	Unstated []string
	Pooled   bool
	// Searched: the point is looked for, so that other clusters may find another.
	Searched bool
	// Untimed: how long a request takes is not known, so the time is the least.
	Untimed bool
}

type planDoc struct {
	SchemaVersion     int          `json:"schema_version"`
	Target            string       `json:"target"`
	Model             string       `json:"model"`
	GPUs              int          `json:"gpus"`
	Effort            sweep.Effort `json:"effort"`
	FirstLook         bool         `json:"first_look,omitempty"`
	RunsDone          int          `json:"runs_done"`
	Finished          string       `json:"finished,omitempty"`
	Runs              int          `json:"runs"`
	RunsAtMost        int          `json:"runs_at_most"`
	PairRuns          int          `json:"bridge_runs,omitempty"`
	Seconds           float64      `json:"duration_s"`
	SecondsAreLeast   bool         `json:"duration_is_least,omitempty"`
	SecondsAtMost     float64      `json:"duration_at_most_s,omitempty"`
	GPUHours          float64      `json:"gpu_hours"`
	Peak              int          `json:"peak_concurrency_per_gpu"`
	PeakStreams       int          `json:"peak_streams"`
	PeakChunksPerSec  float64      `json:"peak_chunks_per_s,omitempty"`
	CeilingChunksPerS float64      `json:"ceiling_chunks_per_s,omitempty"`
	WindowsApart      float64      `json:"windows_apart_s,omitempty"`
	WindowRuns        int          `json:"window_runs_at_most,omitempty"`
	Deployments       int          `json:"deployments,omitempty"`
	LoadPods          int          `json:"load_pods,omitempty"`
	Makes             []string     `json:"makes,omitempty"`
	Files             []string     `json:"writes"`
	Permissions       []string     `json:"permissions"`
	Unstated          []string     `json:"unstated_labels,omitempty"`
}

func (p Plan) gpuHours() float64 { return p.Outlook.Time.Hours() * float64(p.GPUs) }

// PlanJSON prints a plan as one JSON document.
func PlanJSON(w io.Writer, p Plan) error {
	d := planDoc{
		SchemaVersion: schemaVersion, Target: p.Target, Model: p.Model, GPUs: p.GPUs, Effort: p.Effort,
		FirstLook: p.FirstLook, RunsDone: p.RunsDone, Finished: p.Finished, Runs: p.Outlook.Runs, RunsAtMost: p.Outlook.MostRuns, PairRuns: p.Outlook.PairRuns,
		Seconds: p.Outlook.Time.Seconds(), SecondsAtMost: p.MaxWall.Seconds(), GPUHours: p.gpuHours(),
		Peak: p.Peak, PeakStreams: p.Peak * p.GPUs, PeakChunksPerSec: p.PeakChunksPerSec,
		WindowsApart: p.WindowsApart.Seconds(), WindowRuns: p.WindowRuns, Files: list(p.Files),
		Deployments: p.Deployments, LoadPods: p.LoadPods, Makes: p.Makes, SecondsAreLeast: p.Untimed, Permissions: list(p.Permissions), Unstated: p.Unstated,
	}
	if p.Ceiling != nil {
		d.CeilingChunksPerS = p.Ceiling.Ceiling.TokPerSec
	}
	return encode(w, d)
}

// PlanText prints a plan for a human, the cost first.
func PlanText(w io.Writer, p Plan) error {
	out := &printer{w: w}
	out.line("plan for %s, GPUs %d, effort %s; nothing was measured", p.Target, p.GPUs, p.Effort)
	if p.Finished != "" {
		out.line("ahead        nothing: %s", p.Finished)
	} else {
		out.line("ahead        %s", p.runs())
		least := ""
		if p.Untimed {
			least = " at least"
		}
		out.line("GPU-hours    %s%s", number(p.gpuHours()), least)
	}
	if p.FirstLook {
		out.line("             a first look: nothing is written from this target at quick effort; measure without --effort quick for that")
	}
	switch {
	case p.FirstLook:
	case p.Deployments > 1:
		out.line("             the point is confirmed on %s, by at most %s each", plural.Of(p.Deployments-1, "more deployment"), plural.Of(p.WindowRuns, "run"))
	case p.WindowsApart > 0 && p.Pooled && len(p.Unstated) == 0:
		out.line("             its second window and its anchors are the bundles of the other clusters (calibrate --from); alone it needs at most %s with --window 2", plural.Of(p.WindowRuns, "more run"))
	case p.WindowsApart > 0:
		out.line("             a gate needs a second window: at most %s with --window 2, %s later or on another --deployment", plural.Of(p.WindowRuns, "more run"), p.WindowsApart)
	}
	if p.Pooled && len(p.Unstated) == 0 && p.Searched && !p.FirstLook {
		out.line("             clusters that confirm different points are not pooled: --concurrency-per-gpu N proves one on each")
	}
	if len(p.Unstated) > 0 && !p.FirstLook {
		out.line("not stated   %s", p.unstated())
	}
	out.line("peak         %s per GPU, %d in all", plural.Of(p.Peak, "stream"), p.Peak*p.GPUs)
	if p.LoadPods == 0 {
		out.line("this machine %s", p.machine())
	}
	for _, s := range p.Makes {
		out.line("makes        %s", s)
	}
	if len(p.Files) > 0 {
		out.line("writes       %s", strings.Join(p.Files, ", "))
	} else {
		out.line("writes       nothing: without --journal no run is kept")
	}
	for _, s := range p.Permissions {
		out.line("permissions  %s", s)
	}
	return out.err
}

// runs says how many and how long; nothing is known of the curve yet, so both
// are estimates.
func (p Plan) runs() string {
	s := p.Outlook.String()
	if p.RunsDone > 0 {
		s += fmt.Sprintf("; %d %s in the journal", p.RunsDone, plural.Verb(p.RunsDone, "is", "are"))
	}
	if p.Untimed {
		s += " at least: how long a request takes is not known before the target is asked"
	}
	if p.MaxWall > 0 {
		s += fmt.Sprintf("; --max-wall ends it after %s", p.MaxWall)
	}
	return s
}

// unstated says what a missing label costs later, when it is too late to add it.
func (p Plan) unstated() string {
	s := strings.Join(p.Unstated, ", ") + " (--label " + p.Unstated[0] + "=...): "
	if p.Pooled {
		return s + "without, --from refuses its bundle beside those of other clusters"
	}
	return s + "without, no anchor of another place counts (C7)"
}

// machine holds the peak against what this machine was found to read.
func (p Plan) machine() string {
	if p.PeakChunksPerSec == 0 {
		return "the target did not show how fast it streams, so its load is not known"
	}
	asks := fmt.Sprintf("must read up to %s chunks/s, if every stream stays as fast as one alone; ", number(p.PeakChunksPerSec))
	switch {
	case p.Ceiling == nil:
		return asks + "what it can read is not known: perfsweep selftest measures it"
	case p.PeakChunksPerSec > p.Ceiling.Ceiling.TokPerSec:
		return asks + fmt.Sprintf("it was found to read %s: the largest levels may be client-bound, and INVALID then", number(p.Ceiling.Ceiling.TokPerSec))
	}
	return asks + fmt.Sprintf("it was found to read %s", number(p.Ceiling.Ceiling.TokPerSec))
}
