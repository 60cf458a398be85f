package loadgen

import (
	"context"
	"fmt"
	"time"
)

// Part is what one generator recorded of a run: MergeParts makes a Result of
// all of them. Its records travel as MarshalBinary has them; what is exported
// does not, for it is knowledge of whoever collects the parts.
type Part struct {
	// Name tells parts apart in warnings and in Result.LoadPods.
	Name string
	// Offset is how far the part's clock is ahead of the common one, Uncertainty
	// how far off that may be to either side.
	Offset, Uncertainty time.Duration

	started, ended time.Time
	streams        int
	course         course
	samples        []sample
	record         *shard // nil: nothing was recorded
	errors         map[Outcome][]string
	// What the machine and the connections told: a few fields of health, and
	// their warnings.
	health   Health
	warnings []string
	away     []absence
}

// RunPart makes one part of a run, as Config.Share and Config.Peers have it;
// see Run, whose bounds hold whatever the peers do: a part waits for them half
// a minute longer than a run could take them.
func RunPart(ctx context.Context, cfg Config) (Part, error) {
	base, err := cfg.check()
	if err != nil {
		return Part{}, err
	}
	cfg.Limits = cfg.Limits.withDefaults(cfg.Concurrency)
	if err := cfg.Workload.covers(&cfg, cfg.Limits); err != nil {
		return Part{}, err
	}
	run := &clock{start: time.Now()}
	link, err := cfg.link(base)
	if err != nil {
		return Part{}, err
	}
	client, err := newClient(&cfg, base, run)
	if err != nil {
		return Part{}, err
	}
	link.once = cfg.Workload.hangsUp
	requests, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c := &campaign{
		cfg: cfg, clock: run, net: &netStats{}, control: newControl(&cfg, run), client: client, link: link,
		errors: map[Outcome][]string{}, cancel: cancel,
		bodies: cfg.Workload.bodies(&cfg),
	}
	c.meter.off = cfg.Dial != nil // virtual time
	c.hold(ctx, requests)
	return c.part(ctx)
}

// part gathers what was recorded, after all streams have ended.
func (c *campaign) part(ctx context.Context) (Part, error) {
	p := Part{
		// A wall clock may be set back meanwhile; no run ends before it started.
		started: c.clock.start, ended: c.clock.start.Add(time.Since(c.clock.start)), streams: c.cfg.Concurrency,
		course: c.control.course, record: c.shards[0], errors: c.errors, away: c.beat.away,
	}
	for _, s := range c.shards[1:] {
		p.record.merge(s)
	}
	cancelled := false
	for i, s := range c.samples {
		p.samples = append(p.samples, s...)
		c.samples[i] = nil
	}
	for i := range p.samples {
		cancelled = cancelled || p.samples[i].outcome == Cancelled
	}
	p.health, p.warnings = c.environment()
	if ctx.Err() != nil && (c.control.state != stopped || cancelled) {
		p.course.reason = "cancelled"
	}
	if p.course.reason == "cancelled" {
		return p, fmt.Errorf("the run was interrupted: %w", ctx.Err())
	}
	return p, nil
}

// Restate tells a part's times by another clock of the same process.
func (p *Part) Restate(clock func(time.Time) time.Time) {
	p.started, p.ended = clock(p.started), clock(p.ended)
}
