package fleet

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
)

// Fleet holds several generators that make one run together.
type Fleet struct {
	pods  []Pod
	token string
}

// New makes a fleet of pods whose control servers are guarded by a token. Pods
// need not be ready yet: each use waits a while for those that are not.
func New(pods []Pod, token string) *Fleet { return &Fleet{pods: pods, token: token} }

// Offset is how far a generator's clock is ahead of this process's.
type Offset struct {
	Pod         string
	Offset      time.Duration
	Uncertainty time.Duration // half of the shortest round trip
}

var errSoon = errors.New("not built yet")

// Clock measures the clocks of all generators.
func (f *Fleet) Clock(ctx context.Context) ([]Offset, error) { return nil, errSoon }

// Preflight is loadgen.RunPreflight, made by the first generator.
func (f *Fleet) Preflight(ctx context.Context, cfg loadgen.Config, spec loadgen.WorkloadSpec) (loadgen.Preflight, error) {
	return loadgen.Preflight{}, errSoon
}

// Run is loadgen.Run, made by all generators together; pre is what the
// workload of cfg was made with. A generator that is lost, or restarted, in the
// middle makes a Result with LostPods, which run gate V8 refuses; it is no
// error, and the next Run may succeed.
func (f *Fleet) Run(ctx context.Context, cfg loadgen.Config, pre loadgen.Preflight) (loadgen.Result, error) {
	return loadgen.Result{}, errSoon
}

// HTTP is a transport for small GETs, such as those of metrics, which the first
// generator makes: to the given hosts (HOST:PORT) only.
func (f *Fleet) HTTP(hosts ...string) http.RoundTripper { return nil }
