//go:build verify

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
	go func() { _, _ = os.Stdin.Read(make([]byte, 1)); cancel() }()
	if host, ok := strings.CutPrefix(role, "generator "); ok {
		return Serve(ctx, WorkerOptions{Listen: "127.0.0.1:0", Token: testToken, Allow: []string{host}, Out: os.Stdout, Say: func(_ string, args ...any) {
			fmt.Println(args...)
		}})
	}
	s, err := pacer.New(pacer.Params{TTFT: 500 * time.Millisecond, ITL: 100 * time.Millisecond, KernelSleep: true})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
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
// with 512 streams each lie within 20 ms, best of three, on one clock. With
// fewer CPUs than generators these take turns, so that it may fail on a small
// machine; the figure is printed either way.
func TestVerifyStartSpread(t *testing.T) {
	const generators, streams, limitMS = 8, 512, 20
	host := child(t, "server", nil)
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
	cfg := loadgen.Config{BaseURL: "http://" + host, Kind: loadgen.Gate, Concurrency: generators * streams, Limits: loadgen.Limits{MinRequests: 2 * generators * streams}}
	pre, err := f.Preflight(t.Context(), cfg, spec)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Model = pre.Model
	if cfg.Workload, err = loadgen.NewWorkload(spec, pre); err != nil {
		t.Fatal(err)
	}
	best := math.Inf(1)
	for try := range 3 {
		r, err := f.Run(t.Context(), cfg, pre)
		if err != nil || r.All.Bad() > 0 {
			t.Fatalf("%v, %v", r.All, err)
		}
		worst := 0.0
		for _, p := range r.LoadPods {
			worst = max(worst, p.ClockUncertaintyMS)
		}
		best = min(best, r.StartSpreadMS)
		t.Logf("try %d: first sends within %.1f ms, clocks known to ± %.2f ms, %d CPUs", try+1, r.StartSpreadMS, worst, runtime.NumCPU())
	}
	if best > limitMS {
		t.Errorf("the first sends of %d generators with %d streams each lie within %.1f ms at best, %d ms are to be", generators, streams, best, limitMS)
	}
}
