package recipes

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/perfsweep/perfsweep/internal/plural"
)

// recorded is what the comments of the performance phase say was measured.
// Comments are prose, so what cannot be told apart stays zero.
type recorded struct {
	perGPU  float64 // output tok/s
	total   float64 // output tok/s of a whole node
	gpus    int
	conc    int // per GPU; of a managed comment only
	model   string
	date    time.Time // the newest that is not still to come
	ahead   time.Time // one that is
	line    int       // from 1, of the first comment
	mention bool      // there is a throughput or a date
}

// clockError is how far the clock that dated a comment may be ahead: a comment
// holds a day of some time zone.
const clockError = 48 * time.Hour

// record reads the comments, the managed ones included. A zero today takes any
// date.
func (o *Overlay) record(today time.Time) recorded {
	var r recorded
	var words []string
	from, to := o.phaseLines()
	if first, last, found, _ := o.managedBlock(); found { // what people wrote before is older
		from, to = first, last+1
	}
	for i := from; i < to; i++ {
		_, comment, found := strings.Cut(o.text.lines[i].body, "#")
		if !found {
			continue
		}
		if r.line == 0 {
			r.line = i + 1
		}
		words = append(words, strings.Fields(strings.TrimLeft(comment, "# "))...)
	}
	prose := strings.Join(words, " ")
	r.throughput(prose)
	if m := regexp.MustCompile(`\b([0-9]{1,3})(?:[- ]GPUs?\b| GPU\(s\)|x\b)`).FindStringSubmatch(prose); m != nil {
		r.gpus, _ = strconv.Atoi(m[1])
	}
	if m := regexp.MustCompile(`Measured at ([0-9]{1,6}) in flight per GPU`).FindStringSubmatch(prose); m != nil {
		r.conc, _ = strconv.Atoi(m[1])
	}
	// Comments of the first versions say GPU(s).
	if m := regexp.MustCompile(`GPU(?:s|\(s\))?; model ([A-Za-z0-9._/-]{1,200}); workload`).FindStringSubmatch(prose); m != nil {
		r.model = m[1]
	}
	for _, s := range regexp.MustCompile(`\b20[0-9]{2}-[01][0-9]-[0-3][0-9]\b`).FindAllString(prose, -1) {
		d, err := time.Parse(time.DateOnly, s)
		switch {
		case err != nil:
		case !today.IsZero() && d.After(today.Add(clockError)):
			r.ahead = d // until when it holds, maybe; nothing was measured then
		case d.After(r.date):
			r.date = d
		}
	}
	r.mention = r.perGPU > 0 || r.total > 0 || !r.date.IsZero() || !r.ahead.IsZero()
	return r
}

// throughput takes the first figure of each form that is not itself derived:
// a rule, a product, a threshold.
func (r *recorded) throughput(prose string) {
	figure := regexp.MustCompile(`(?i)([0-9][0-9,]*(?:\.[0-9]+)?) ?(k)?(?: output)? ?tok(?:en)?s?/s(?:ec)?( per GPU|/GPU| a GPU)?`)
	derived := regexp.MustCompile(`(?i)(=|\brule\b|\bfloor (of|is)\b|\bacts as\b|\bwritten\b|\beffective\b|\brounded\b|\bgate\b)[^.;]*$`)
	for _, m := range figure.FindAllStringSubmatchIndex(prose, -1) {
		if derived.MatchString(prose[max(0, m[0]-80):m[0]]) {
			continue
		}
		v, err := strconv.ParseFloat(strings.ReplaceAll(prose[m[2]:m[3]], ",", ""), 64)
		if err != nil {
			continue
		}
		if m[4] >= 0 {
			v *= 1000
		}
		switch {
		case m[6] >= 0 && r.perGPU == 0:
			r.perGPU = v
		case m[6] < 0 && r.total == 0:
			r.total = v
		}
	}
}

// baseline is the recorded figure in the unit of the gate's floor, 0 when the
// comments do not give it.
func (r recorded) baseline(g Gate) (floor, measured float64) {
	gpus := float64(r.gpus)
	switch {
	case g.FloorPerGPU > 0 && r.perGPU > 0:
		return g.FloorPerGPU, r.perGPU
	case g.FloorPerGPU > 0 && gpus > 0:
		return g.FloorPerGPU, r.total / gpus
	case g.Floor > 0 && r.total > 0:
		return g.Floor, r.total
	case g.Floor > 0 && gpus > 0:
		return g.Floor, r.perGPU * gpus
	}
	return 0, 0
}

// provenance compares what the comments record with what the file pins.
func (l *linter) provenance(opt Options) {
	o := l.o
	g, _ := o.readGate()
	var floor, threshold *yaml.Node
	for _, it := range o.items {
		if isFloor(it.name.Value) && it.value != nil {
			floor = it.value
		}
		if threshold == nil && isThreshold(it.name.Value) {
			threshold = it.name
		}
		if it.name.Value == NameCeiling && it.value != nil && g.CeilingTTFTP99MS > 0 && (g.CeilingTTFTP99MS < 10 || g.CeilingTTFTP99MS > 600_000) {
			l.warn(it.value, "implausible-ceiling", fmt.Sprintf("%s ms is no plausible TTFT p99; the unit is milliseconds", decimal(g.CeilingTTFTP99MS)), "check the unit")
		}
	}
	if threshold == nil {
		return
	}
	r := o.record(opt.Today)
	if !r.mention {
		l.warn(threshold, "no-provenance", "no comment of the performance phase says what was measured", "run perfsweep calibrate, or write down throughput, GPUs, load and date")
	}
	if f, m := r.baseline(g); floor != nil && m > 0 {
		switch {
		case f > m:
			l.warn(floor, "floor-above-measured", fmt.Sprintf("the floor %s is above the recorded %s tok/s", decimal(f), roundest(m)), "derive it from the measured spread: perfsweep calibrate")
		case f < m/2:
			l.warn(floor, "floor-slack", fmt.Sprintf("the floor %s is %.0f %% of the recorded %s tok/s; with the evaluator's %.0f %% a loss of %.0f %% passes", decimal(f), 100*f/m, roundest(m), 100*Tolerance, 100*(1-(1-Tolerance)*f/m)),
				"derive it from the measured spread: perfsweep calibrate")
		}
	}
	stale := func(msg string) {
		l.add(o.errAt(r.line, 1, "stale-provenance", msg, "run perfsweep calibrate again"), SeverityWarning)
	}
	switch {
	case r.conc > 0 && g.ConcurrencyPerGPU > 0 && r.conc != g.ConcurrencyPerGPU:
		stale(fmt.Sprintf("the comment records a measurement at %d per GPU, the file pins %d", r.conc, g.ConcurrencyPerGPU))
	case r.model != "" && g.Model != "" && r.model != g.Model:
		stale(fmt.Sprintf("the comment records the model %s, the file pins %s", clip(r.model), clip(g.Model)))
	case r.date.IsZero() && !r.ahead.IsZero():
		stale(fmt.Sprintf("the date in the comment is %s, which is still to come", r.ahead.Format(time.DateOnly)))
	case !r.date.IsZero() && opt.MaxAge > 0 && opt.Today.Sub(r.date) > opt.MaxAge:
		stale(fmt.Sprintf("the newest date in the comment is %s, %s ago", r.date.Format(time.DateOnly), plural.Of(int(opt.Today.Sub(r.date).Hours()/24), "day")))
	}
}

func roundest(v float64) string { return strconv.FormatFloat(v, 'f', 0, 64) }
