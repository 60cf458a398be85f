package observe

import (
	"slices"
	"strconv"
	"strings"

	"github.com/perfsweep/perfsweep/internal/plural"
)

// Shares from which on what a client saw is more than an incident.
const (
	shedShare = 0.01
	underfull = 0.9  // of the streams asked for
	starved   = 0.5  // seconds a second that threads wait for a CPU
	lateMS    = 20.0 // V8's bound at an objective of 2 s
	slowCost  = 0.1  // of the throughput, lost in slow windows
)

// clientBound holds when this tool was the limit. It needs nothing of the
// server.
func clientBound(v *seen) (o opinion) {
	c := v.Client
	if len(c.Suspended) > 0 {
		return suspended(v)
	}
	if c.ClientBound {
		why := c.ClientWhy
		if why == "" {
			why = "the generator reached its own limits"
		}
		o.say("%s", why)
		return o.decided()
	}
	if c.RunQueueShare >= starved && c.LagP99MS >= lateMS {
		o.say("this tool waited %.1f s a second for a CPU and read tokens %.0f ms late (p99)", c.RunQueueShare, c.LagP99MS)
		return o.decided()
	}
	if here := v.Span.Here.pressed("this tool's machine"); len(here) > 0 && c.LagP99MS >= lateMS {
		o.say("%s, and tokens were read %.0f ms late (p99)", strings.Join(here, ", "), c.LagP99MS)
		return o.decided()
	}
	failed := c.Shed + c.Other
	if c.InFlight > 0 && c.InFlight < underfull*float64(c.Streams) && float64(failed) < shedShare*float64(failed+c.OK) {
		o.say("%.1f requests in flight of %d asked for, and %d of %d failed", c.InFlight, c.Streams, failed, failed+c.OK)
		return o.decided()
	}
	return o
}

// suspended is the opinion of a level during which this tool did not run. What
// stood still at another time speaks for the server.
func suspended(v *seen) (o opinion) {
	for _, s := range v.Client.Suspended[:min(len(v.Client.Suspended), maxStalls)] {
		o.say("this tool was not running for %.1f s, from second %.1f to second %.1f of the measured part", s.LengthS, s.StartS, s.StartS+s.LengthS)
	}
	o.try = "keep this tool running and its machine awake, and measure again: this level says nothing of the server"
	for _, e := range globalEvents(v.Level) {
		o.but("%s, while this tool ran", e)
	}
	return o.decided()
}

// globalEvents are a level's events that touch all streams and that it must not
// be judged with: silences, and slow windows where they cost much. What the
// client saw is told anew where a span carries no events.
func globalEvents(l Level) []Event {
	events := l.Span.Events
	if events == nil {
		events = Events(l.Span.From, nil, l.Span, l.Client)
	}
	cost := 0.0
	for _, e := range events {
		if e.Kind == SlowWindows {
			cost += e.LengthS * (1 - e.Depth)
		}
	}
	var global []Event
	for _, e := range events {
		if e.Kind == GlobalSilence || e.Kind == SlowWindows && cost > slowCost*l.Client.seconds() {
			global = append(global, e)
		}
	}
	return global
}

func stoodStill(v *seen) (o opinion) {
	for _, e := range globalEvents(v.Level) {
		if e.Kind == GlobalSilence {
			o.say("no token on any stream for %.1f s from second %.1f on", e.LengthS, e.StartS)
		} else {
			o.say("%.0f %% of the median throughput for %.1f s from second %.1f on", 100*e.Depth, e.LengthS, e.StartS)
		}
	}
	if len(o.evidence) == 0 {
		return o
	}
	if len(o.evidence) > maxStalls {
		rest := len(o.evidence) - maxStalls
		o.evidence = o.evidence[:maxStalls]
		o.say("and %d more", rest)
	}
	return o.decided()
}

// maxStalls bounds what is listed.
const maxStalls = 5

func refused(v *seen) (o opinion) {
	c := v.Client
	total := c.OK + c.Shed + c.Other
	counted, told := v.Span.Frontend[Shed]
	if c.Shed == 0 || float64(c.Shed) < shedShare*float64(total) {
		if told && counted.Delta > max(1, shedShare*float64(total)) && c.Shed == 0 {
			v.remarks = append(v.remarks, "the servers refused requests, none of them ours")
		}
		return o
	}
	o.say("%d of %s %s refused (status 429, 503 or 529)", c.Shed, plural.Of(total, "request"), plural.Verb(c.Shed, "was", "were"))
	if told && counted.Delta > 0 {
		o.say("the server counts %.0f refused for load", counted.Delta)
	}
	return o.decided()
}

// unseen is the end of what a client alone can prove.
func unseen(v *seen) (o opinion) {
	switch s := v.Span; {
	case len(s.Mixed) > 0:
		o.say("%s goes back and forth: several servers answer there in turn, so that nothing can be told; give the address of each with --metrics", join(s.Mixed[:min(len(s.Mixed), maxFaults)]))
	case len(v.workers) == 0 && s.Scrapes == 0 && len(s.Unanswered) > 0:
		o.say("no page could be read: %s", join(s.Unanswered[:min(len(s.Unanswered), maxFaults)]))
	case len(v.workers) == 0 && s.Scrapes == 0:
		o.say("no server was watched: a plain endpoint tells nothing of what it holds back")
	case len(v.workers) == 0:
		o.say("in %s no page told of running requests %d times", plural.Of(s.Scrapes, "scrape"), minScrapes)
	case s.Missed > s.Scrapes:
		o.say("%d of %s failed", s.Missed, plural.Of(s.Missed+s.Scrapes, "scrape"))
	case v.unwatched() > 0 && v.holds():
		o.say("%d of %s %s requests", len(v.workers), plural.Of(len(v.workers)+v.unwatched(), "worker"), plural.Verb(len(v.workers), "tells of its", "tell of their"))
	default:
		return o
	}
	o.say("%s", v.gainLine())
	o.verdict = yes
	return o
}

// unwatched is the number of workers that a frontend names and that no page
// tells of. A page without an id goes by its address, so that its worker may be
// named twice.
func (v *seen) unwatched() int {
	silent := len(v.Span.Workers) - len(v.workers)
	if slices.ContainsFunc(v.workers, func(w Worker) bool { return !isID(w.ID) }) {
		return max(0, silent-len(v.workers))
	}
	return silent
}

func isID(s string) bool {
	_, err := strconv.ParseUint(s, 10, 64)
	return err == nil
}

// foreign holds when the servers hold more than was sent to them.
func foreign(v *seen) (o opinion) {
	if v.inEngines() <= (1+foreignShare)*v.streams+2 {
		return o
	}
	o.say("%s", v.placesLine())
	o.but("%.1f of them are not ours", v.inEngines()-v.streams)
	return o.decided()
}
