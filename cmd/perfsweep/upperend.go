package main

import (
	"errors"

	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/sweep"
	"github.com/perfsweep/perfsweep/sweep/observe"
)

// The upper end of an adaptive sweep: two times the batch cap where the server
// publishes one, within these bounds, else sweep.DefaultUpperEnd.
const (
	lowestUpperEnd  = 32
	highestUpperEnd = 1024
)

// whyUpperEnd says how an upper end follows from two times the cap of a GPU.
func whyUpperEnd(twice int) string {
	switch {
	case twice < lowestUpperEnd:
		return "the least"
	case twice > highestUpperEnd:
		return "the most without --max-concurrency-per-gpu"
	}
	return "two times the cap of a GPU"
}

// upperEnd rests on the batch cap that the server publishes, if it does.
func (c *campaign) upperEnd(gpus int) int {
	caps, err := observe.CapacityOf(c.ears.frontend, c.census.ready)
	if errors.Is(err, observe.ErrNoWorkerList) && c.census.missing != nil {
		err = c.census.missing
	}
	if err != nil {
		c.say("note: sweeping up to %d per GPU, as no batch cap is known (%v)", sweep.DefaultUpperEnd, err)
		return sweep.DefaultUpperEnd
	}
	n := min(max(2*caps.Streams()/gpus, lowestUpperEnd), highestUpperEnd)
	c.say("batch cap %d on each of %s, %s: sweeping up to %d per GPU, %s", caps.MaxNumSeqs, plural.Of(caps.Workers, "worker"), plural.Of(gpus, "GPU"), n, whyUpperEnd(2*caps.Streams()/gpus))
	return n
}
