package report

import (
	"strings"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/selftest"
	"github.com/perfsweep/perfsweep/sweep"
)

// TestPlanText: each line of a plan is there where it has something to say, and
// only there; what cannot end in a gate says so and promises no second window.
func TestPlanText(t *testing.T) {
	const look = "             a first look: nothing is written from this target at quick effort; measure without --effort quick for that\n"
	base := Plan{Target: "http://e:8000", GPUs: 4, Effort: sweep.Standard, Outlook: sweep.Outlook{Runs: 20, MostRuns: 40, MostHere: 40, Time: 30 * time.Minute}, Peak: 64, WindowsApart: 30 * time.Minute, WindowRuns: 10, PeakChunksPerSec: 1000, Permissions: []string{"HTTP"}}
	for name, c := range map[string]struct {
		change     func(*Plan)
		want, lack []string
	}{
		"a campaign": {func(*Plan) {}, []string{
			"plan for http://e:8000, GPUs 4, effort standard; nothing was measured\n", "ahead        about 20 runs", "GPU-hours    2.00\n",
			"at most 10 more runs with --window 2, 30m0s later or on another --deployment\n", "peak         64 streams per GPU, 256 in all\n",
			"what it can read is not known: perfsweep selftest measures it\n", "writes       nothing: without --journal no run is kept\n", "permissions  HTTP\n",
		}, []string{"first look", "at least", "makes"}},
		"pairs":               {func(p *Plan) { p.Outlook.PairRuns = 6 }, []string{"about 20 runs to go (at most 40), 30 min; 6 of them in pairs with AIPerf\n"}, nil},
		"a first look":        {func(p *Plan) { p.Effort, p.FirstLook = sweep.Quick, true }, []string{look}, []string{"second window"}},
		"nothing left":        {func(p *Plan) { p.Finished = "it is confirmed" }, []string{"ahead        nothing: it is confirmed\n"}, []string{"GPU-hours", "about 20"}},
		"begun":               {func(p *Plan) { p.RunsDone = 3 }, []string{"; 3 are in the journal"}, nil},
		"time not known":      {func(p *Plan) { p.Untimed = true }, []string{"at least: how long a request takes", "GPU-hours    2.00 at least\n"}, nil},
		"bounded":             {func(p *Plan) { p.MaxWall = time.Hour }, []string{"--max-wall ends it after 1h0m0s"}, nil},
		"deployments":         {func(p *Plan) { p.Deployments = 3 }, []string{"confirmed on 2 more deployments, by at most 10 runs each"}, []string{"second window"}},
		"pods":                {func(p *Plan) { p.LoadPods, p.Makes = 2, []string{"a Job"} }, []string{"makes        a Job\n"}, []string{"this machine"}},
		"labels of a place":   {func(p *Plan) { p.Unstated = []string{"image", "cluster"} }, []string{"not stated   image, cluster (--label image=...): without, no anchor of another place counts (C7)\n"}, []string{"--from"}},
		"labels of a cluster": {func(p *Plan) { p.Unstated, p.Pooled = []string{"cluster"}, true }, []string{"not stated   cluster (--label cluster=...): without, --from refuses its bundle beside those of other clusters\n"}, nil},
		"all is stated":       {func(p *Plan) { p.Pooled = true }, []string{"its second window and its anchors are the bundles of the other clusters (calibrate --from); alone it needs at most 10 more runs with --window 2\n"}, []string{"not stated", "30m0s later"}},
		"its own point":       {func(p *Plan) { p.Pooled, p.Searched = true, true }, []string{"             clusters that confirm different points are not pooled: --concurrency-per-gpu N proves one on each\n"}, nil},
		"a point of no other": {func(p *Plan) { p.Searched = true }, nil, []string{"different points"}},
		"no gate anyway":      {func(p *Plan) { p.Unstated, p.FirstLook = []string{"image"}, true }, nil, []string{"not stated"}},
		"files":               {func(p *Plan) { p.Files = []string{"j.jsonl", "o.yaml"} }, []string{"writes       j.jsonl, o.yaml\n"}, nil},
		"speed not known":     {func(p *Plan) { p.PeakChunksPerSec = 0 }, []string{"its load is not known"}, nil},
		"too much for it":     {func(p *Plan) { p.Ceiling = ceiling(500) }, []string{"found to read 500: the largest levels may be client-bound, and INVALID then\n"}, nil},
		"enough":              {func(p *Plan) { p.Ceiling = ceiling(5000) }, []string{"it was found to read 5,000\n"}, []string{"client-bound"}},
	} {
		p := base
		c.change(&p)
		var b strings.Builder
		if err := PlanText(&b, p); err != nil {
			t.Fatal(err)
		}
		for _, s := range c.want {
			if !strings.Contains(b.String(), s) {
				t.Errorf("%s: lacks %q:\n%s", name, s, &b)
			}
		}
		for _, s := range c.lack {
			if strings.Contains(b.String(), s) {
				t.Errorf("%s: has %q:\n%s", name, s, &b)
			}
		}
	}
}

func ceiling(chunks float64) *selftest.Result {
	return &selftest.Result{Ceiling: &selftest.Ceiling{TokPerSec: chunks}}
}
