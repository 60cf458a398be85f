package sweep

import (
	"context"
	"errors"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
)

// BridgePlan is how many pairs with another tool are made at the point of a campaign
// that is over, and how many more may be where some are INVALID.
type BridgePlan struct{ Pairs, Spare int }

// aiperfStart is how long AIPerf takes from its launch to its first request
// (docs/comparison.md).
const aiperfStart = 5 * time.Second

// Left is how many pairs at a concurrency per GPU are still missing, and how many more
// may be made at most.
func (b BridgePlan) Left(c Curve, n int) (missing, most int) {
	made, valid := c.PairsAt(n)
	if missing = b.Pairs - len(valid); missing <= 0 {
		return 0, 0
	}
	most = max(b.Pairs+b.Spare-made, 0)
	return min(missing, most), most
}

// addPairs adds the pairs that follow a campaign: d is its end as it is foreseen, over
// says that it is reached.
func (c Curve) addPairs(o *Outlook, b BridgePlan, d Decision, over bool, f *foresight) {
	n := d.Point.ConcurrencyPerGPU
	if d.Unstable() {
		n = 0
	}
	if b.Pairs <= 0 || over && n <= 0 {
		return
	}
	missing, most := b.Left(c, n)
	if !over { // the point may come out elsewhere, where there is no pair
		most = b.Pairs + b.Spare
	}
	o.MostRuns, o.MostHere = o.MostRuns+2*most, o.MostHere+2*most
	if n <= 0 { // none is foreseen, so that no pair is either
		return
	}
	one := f.length(Step{ConcurrencyPerGPU: n, Kind: loadgen.Gate, Purpose: Confirm})
	o.PairRuns = 2 * missing
	o.Runs += o.PairRuns
	o.Time += time.Duration(missing) * (2*one + aiperfStart)
	if over && missing > 0 {
		o.Next = one
	}
}

// spent is what counts against MaxWall: the time of the runs, and of those of pairs as
// far as their tools tell it.
func (c Curve) spent() time.Duration {
	sum := total(c.Runs)
	for _, p := range c.Bridge {
		sum += seconds(p.AIPerf.Seconds) + seconds(p.Perfsweep.Seconds)
	}
	return sum
}

// WithinWall bounds what follows by what is left of the campaign's time, and OutOfTime
// tells whether that is over.
func (c *Campaign) WithinWall(ctx context.Context) (context.Context, context.CancelFunc) {
	left := c.Curve.Plan.MaxWall
	if left <= 0 {
		return context.WithCancel(ctx)
	}
	left -= c.elsewhere + c.Curve.spent()
	return context.WithTimeoutCause(ctx, left, errOutOfTime)
}

// OutOfTime reports whether a context of WithinWall ended because the campaign's time
// is over.
func OutOfTime(ctx context.Context) bool {
	return ctx.Err() != nil && errors.Is(context.Cause(ctx), errOutOfTime)
}
