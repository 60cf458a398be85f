package main

import (
	"errors"

	"github.com/perfsweep/perfsweep/sweep"
	"github.com/perfsweep/perfsweep/sweep/observe"
)

// The upper end of an adaptive sweep: two times the batch cap where the server
// publishes one, within these bounds, else sweep.DefaultUpperEnd.
const (
	lowestUpperEnd  = 32
	highestUpperEnd = 1024
)

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
	c.say("batch cap %d on each of %s: sweeping up to %d per GPU", caps.MaxNumSeqs, plural(caps.Workers, "worker"), n)
	return n
}
