package main

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/kube"
)

func TestLoadPods(t *testing.T) {
	for _, tt := range []struct {
		pods          string
		gpus, streams int
		want          int
	}{
		{"auto", 1, 100, 1},
		{"auto", 1, 513, 2},
		{"auto", 8, 100, 8},
		{"auto", 8, 8 * 1024, 16},
		{"auto", 8, 4, 4},
		{"auto", 72, 72 * 1024, mostAutoPods},
		{"3", 8, 100, 3},
		{"256", 8, 8192, 256},
		{"0", 8, 100, 0},
		{"257", 8, 8192, 0},
		{"many", 8, 100, 0},
		{"9", 1, 8, 0},
	} {
		n, why, err := (&loadFlags{pods: tt.pods}).count(tt.gpus, tt.streams)
		var code *codeError
		if n != tt.want || (err != nil) != (tt.want == 0) || err != nil && (!errors.As(err, &code) || code.code != exitInput) || err == nil && why == "" {
			t.Errorf("--load-pods %s, %d GPUs, %d streams: %d, %q, %v; want %d", tt.pods, tt.gpus, tt.streams, n, why, err, tt.want)
		}
	}
}

func TestLoadSpec(t *testing.T) {
	good := loadFlags{image: "r/perfsweep:1", cpu: "500m", memory: "1Gi", wait: time.Minute, nodeSelector: []string{"pool=cpu"}, tolerations: []string{"dedicated=bench:NoSchedule"}, apiKeySecret: "keys/openai"}
	s, err := good.spec(func() string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	if s.SecretEnv[workerKeyEnv] != (kube.SecretKey{Name: "keys", Key: "openai"}) || s.NodeSelector["pool"] != "cpu" || s.Tolerations[0] != (kube.Toleration{Key: "dedicated", Value: "bench", Effect: "NoSchedule"}) {
		t.Errorf("%+v", s)
	}
	for want, change := range map[string]func(*loadFlags){
		"--load-image IMAGE":                func(l *loadFlags) { l.image = "" },
		"--load-node-selector":              func(l *loadFlags) { l.nodeSelector = []string{"pool"} },
		"--load-toleration":                 func(l *loadFlags) { l.tolerations = []string{"a:Never"} },
		"--load-wait":                       func(l *loadFlags) { l.wait = 0 },
		"--load-cpu":                        func(l *loadFlags) { l.cpu = "two" },
		"--load-memory":                     func(l *loadFlags) { l.memory = "1 GB" },
		"NAME/KEY of a Secret, not the key": func(l *loadFlags) { l.apiKeySecret = "sk-12345" },
	} {
		bad := good
		change(&bad)
		_, err := bad.spec(func() string { return "" })
		var code *codeError
		if err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, &code) || code.code != exitInput || strings.Contains(err.Error(), "sk-12345") {
			t.Errorf("%v, want exit 2 and %q", err, want)
		}
	}
}

func TestHostsOf(t *testing.T) {
	got := hostsOf([]string{"http://qwen-frontend.team.svc:8000", "http://10.0.0.1:9090/metrics", "http://[fd00::1]:9090/metrics", "https://a/b", "http://10.0.0.1:9090/other", "file:///proc/pressure"})
	if want := []string{"qwen-frontend.team.svc:8000", "10.0.0.1:9090", "[fd00::1]:9090", "a:443"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
