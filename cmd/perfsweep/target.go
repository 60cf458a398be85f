package main

import (
	"context"
	"fmt"
	"net"
	"strings"

	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/loadgen/enginesim"
)

// target is where the load goes.
type target struct {
	baseURL   string
	public    string // what a fingerprint may show
	gpus      int
	simulated bool
	sim       *enginesim.Sim // nil unless simulated
	// loaders make the load; nil: this process.
	loaders *loaders
	// labels are what a cluster knows of a k8s: target.
	labels map[string]string
	// place is where a k8s: target is; nil for any other.
	place *place
	// dial replaces TCP; nil outside virtual time.
	dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

// openTarget resolves --target; a simulator is started on a loopback port.
// gpus is the flag's value, 0 when it was not given.
func openTarget(s string, gpus int) (*target, error) {
	switch {
	case strings.HasPrefix(s, "sim:"):
		return openSim(strings.TrimPrefix(s, "sim:"), gpus)
	case strings.HasPrefix(s, "http://"), strings.HasPrefix(s, "https://"):
		base, err := loadgen.ParseBaseURL(s)
		if err != nil {
			return nil, badInputf("--target: %w", err)
		}
		if gpus <= 0 {
			return nil, badInputf("--target %s needs --gpus N: a URL does not tell how many GPUs serve it", base)
		}
		return &target{baseURL: base, public: base, gpus: gpus}, nil
	}
	return nil, badInputf("--target %q: use http://HOST[:PORT], https://…, sim:PRESET[?key=value&…] or k8s:NAMESPACE/NAME", redactURL(s))
}

func openSim(spec string, gpus int) (*target, error) {
	p, err := enginesim.ParseTarget(spec)
	if err != nil {
		return nil, badInputf("--target sim:%s: %w", spec, err)
	}
	if gpus > 0 && gpus != p.GPUs {
		return nil, badInputf("--gpus %d contradicts --target sim:%s, which has %d; drop --gpus or add ?gpus=%d", gpus, spec, p.GPUs, gpus)
	}
	sim := enginesim.New(p)
	url, err := sim.Listen("127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("starting the simulator for --target sim:%s: %w", spec, err)
	}
	return &target{baseURL: url, public: "sim:" + p.Public(), gpus: p.GPUs, simulated: true, sim: sim}, nil
}

// close ends what was started for a target, also where ctx has ended. An error
// says what could not be removed.
func (t *target) close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	if t.sim != nil {
		_ = t.sim.Close() // nothing to save: the process is about to end
	}
	return t.loaders.close(ctx)
}

// redactURL drops whatever could be a secret from a target that did not parse.
func redactURL(s string) string {
	if i := strings.LastIndex(s, "@"); i >= 0 {
		return redacted + s[i:]
	}
	return s
}

const redacted = "…"

// shownURL drops a login and a query, in which some pages want their key.
func shownURL(s string) string {
	address, _, query := strings.Cut(redactURL(s), "?")
	if query {
		return address + "?" + redacted
	}
	return address
}

func isRedacted(s string) bool {
	return strings.HasSuffix(s, notShown) || strings.HasPrefix(s, redacted+"@") || strings.HasSuffix(s, "?"+redacted)
}
