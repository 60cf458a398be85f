package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/internal/plural"
)

type statusDoc struct {
	SchemaVersion int                           `json:"schema_version"`
	Image         string                        `json:"image,omitempty"`
	Counts        map[calibrate.StatusState]int `json:"counts"`
	Overlays      []calibrate.Status            `json:"overlays"`
}

// Statuses prints what became of the gates of many overlays. image is what they
// were held against, "" for none.
func Statuses(w io.Writer, format, image string, list []calibrate.Status) error {
	switch format {
	case "json":
		return encode(w, statusDoc{schemaVersion, image, counts(list), list})
	case "csv":
		return statusCSV(w, list)
	}
	p := &printer{w: w}
	p.line("%s", tally(list, image))
	p.line("")
	p.statuses(list)
	for _, s := range list {
		for _, why := range s.Why {
			p.line("%s: %s: %s", s.File, s.State, why)
		}
	}
	return p.err
}

// statuses has a line an overlay, and a sentence an overlay where a terminal is
// too narrow for that.
func (p *printer) statuses(list []calibrate.Status) {
	var b strings.Builder
	tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "overlay\tstate\tmeasured\tGPUs\ttok/s per GPU\tper GPU in flight\timage")
	for _, s := range list {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", s.Overlay, s.State, orDash(s.Measured), whole(s.GPUs), number(s.TokPerSecPerGPU), whole(pinned(s)), orDash(short(s.Image)))
	}
	if err := tw.Flush(); err != nil && p.err == nil {
		p.err = err
	}
	if width := columnsOf(p.w); width <= 0 || widest(b.String()) <= width {
		p.raw(b.String())
		return
	}
	for _, s := range list {
		parts := []string{string(s.State)}
		if s.Measured != "" {
			parts = append(parts, "measured "+s.Measured)
		}
		if s.GPUs > 0 {
			parts = append(parts, plural.Of(s.GPUs, "GPU"))
		}
		if s.TokPerSecPerGPU > 0 {
			parts = append(parts, number(s.TokPerSecPerGPU)+" tok/s per GPU")
		}
		if n := pinned(s); n > 0 {
			parts = append(parts, fmt.Sprintf("%d per GPU in flight", n))
		}
		if s.Image != "" {
			parts = append(parts, "image "+short(s.Image))
		}
		p.line("%s: %s", s.Overlay, strings.Join(parts, ", "))
	}
}

func counts(list []calibrate.Status) map[calibrate.StatusState]int {
	n := map[calibrate.StatusState]int{}
	for _, s := range list {
		n[s.State]++
	}
	return n
}

// tally answers the question first.
func tally(list []calibrate.Status, image string) string {
	n := counts(list)
	var parts []string
	for _, s := range []calibrate.StatusState{
		calibrate.StatusCurrent, calibrate.StatusStale, calibrate.StatusProvisional, calibrate.StatusNoEvidence,
		calibrate.StatusDisabled, calibrate.StatusInvalid, calibrate.StatusNone,
	} {
		if n[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[s], s))
		}
	}
	line := fmt.Sprintf("%s: %s", plural.Of(len(list), "overlay"), strings.Join(parts, ", "))
	if image != "" {
		line += "; held against image " + image
	}
	return line
}

func statusCSV(w io.Writer, list []calibrate.Status) error {
	cw := csv.NewWriter(w)
	rows := [][]string{{"overlay", "file", "state", "measured", "gpus", "output_tok_per_s_per_gpu", "concurrency_per_gpu", "image", "why"}}
	for _, s := range list {
		rate := ""
		if s.TokPerSecPerGPU > 0 {
			rate = strconv.FormatFloat(s.TokPerSecPerGPU, 'f', 2, 64)
		}
		rows = append(rows, []string{
			s.Overlay, s.File, string(s.State), s.Measured, blank(s.GPUs), rate, blank(pinned(s)), s.Image, strings.Join(s.Why, "; "),
		})
	}
	return cw.WriteAll(rows)
}

func pinned(s calibrate.Status) int {
	if s.Gate == nil {
		return 0
	}
	return s.Gate.ConcurrencyPerGPU
}

func blank(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// short keeps of an image what tells it apart.
func short(image string) string {
	name, digest, ok := strings.Cut(image, "@")
	name = name[strings.LastIndex(name, "/")+1:]
	if ok && len(digest) > 19 {
		return name + "@" + digest[:19]
	}
	return name
}
