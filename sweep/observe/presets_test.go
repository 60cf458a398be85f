package observe_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/perfsweep/perfsweep/knee/kneetest"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/loadgen/enginesim"
	"github.com/perfsweep/perfsweep/sweep/observe"
	"github.com/perfsweep/perfsweep/sweep/observe/observetest"
)

// labelled is a preset of the simulator with what holds it back past its knee.
type labelled struct {
	name, spec string
	want       observe.Bottleneck
	// workers is how many the deployment is known to have. A worker that is
	// gone from the start leaves no trace in what the others say, so that
	// without the number the truth is what holds the rest: their batch cap.
	workers int
	// loopback runs it in real time over sockets: nothing saturates a client
	// for which computing takes no time.
	loopback bool
	// stopped stops the client within each level. Virtual time cannot, so that
	// all it reads and writes stands still, and its result says what its beat
	// would have (loadgen stops a real one).
	stopped bool
}

func presets() []labelled {
	return append(inRealTime(), []labelled{
		{name: "batch-cap", want: observe.BatchCap},
		{name: "compute", want: observe.Compute},
		{name: "kv-bound", want: observe.KVCapacity},
		{name: "frontend-bound", want: observe.FrontendBound},
		{name: "sick-worker", want: observe.Imbalance, workers: 4},
		{name: "lost-worker", want: observe.BatchCap},
		{name: "lost-worker, count known", spec: "lost-worker", want: observe.Imbalance, workers: 4},
		{name: "stall", want: observe.Stalled},
		{name: "shedding", want: observe.Shedding},
		{name: "client stopped", spec: "batch-cap", want: observe.LoadGenerator, stopped: true},
	}...)
}

// findings measures a preset up to and past its knee.
func (l labelled) findings(t *testing.T, seed uint64) (out []observe.Finding) {
	spec := l.spec
	if spec == "" {
		spec = l.name
	}
	if !l.loopback {
		spec += "?chunk=64"
	}
	p, err := enginesim.ParseTarget(spec)
	if err != nil {
		t.Fatal(err)
	}
	p.Seed = seed
	if l.loopback {
		return l.attribute(t, p, 3*time.Second, false)
	}
	seconds := levelSeconds * time.Second
	if p.Stall > 0 {
		seconds = 60 * time.Second // in which ten windows stand still as often as they are asked to
	}
	synctest.Test(t, func(t *testing.T) { out = l.attribute(t, p, seconds, true) })
	return out
}

func (l labelled) attribute(t *testing.T, p enginesim.Params, seconds time.Duration, virtual bool) []observe.Finding {
	t.Helper()
	knee, ok := p.Knee(0.2)
	if !ok {
		t.Fatalf("%s has no knee", l.name)
	}
	sim := enginesim.New(p)
	defer func() { _ = sim.Close() }()
	d := observetest.Deployment{Base: "http://sim.invalid", Model: p.Model, GPUs: p.GPUs, Dial: sim.Dial}
	if !virtual {
		base, err := sim.Listen("127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		d.Base, d.Dial = base, nil
	}
	if l.stopped {
		(&stops{after: seconds / 2, length: 4 * time.Second}).of(&d)
	}
	for i := range p.GPUs*p.WorkersPerGPU - p.Lost {
		d.Pages = append(d.Pages, fmt.Sprintf("%s/workers/%d/metrics", d.Base, i))
	}
	spec, err := loadgen.DefaultSpec(loadgen.Synthetic)
	if err != nil {
		t.Fatal(err)
	}
	spec.ISL, spec.OSL = 16, 256 // words cost this test more than virtual time
	var perGPU []int
	for _, part := range partsOfKnee() {
		perGPU = append(perGPU, int(math.Round(part*knee)))
	}
	levels := d.Sweep(t, spec, seconds, perGPU...)
	for i := range levels {
		levels[i].Workers = l.workers
	}
	return observe.Attribute(levels)
}

// score is what became of one preset over the seeds.
type score struct{ right, wrong, unknown int }

// judge: the level past the knee must be named for what it is; no level may be
// named for anything else. Below the knee nothing need saturate.
func (s *score) judge(l labelled, findings []observe.Finding) (faults []string) {
	last := findings[len(findings)-1]
	wrong := false
	for _, f := range findings {
		if f.Bottleneck != l.want && f.Bottleneck != observe.Unknown && f.Bottleneck != observe.Headroom {
			wrong = true
		}
	}
	switch {
	case wrong || last.Bottleneck == observe.Headroom:
		s.wrong++
	case last.Bottleneck == l.want:
		s.right++
		return nil
	default:
		s.unknown++
	}
	for _, f := range findings {
		faults = append(faults, fmt.Sprintf("%d per GPU: %s; %s; against: %s", f.ConcurrencyPerGPU, f.Bottleneck,
			strings.Join(f.Evidence, "; "), strings.Join(f.Against, "; ")))
	}
	return faults
}

// TestAcceptAttribution is the labelled presets on their seeds.
func TestAcceptAttribution(t *testing.T) {
	a := kneetest.Begin(t, fullAcceptance, nil)
	var right, wrong []kneetest.Share
	for i, l := range presets() {
		if testing.Short() && i%3 != 0 {
			continue // the race detector is seven times slower
		}
		var s score
		n := 0
		for _, base := range a.Seeds {
			for k := range seedsOfEach {
				n++
				if faults := s.judge(l, l.findings(t, base*100+uint64(k))); faults != nil {
					t.Logf("%s, seed %d:\n%s", l.name, base*100+uint64(k), strings.Join(faults, "\n"))
				}
			}
		}
		t.Logf("%-26s %-16s right %d, unknown %d, wrong %d of %d", l.name, l.want, s.right, s.unknown, s.wrong, n)
		if s.wrong > 0 || !fullAcceptance && s.right < n {
			t.Errorf("%s: right %d, unknown %d, wrong %d of %d", l.name, s.right, s.unknown, s.wrong, n)
		}
		right = append(right, kneetest.Share{Of: s.right, All: n})
		wrong = append(wrong, kneetest.Share{Of: s.wrong, All: n})
	}
	// The second figure of a claim is its worst preset.
	a.Judge(t, kneetest.Shares("O1", "bottleneck named right, by preset", kneetest.AtLeast, 0.95, right))
	a.Judge(t, kneetest.Shares("O2", "bottleneck named wrong, by preset", kneetest.AtMost, 0, wrong))
}
