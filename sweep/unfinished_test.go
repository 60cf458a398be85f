package sweep

import (
	"bytes"
	"context"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/loadgen/enginesim"
)

// failing makes every nth answer that passes say that it ended in an error.
type failing struct {
	net.Conn
	nth           int64
	passed, falls *atomic.Int64
}

func (f failing) Read(b []byte) (int, error) {
	n, err := f.Conn.Read(b)
	well, badly := []byte(`"finish_reason":"length"`), []byte(`"finish_reason":"error" `)
	for rest := b[:n]; ; {
		i := bytes.Index(rest, well)
		if i < 0 {
			return n, err
		}
		if f.passed.Add(1)%f.nth == 0 {
			copy(rest[i:], badly)
			f.falls.Add(1)
		}
		rest = rest[i+len(well):]
	}
}

// TestUnfinishedAnswersFailV2: two answers in a thousand that the engine ended
// in an error, with usage and [DONE] as ever, make a run INVALID; one in two
// thousand does not.
func TestUnfinishedAnswersFailV2(t *testing.T) {
	p, err := enginesim.ParseTarget("kneed")
	if err != nil {
		t.Fatal(err)
	}
	spec := loadgen.WorkloadSpec{Name: loadgen.Synthetic, ISL: 8, OSL: 8, IgnoreEOS: true, Seed: 1}
	for nth, invalid := range map[int64]bool{2000: false, 500: true} {
		synctest.Test(t, func(t *testing.T) {
			sim := enginesim.New(p)
			var passed, falls atomic.Int64
			w, err := loadgen.NewWorkload(spec, loadgen.Preflight{})
			if err != nil {
				t.Fatal(err)
			}
			r, err := loadgen.Run(t.Context(), loadgen.Config{
				BaseURL: "http://sim.invalid", Model: p.Model, Concurrency: 16, Kind: loadgen.Gate, Workload: w,
				Limits: loadgen.Limits{MinRequests: 2000, WarmUpRequests: -1},
				Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
					c, err := sim.Dial(ctx, network, address)
					return failing{c, nth, &passed, &falls}, err
				},
			})
			_ = sim.Close()
			synctest.Wait()
			if err != nil || falls.Load() == 0 || r.All[loadgen.Unfinished] != falls.Load() || r.All.Bad() != falls.Load() {
				t.Fatalf("%v, %v of %d, %v", err, r.All, falls.Load(), r.Errors)
			}
			broken := slices.ContainsFunc(Validate(r, spec, 0, 0), func(v Violation) bool { return v.Gate == "V2" })
			if broken != invalid {
				t.Errorf("1 in %d: %v", nth, Validate(r, spec, 0, 0))
			}
		})
	}
}
