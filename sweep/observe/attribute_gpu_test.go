package observe

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// gpuPage is a page in the form of NVIDIA's DCGM exporter, for GPUs that each
// say what differs from a healthy one at work.
func gpuPage(gpus ...map[string]float64) string {
	usual := map[string]float64{
		"DCGM_FI_PROF_SM_ACTIVE": 0.93, "DCGM_FI_DEV_POWER_USAGE": 640.2, "DCGM_FI_DEV_SM_CLOCK": 1980,
		"DCGM_FI_DEV_CLOCKS_EVENT_REASONS": 0, "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL": 0, "DCGM_FI_DEV_GPU_TEMP": 61,
	}
	var b strings.Builder
	for _, name := range []string{"DCGM_FI_PROF_SM_ACTIVE", "DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_DEV_SM_CLOCK", "DCGM_FI_DEV_CLOCKS_EVENT_REASONS",
		"DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", "DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_DEV_XID_ERRORS"} {
		fmt.Fprintf(&b, "# HELP %s As in the exporter's list of counters.\n# TYPE %s gauge\n", name, name)
		for i, own := range gpus {
			v, told := own[name]
			if !told {
				if v, told = usual[name]; !told {
					continue
				}
			}
			more := ""
			if name == "DCGM_FI_DEV_XID_ERRORS" {
				more = `,err_code="79",err_msg="GPU has fallen off the bus"`
			}
			fmt.Fprintf(&b, `%s{gpu="%d",UUID="GPU-%d",pci_bus_id="00000000:0%d:00.0",device="nvidia%d",modelName="NVIDIA H100 80GB HBM3",Hostname="node-1",DCGM_FI_DRIVER_VERSION="580.95.05",container="main",namespace="dynamo",pod="worker-%d"%s} %g`+"\n",
				name, i, i, i, i, i, more, v)
		}
	}
	return b.String()
}

func nodePage(cpu, memory, io float64) string {
	return fmt.Sprintf("# TYPE node_pressure_cpu_waiting_seconds_total counter\nnode_pressure_cpu_waiting_seconds_total %g\n"+
		"# TYPE node_pressure_memory_waiting_seconds_total counter\nnode_pressure_memory_waiting_seconds_total %g\n"+
		"# TYPE node_pressure_io_waiting_seconds_total counter\nnode_pressure_io_waiting_seconds_total %g\n", cpu, memory, io)
}

// hear reads pages once a second, from a second before a span of 10 s to one after it.
func hear(t *testing.T, pages ...func(second float64) string) Span {
	t.Helper()
	var all []Snapshot
	for second := -1.0; second <= 11; second++ {
		for i, page := range pages {
			s, err := Translate([]byte(page(second)), fmt.Sprintf("node-%d:9400", i), "")
			if err != nil {
				t.Fatal(err)
			}
			s.At = clock(second)
			all = append(all, s)
		}
	}
	return Summarize(all, clock(0), clock(10))
}

// What GPUs and nodes say, beside a level at which two workers are busy and
// throughput has stopped to rise: a level bound by compute.
func TestSickHardware(t *testing.T) {
	type of = map[string]float64
	const hot = 0x40 // slowed by heat, in hardware
	gpus := func(first func(second float64) of) func(float64) string {
		return func(second float64) string { return gpuPage(first(second), of{}, of{}, of{}) }
	}
	always := func(v of) func(float64) string { return gpus(func(float64) of { return v }) }
	throttled := always(of{"DCGM_FI_DEV_CLOCKS_EVENT_REASONS": hot, "DCGM_FI_DEV_SM_CLOCK": 1005})
	node := func(cpu, memory, io float64) func(float64) string {
		return func(second float64) string { return nodePage(100+cpu*second, 50+memory*second, 50+io*second) }
	}
	for name, c := range map[string]struct {
		page   func(float64) string
		change func(*Level)
		want   Bottleneck
		says   string
		never  string
	}{
		"healthy":    {page: always(of{}), want: Compute, says: "active for 93 % of the time", never: "GPU GPU-"},
		"one is hot": {page: throttled, want: Imbalance, says: "clocks of GPU GPU-0 down for 100 % of the time, at 1005 MHz"},
		"one at times": {page: gpus(func(s float64) of {
			return of{"DCGM_FI_DEV_CLOCKS_EVENT_REASONS": map[bool]float64{true: hot}[int(s)%10 == 5]}
		}), want: Compute, never: "GPU GPU-0"},
		"a new XID":       {page: gpus(func(s float64) of { return map[bool]of{true: {"DCGM_FI_DEV_XID_ERRORS": 79}}[s > 5] }), want: Imbalance, says: "GPU-0 reported the error XID 79"},
		"another XID":     {page: gpus(func(s float64) of { return of{"DCGM_FI_DEV_XID_ERRORS": 31 + 48*float64(min(1, max(0, int(s)-4)))} }), want: Imbalance, says: "XID 79"},
		"an old XID":      {page: always(of{"DCGM_FI_DEV_XID_ERRORS": 79}), want: Compute, never: "XID"},
		"memory errors":   {page: gpus(func(s float64) of { return of{"DCGM_FI_DEV_ECC_DBE_VOL_TOTAL": 3 + float64(min(2, max(0, int(s)-4)))} }), want: Imbalance, says: "GPU-0 counted 2 uncorrected"},
		"old ones":        {page: always(of{"DCGM_FI_DEV_ECC_DBE_VOL_TOTAL": 3}), want: Compute, never: "uncorrected"},
		"idle clocks":     {page: always(of{"DCGM_FI_DEV_CLOCKS_EVENT_REASONS": 1, "DCGM_FI_DEV_SM_CLOCK": 345}), want: Compute, never: "clocks of GPU"},
		"the power limit": {page: func(float64) string { p := of{"DCGM_FI_DEV_CLOCKS_EVENT_REASONS": 4}; return gpuPage(p, p, p, p) }, want: Compute, says: "the power limit held"},
		"all are hot": {page: func(float64) string { p := of{"DCGM_FI_DEV_CLOCKS_EVENT_REASONS": hot}; return gpuPage(p, p, p, p) },
			want: Compute, says: "clocks of GPU GPU-3 down for 100 %"},
		"the SMs are idle": {page: func(float64) string { p := of{"DCGM_FI_PROF_SM_ACTIVE": 0.2}; return gpuPage(p, p, p, p) },
			want: Unknown, says: "the GPUs are not what is busy"},
		"one is hot, and all workers are alike": {page: throttled, change: func(l *Level) {
			for _, w := range l.Span.Workers {
				w.Stats[OutputTokens] = counter(5000)
			}
		}, want: Unknown, says: "all 2 workers make as many tokens"},
		"one is hot, and its worker slow": {page: throttled, change: func(l *Level) {
			l.Span.Workers[0].Stats[OutputTokens], l.Span.Workers[1].Stats[OutputTokens] = counter(3000), counter(5000)
			l.Span.Workers[0].Stats[Requests], l.Span.Workers[1].Stats[Requests] = counter(60), counter(100)
		}, want: Imbalance, says: "made 3000 tokens"},
		"one is hot, and the batch is full": {page: throttled, change: func(l *Level) {
			l.Span.Frontend = capOf(16)
			l.Span.Workers = []Worker{runs(15.5, 16), runs(15.5, 16)}
		}, want: BatchCap, says: "clocks of GPU GPU-0 down"},
		"one is hot, and throughput rises":  {page: throttled, change: func(l *Level) { l.Client.OutputTokPerSec = 2010 }, want: Headroom, says: "clocks of GPU GPU-0"},
		"one is hot, and no worker is seen": {page: throttled, change: func(l *Level) { l.Span.Workers = nil }, want: Unknown, says: "clocks of GPU GPU-0"},
		"a quiet node":                      {page: node(0.3, 0.01, 0.1), want: Compute, never: "waited"},
		"a node without CPUs":               {page: node(0.8, 0, 0), want: Unknown, says: "waited for a CPU for 80 %"},
		"a node without memory":             {page: node(0, 0.3, 0), want: Unknown, says: "waited for memory for 30 %"},
		"a frontend without CPUs": {page: node(0.8, 0, 0), change: func(l *Level) {
			l.Span.Frontend = Stats{MaxNumSeqs: gauge(256), PreprocessSum: counter(50), PreprocessN: counter(1000)}
			l.Span.Workers = []Worker{runs(10, 0), runs(10, 0)}
		}, want: FrontendBound, says: "waited for a CPU for 80 %"},
		"a stall, and a node without memory": {page: node(0, 0.3, 0), change: func(l *Level) { l.Client.Series, l.Client.SeriesS = []float64{9, 9, 9, 0, 0, 0, 9, 9}, 1 },
			want: Stalled, says: "waited for memory"},
	} {
		t.Run(name, func(t *testing.T) {
			light := levelAt(8, 1000, 50, 8, Stats{MaxNumSeqs: gauge(256), PreprocessSum: counter(0.3), PreprocessN: counter(1000)}, runs(4, 0), runs(4, 0))
			l := levelAt(64, 1010, 50, 60, capOf(256), runs(32, 0), runs(32, 0))
			span := hear(t, c.page)
			l.Span.GPUs, l.Span.Node = span.GPUs, span.Node
			if c.change != nil {
				c.change(&l)
			}
			f := Attribute([]Level{light, l})[1]
			said := strings.Join(append(f.Evidence, f.Against...), "\n")
			if f.Bottleneck != c.want || !strings.Contains(said, c.says) || c.never != "" && strings.Contains(said, c.never) {
				t.Errorf("%s, want %s, with %q and without %q:\n%s", f.Bottleneck, c.want, c.says, c.never, said)
			}
		})
	}
}

// The pressure on this tool's own machine makes a level client-bound where
// tokens were read late, and says nothing where they were not.
func TestPressureHere(t *testing.T) {
	var all []Snapshot
	for second := -1.0; second <= 11; second++ {
		all = append(all, Snapshot{At: clock(second), Source: "/proc/pressure", Node: Reading{CPUPressure: 70 + 0.9*second}})
	}
	span := Summarize(all, clock(0), clock(10))
	if span.Node != nil || span.Here == nil {
		t.Fatalf("a server's node %v, this machine %v", span.Node, span.Here)
	}
	for late, want := range map[time.Duration]Bottleneck{50 * time.Millisecond: LoadGenerator, time.Millisecond: BatchCap} {
		l := levelAt(64, 1010, 900, 30, capOf(16), runs(15.5, 16), runs(15.5, 16))
		l.Span.Here, l.Client.LagP99MS = span.Here, float64(late)/1e6
		if f := Attribute([]Level{l})[0]; f.Bottleneck != want || want == LoadGenerator && !strings.Contains(f.Evidence[0], "waited for a CPU for 90 %") {
			t.Errorf("read %v late: %+v, want %s", late, f, want)
		}
	}
}
