//go:build verify && linux

package fleet

import (
	"context"
	"fmt"
	"math"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/loadgen/pacer"
)

// roleVariable makes the binary a generator or the server: in one process they
// would share a scheduler, which pods do not.
const roleVariable = "FLEET_ROLE"

func TestMain(m *testing.M) {
	role := os.Getenv(roleVariable)
	if role == "" {
		m.Run()
		return
	}
	if err := play(role); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// play tells its address on the first line of stdout and serves until stdin
// ends.
func play(role string) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if !strings.HasPrefix(role, "burst ") { // which reads its orders there
		go func() { _, _ = os.Stdin.Read(make([]byte, 1)); cancel() }()
	}
	if host, ok := strings.CutPrefix(role, "generator "); ok {
		return Serve(ctx, WorkerOptions{Listen: "127.0.0.1:0", Token: testToken, Allow: []string{host}, Out: os.Stdout, Say: func(_ string, args ...any) {
			fmt.Println(args...)
		}})
	}
	if role == "sink" || role == "server" {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		fmt.Println(l.Addr())
		if role == "sink" {
			return sink(ctx, l)
		}
		return paced(ctx, l)
	}
	var host string
	var streams, size int
	if _, err := fmt.Sscanf(role, "burst %s %d %d", &host, &streams, &size); err != nil {
		return fmt.Errorf("the role %q: %w", role, err)
	}
	return burst(host, streams, size)
}

// paced serves chat completions.
func paced(ctx context.Context, l net.Listener) error {
	s, err := pacer.New(pacer.Params{TTFT: 500 * time.Millisecond, ITL: 100 * time.Millisecond, KernelSleep: true})
	if err != nil {
		return err
	}
	go func() { <-ctx.Done(); _ = s.Close() }()
	return s.Serve(l)
}

// child starts a role and returns its address.
func child(t *testing.T, role string, log *memPod) string {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	addr := make(chan string, 1)
	go func() {
		first := true
		_ = lines(out, func(line []byte) bool {
			if first {
				addr <- strings.TrimSpace(string(line))
				first = false
			} else if log != nil {
				_, _ = log.Write(line)
			}
			return true
		})
	}()
	return <-addr
}

// TestVerifyStartSpread: the first sends of the measured part of 8 generators
// with 512 streams each lie within 20 ms, best of three, on one clock. Beside it
// stands what their sockets alone take on this machine, with the same server
// and with one that reads nothing: with fewer CPUs than generators these take
// turns, and the floor may itself be above 20 ms.
func TestVerifyStartSpread(t *testing.T) {
	const generators, streams, limitMS = 8, 512, 20
	host, idle := child(t, "server", nil), child(t, "sink", nil)
	run := startOf(t, host, generators, streams)
	best, bestFloor, bestIdle := math.Inf(1), math.Inf(1), math.Inf(1)
	for try := range 3 {
		unread, bare := floor(t, idle, generators, streams, requestBytes), floor(t, host, generators, streams, requestBytes)
		spread, clocks := run()
		best, bestFloor, bestIdle = min(best, spread), min(bestFloor, bare), min(bestIdle, unread)
		t.Logf("try %d: first sends within %.1f ms, clocks known to ± %.2f ms; sockets alone %.1f ms, %.1f ms to a server that does not read; %d CPUs",
			try+1, spread, clocks, bare, unread, runtime.NumCPU())
	}
	t.Logf("best: %.1f ms, sockets alone %.1f ms (ratio %.2f), unread %.1f ms (ratio %.2f)", best, bestFloor, best/bestFloor, bestIdle, best/bestIdle)
	if best > limitMS {
		t.Errorf("the first sends of %d generators with %d streams each lie within %.1f ms at best, %d ms are to be; sockets alone take %.1f ms on this machine",
			generators, streams, best, limitMS, bestFloor)
	}
}

// requestBytes is about what a request of the fleet takes on the wire.
const requestBytes = 1 << 10

// startOf makes a fleet, and returns what makes a gate run of two waves and
// tells how far apart its first sends were and how well the clocks were known,
// both in milliseconds.
func startOf(t *testing.T, host string, generators, streams int) func() (spread, clocks float64) {
	t.Helper()
	var pods []Pod
	for i := range generators {
		log := &memPod{name: fmt.Sprintf("load-%d", i), more: make(chan struct{})}
		pods = append(pods, &tcpPod{memPod: log, url: "http://" + child(t, "generator "+host, log)})
	}
	spec, err := loadgen.DefaultSpec(loadgen.Synthetic)
	if err != nil {
		t.Fatal(err)
	}
	spec.OSL = 8
	f := New(pods, testToken)
	cfg := loadgen.Config{BaseURL: "http://" + host, Kind: loadgen.Gate, Concurrency: generators * streams, Limits: loadgen.Limits{MinRequests: 2 * int64(generators*streams)}}
	pre, err := f.Preflight(t.Context(), cfg, spec)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Model = pre.Model
	if cfg.Workload, err = loadgen.NewWorkload(spec, pre); err != nil {
		t.Fatal(err)
	}
	return func() (spread, clocks float64) {
		r, err := f.Run(t.Context(), cfg, pre)
		if err != nil || r.All.Bad() > 0 {
			t.Fatalf("%v, %v", r.All, err)
		}
		for _, p := range r.LoadPods {
			clocks = max(clocks, p.ClockUncertaintyMS)
		}
		return r.StartSpreadMS, clocks
	}
}
