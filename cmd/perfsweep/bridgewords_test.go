package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/loadgen"
)

// AIPerf takes its keys on the command line and repeats that in what it says: no
// message has one.
func TestAIPerfRunKeepsKeys(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	const key = "sk-0123456789"
	for _, extra := range [][]string{
		{"--header", "Authorization: Bearer " + key}, {"--header=Authorization:Bearer " + key}, {"-H", "X-Key:" + key}, {"--api-key", key}, {"--api-key=" + key}, {"HF_TOKEN=" + key},
	} {
		for _, body := range []string{"exit 3", "exit 0", "echo '{' > $dir/profile_export_aiperf.json"} {
			r := fakeAIPerf(t, "echo; "+body+"\n")
			r.command = append([]string{"sh", "-c", `echo "CLI command: aiperf $1 $2"; exec sh "$0" "$@"`}, append(r.command[1:], extra...)...)
			_, _, err := r.do(t.Context())
			if err == nil || strings.Contains(err.Error(), key) || !strings.Contains(err.Error(), "CLI command") || !strings.Contains(err.Error(), notShown) {
				t.Errorf("%q, %s: %v", extra, body, err)
			}
		}
	}
}

func TestShownBridge(t *testing.T) {
	for in, want := range map[string]string{
		"aiperf": "aiperf", "aiperf=aiperf": "aiperf=aiperf", "aiperf=aiperf profile --api-key k": "aiperf=aiperf (not shown)", "aiperf=K=v aiperf": "aiperf=(not shown)",
		`aiperf="open`: "aiperf=(not shown)", "aiperf=": "aiperf=(not shown)",
	} {
		if got := shownBridge(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
	f := bridgeFlags{spec: "aiperf=HF_TOKEN=hf_secret aiperf profile", pairs: 3}
	err := f.check(&measureFlags{workloadFlags: workloadFlags{workload: loadgen.AICR}}, func(n string) bool { return n == "bridge" })
	if err == nil || strings.Contains(err.Error(), "hf_secret") || !strings.Contains(err.Error(), "write env before it") {
		t.Error(err)
	}
}

func TestSecretsIn(t *testing.T) {
	got := secretsIn([]string{"profile", "--tokenizer", "/models/qwen", "--header", "Authorization: Bearer  abcdefgh", "--extra-inputs=temperature:0", "--api-key"})
	if want := []string{"Authorization: Bearer abcdefgh", "Authorization", "abcdefgh", "Bearer"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := secretsIn([]string{"profile", "-HX-Key:abcdefgh"}), []string{"X-Key:abcdefgh", "abcdefgh"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A file that an earlier run left says of itself that it took longer than this one.
func TestAIPerfRunIsThisOne(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	body := strings.Replace(export("1280", "100", "0", "8"), `"avg":0.0001`, `"avg":3600`, 1)
	if _, _, err := fakeAIPerf(t, body).do(t.Context()); err == nil || !strings.Contains(err.Error(), "measured for 3600.0 s") {
		t.Error(err)
	}
}
