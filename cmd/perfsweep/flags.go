package main

import (
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/perfsweep/perfsweep/sweep"
)

// measureFlags are those of every command that can put load on a target.
type measureFlags struct {
	workloadFlags
	target    string
	gpus      int
	model     string
	journal   string
	resume    bool
	effort    string
	labels    []string
	maxWall   time.Duration
	sloTTFTMS float64
	// deployment names what is measured.
	deployment string
	metrics    []string
	net        netFlags
	load       loadFlags
	deploy     deployFlags
	kube       kubeFlags
	gpuProduct string
	set        *pflag.FlagSet // nil: of no command line
}

// given tells a flag's zero from its absence.
func (m *measureFlags) given(flag string) bool { return m.set != nil && m.set.Changed(flag) }

func (m *measureFlags) bind(f *pflag.FlagSet) {
	m.net.bind(f)
	m.load.bind(f)
	m.deploy.bind(f)
	m.kube.bind(f)
	m.set = f
	f.StringVar(&m.target, "target", "", "http(s)://HOST[:PORT][/BASE], sim:PRESET[?key=value&…], or k8s:[NAMESPACE/]NAME of a DynamoGraphDeployment (see discover)")
	f.IntVar(&m.gpus, "gpus", 0, "GPUs that serve the target; needed for http targets; a cluster knows those of a k8s: target")
	f.StringVar(&m.gpuProduct, "gpu-product", "", "k8s: targets: GPU product, as the nodes' label nvidia.com/gpu.product has it, where the nodes may not be read; the same as --label gpu_product=NAME")
	f.StringVar(&m.model, "model", "", "model to ask for (default: the overlay's, else the only one served)")
	f.StringVar(&m.journal, "journal", "", "file that is read and appended to, one fsynced line a run")
	f.BoolVar(&m.resume, "resume", false, "continue the campaign in --journal; nothing is measured twice")
	f.StringVar(&m.deployment, "deployment", "", "name of the deployment that is measured; two windows count as two deployments only if both are named (default for a k8s: target: its UID and generation)")
	f.StringArrayVar(&m.metrics, "metrics", nil, "metrics page to watch while a level runs, such as http://worker-0:9090/metrics; repeatable; off watches nothing (default: the target's own /metrics)")
	f.StringVar(&m.effort, "effort", "standard", "quick, standard or full; quick is for demos and first looks")
	m.workloadFlags.bind(f)
	f.StringArrayVar(&m.labels, "label", nil, "key=value for the fingerprint, such as image=sha256:…, workers=8, gpu_product=GB300 or routing_mode=dynamo-router; repeatable")
	f.DurationVar(&m.maxWall, "max-wall", 0, "end the campaign after this much run time, a run in progress included, and report what is known")
	f.Float64Var(&m.sloTTFTMS, "slo-ttft-ms", 2000, "largest TTFT p99 that counts as healthy")
}

func (m *measureFlags) effortValue() (sweep.Effort, error) {
	switch e := sweep.Effort(m.effort); e {
	case sweep.Quick, sweep.Standard, sweep.Full:
		return e, nil
	}
	return "", badInputf("--effort %q: use quick, standard or full", m.effort)
}

// labelMap reads the values of a flag that is given a label at a time.
func labelMap(flag string, labels []string) (map[string]string, error) {
	out := map[string]string{}
	for _, l := range labels {
		k, v, ok := strings.Cut(l, "=")
		if !ok || k == "" || v == "" || len(l) > 512 || !sweep.PlainText(l) {
			return nil, badInputf("--%s %.120q: use key=value, in one line of plain text", flag, l)
		}
		if _, dup := out[k]; dup {
			return nil, badInputf("--%s %s is given twice; drop one", flag, k)
		}
		out[k] = v
	}
	if len(out) == 0 {
		return nil, nil
	}
	return out, nil
}

// check refuses combinations before anything is opened.
func (m *measureFlags) check() error {
	switch {
	case m.target == "" && m.journal == "":
		return badInputf("nothing to do: give --target to measure, or --journal FILE to use what was measured")
	case m.resume && m.journal == "":
		return badInputf("--resume needs --journal FILE")
	case m.given("gpus") && m.gpus < 1, m.gpus > sweep.MaxGPUs: // their product with a level must not overflow
		return badInputf("--gpus %d: must be between 1 and %d", m.gpus, sweep.MaxGPUs)
	case m.maxWall < 0:
		return badInputf("--max-wall %s: must not be negative", m.maxWall)
	}
	if err := checkSLO(m.sloTTFTMS); err != nil {
		return err
	}
	// Whether it is there is said where it is opened; a folder as well.
	if info, err := os.Stat(m.journal); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return badInputf("--journal %s is not a regular file; name one", m.journal)
	}
	if m.resume && m.target == "" {
		return badInputf("--resume needs --target: a journal does not hold credentials or fault keys of its target")
	}
	return nil
}

func checkSLO(ms float64) error {
	if !(ms > 0) || ms > 1e7 {
		return badInputf("--slo-ttft-ms %v: must be a number of milliseconds greater than 0", ms)
	}
	return nil
}
