package sweep

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/perfsweep/perfsweep/internal/plural"
)

// Workers is what run gate V1 rests on: who was ready right before and right
// after a run. A run without it is not judged by V1, which is no pass.
type Workers struct {
	Expected int `json:"expected"`
	// From says who expects so many, such as "--label workers".
	From   string `json:"expected_from"`
	Before Roll   `json:"before"`
	After  Roll   `json:"after"`
}

// Roll is who was ready at one moment.
type Roll struct {
	Ready int `json:"ready"`
	// IDs are the workers' 64-bit ids, ascending and in decimal: text, because
	// they lie above what a float holds.
	IDs []string `json:"instance_ids,omitempty"`
	// Unread says why nobody could be counted.
	Unread string `json:"unread,omitempty"`
}

// WorkerWatch counts workers around every run of a campaign.
type WorkerWatch struct {
	Expected int
	From     string
	// Read returns the ids of the workers that are ready.
	Read func(context.Context) ([]uint64, error)
}

// maxUnread bounds what a journal keeps of an error, which may be a server's.
const maxUnread = 200

func (w *WorkerWatch) roll(ctx context.Context) Roll {
	ids, err := w.Read(ctx)
	if err != nil {
		why := strings.ToValidUTF8(err.Error(), "?")
		return Roll{Unread: string([]rune(why)[:min(maxUnread, len([]rune(why)))])}
	}
	ids = slices.Clone(ids)
	slices.Sort(ids)
	ids = slices.Compact(ids)
	out := Roll{Ready: len(ids)}
	for _, id := range ids {
		out.IDs = append(out.IDs, strconv.FormatUint(id, 10))
	}
	return out
}

// checkWorkers is V1: the expected number, exactly, before and after the run,
// and the same ones. A worker that was replaced meanwhile served a part of the
// run only. Whoever could be counted once can be counted always, so that a roll
// which could not be read fails the gate.
func checkWorkers(w *Workers) []Violation {
	if w == nil {
		return nil
	}
	v := Violation{Gate: "V1", Threshold: fmt.Sprintf("%d, the same before and after (%s)", w.Expected, w.From)}
	const unreadRemedy = "look at the frontend's /health, and measure again"
	left, joined := without(w.Before.IDs, w.After.IDs), without(w.After.IDs, w.Before.IDs)
	switch {
	case w.Before.Unread != "":
		v.Observed, v.Remedy = "the ready workers could not be counted before the run: "+w.Before.Unread, unreadRemedy
	case w.After.Unread != "":
		v.Observed, v.Remedy = "the ready workers could not be counted after the run: "+w.After.Unread, unreadRemedy
	case w.Before.Ready != w.Expected || w.After.Ready != w.Expected:
		v.Observed = fmt.Sprintf("%d of %s ready before the run, %d after", w.Before.Ready, plural.Of(w.Expected, "worker"), w.After.Ready)
		if len(left) > 0 {
			v.Observed += "; left: " + strings.Join(left, ", ")
		}
		v.Remedy = "find the worker that is missing or too many, and measure again; if the deployment is meant to be so, say it with --label workers=N, which makes another baseline"
	case len(left) > 0 || len(joined) > 0:
		v.Observed = fmt.Sprintf("%d of %s ready, but not the same ones: left during the run: %s; joined: %s",
			w.After.Ready, plural.Of(w.Expected, "worker"), strings.Join(left, ", "), strings.Join(joined, ", "))
		v.Remedy = "a worker restarted during the run: find out why, and measure again"
	default:
		return nil
	}
	return []Violation{v}
}

// without are the ids of a that b lacks.
func without(a, b []string) []string {
	var out []string
	for _, id := range a {
		if !slices.Contains(b, id) {
			out = append(out, id)
		}
	}
	return out
}
