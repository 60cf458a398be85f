package calibrate

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/knee/kneetest"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
)

// clustersOf are finished campaigns without noise on clusters a, b, …, whose
// throughput is that of the first factor times their own.
func clustersOf(t *testing.T, factors ...float64) []Cluster {
	t.Helper()
	var out []Cluster
	for i, f := range factors {
		rng := rand.New(rand.NewPCG(7, 7))
		d := &deployment{law: kneetest.New(kneetest.LinearCap, rng), rng: rng, factor: f, later: time.Duration(i+1) * 72 * time.Hour}
		c := d.measure(t, confirmed(sweep.Quick))
		c.Started = c.Runs[0].Started.Add(-time.Minute)
		name := string(rune('a' + i))
		c.Fingerprint.Labels = map[string]string{
			"cluster": name, "workers": "8", "gpu_product": "GB300", "image": "sha256:0123", "precision": "FP8", "gpus_per_worker": "1",
		}
		out = append(out, Cluster{Name: name + ".bundle", Curve: c, Policy: Policy{AllowSimulated: true, Journal: SourceOf(name+".jsonl", []byte(name))}})
	}
	return out
}

// copied is for a test that bends labels and lists of runs.
func copied(clusters []Cluster) []Cluster {
	out := slices.Clone(clusters)
	for i := range out {
		out[i].Curve.Fingerprint.Labels = maps.Clone(out[i].Curve.Fingerprint.Labels)
	}
	return out
}

func pooled(t *testing.T, clusters []Cluster) Pooled {
	t.Helper()
	p, err := Pool(clusters, recipes.Gate{})
	if err != nil {
		t.Fatal(err)
	}
	if !p.Proposal.Writable {
		t.Fatalf("%s: %q", p.Proposal.Outcome, p.Proposal.Reasons)
	}
	return p
}

// TestPoolLimit: clusters count as deployments in §18.3. Their runs are without
// noise, so that the limit in units of the first cluster follows from the factors
// alone; it was computed by numerical integration of the noncentral t.
func TestPoolLimit(t *testing.T) {
	for _, c := range []struct {
		factors           []float64
		sb, f, n, k, l    float64
		basis, says, lack string
	}{
		{[]float64{1, 1, 1}, 0.02449489743, 10.59854015, 3.837209302, 3.055063266, 0.9159898349, "shrunk", "tolerance statement", "convention."},
		{[]float64{1, 0.96, 1.04}, 0.03345107093, 8.484003715, 3.46392783, 3.253311902, 0.8870969535, "shrunk", "tolerance statement", "convention."},
		{[]float64{1, 0.96}, 0.02962504892, 7.580899056, 2.390183197, 3.517535762, 0.8717831569, "assumed", "s_b stays a convention.", "tolerance statement"},
	} {
		clusters := clustersOf(t, c.factors...)
		one := Propose(clusters[0].Curve, recipes.Gate{}, clusters[0].Policy)
		p := pooled(t, clusters)
		l := p.Proposal.Limits
		if l.Deployments != len(c.factors) || l.Runs != 5*len(c.factors) || l.SBBasis != c.basis || one.Limits.Deployments != 1 {
			t.Errorf("%v: %d clusters, %d runs, %s; alone %d", c.factors, l.Deployments, l.Runs, l.SBBasis, one.Limits.Deployments)
		}
		near(t, "s_b", l.SB, c.sb, 1e-9)
		near(t, "f", l.F, c.f, 1e-7)
		near(t, "N'", l.NPrime, c.n, 1e-8)
		near(t, "k", l.K, c.k, 1e-7)
		near(t, "L", l.L/one.TokPerSecPerGPU, c.l, 1e-8)
		comment := strings.Join(p.Proposal.Comment, "\n")
		for _, want := range []string{c.says, fmt.Sprintf("From %d clusters: a (median ", len(c.factors)), "between clusters s_b", "(median " + num(one.TokPerSecPerGPU*slices.Min(c.factors)) + ", 5 runs)"} {
			if !strings.Contains(comment, want) {
				t.Errorf("%v: the comment lacks %q:\n%s", c.factors, want, comment)
			}
		}
		if strings.Contains(comment, c.lack) {
			t.Errorf("%v: the comment says %q:\n%s", c.factors, c.lack, comment)
		}
		if bound := p.Proposal.EffectiveFloorPerGPU; !(bound <= l.L) {
			t.Errorf("%v: the evaluator's bound %v is above L %v", c.factors, bound, l.L)
		}
	}
}

// TestPoolOrder: in whatever order bundles are named, one gate with one text
// results, of the slowest cluster's curve.
func TestPoolOrder(t *testing.T) {
	clusters := clustersOf(t, 1, 0.95, 1.02)
	var first []byte
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}} {
		var in []Cluster
		for _, i := range order {
			in = append(in, clusters[i])
		}
		p := pooled(t, in)
		b := encoded(t, poolSidecar(p))
		if p.Cluster.label() != "b" || first != nil && string(b) != string(first) {
			t.Errorf("order %v: cluster %s, another sidecar than before", order, p.Cluster.label())
		}
		first = b
	}
}

func poolSidecar(p Pooled) Provenance {
	e := Edit{Overlay: "o.yaml", Old: []byte("old"), New: []byte("new"), Gate: p.Proposal.Gate, At: time.Unix(0, 0).Add(1000 * time.Hour)}
	return NewProvenance(p.Cluster.Curve, p.Proposal, p.Cluster.Policy, e, nil)
}

// TestPoolSidecar: the sidecar says which clusters, can be read, and refuses ones
// that do not fit it. The slowest was measured last, which must not make the runs
// of the others older than their campaign.
func TestPoolSidecar(t *testing.T) {
	clusters := clustersOf(t, 1, 1.01, 0.97)
	p := pooled(t, clusters)
	b := encoded(t, poolSidecar(p))
	side, err := ParseProvenance("side.json", b)
	if err != nil {
		t.Fatal(err)
	}
	if len(side.Clusters) != 3 || len(side.BaselineRuns) != 15 || side.Journal.Name != "c.jsonl" {
		t.Fatalf("%+v of %d runs and journal %s", side.Clusters, len(side.BaselineRuns), side.Journal.Name)
	}
	for i, c := range side.Clusters {
		want := clusters[i]
		if c.Cluster != want.label() || c.Journal != want.Policy.Journal || c.Runs != 5 || !positive(c.TTFTP99MS) {
			t.Errorf("cluster %d: %+v", i, c)
		}
		near(t, c.Cluster, c.TokPerSecPerGPU/side.Clusters[0].TokPerSecPerGPU, []float64{1, 1.01, 0.97}[i], 1e-9)
	}
	if side.CampaignStarted != stamp(clusters[0].Curve.Started) || side.Measured != stamp(lastGateRun(clusters[2].Curve, p.Proposal.Point.ConcurrencyPerGPU)) {
		t.Errorf("begun %s, measured %s", side.CampaignStarted, side.Measured)
	}
	for _, c := range []struct {
		bend func(*Provenance)
		want string
	}{
		{func(p *Provenance) { p.Clusters = p.Clusters[:1] }, "clusters has one"},
		{func(p *Provenance) { p.Clusters = p.Clusters[1:] }, "clusters have 10 runs"},
		{func(p *Provenance) { p.Clusters[1].Cluster = "A" }, "clusters[1].cluster"},
		{func(p *Provenance) { p.Clusters[0].Cluster = " " }, "clusters[0].cluster is empty"},
		{func(p *Provenance) { p.Clusters[2].Runs = 0 }, "clusters[2] has no gate run"},
		{func(p *Provenance) { p.Clusters[2].TokPerSecPerGPU = -1 }, "clusters[2] has no gate run"},
		{func(p *Provenance) { p.Clusters[2].Journal.SHA256 = "x" }, "clusters[2].journal.sha256"},
		{func(p *Provenance) { p.Clusters[2].Journal.SHA256 = p.Clusters[1].Journal.SHA256 }, "do not have the journal"},
	} {
		bent := side
		bent.Clusters = slices.Clone(side.Clusters)
		c.bend(&bent)
		if _, err := ParseProvenance("side.json", encoded(t, bent)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// TestPoolRefuses names what keeps campaigns from being pooled: bad input where
// they are not of one thing.
func TestPoolRefuses(t *testing.T) {
	three := clustersOf(t, 1, 1, 1)
	label := func(k, v string) func([]Cluster) {
		return func(c []Cluster) { c[1].Curve.Fingerprint.Labels[k] = v }
	}
	field := func(bend func(*sweep.Fingerprint)) func([]Cluster) {
		return func(c []Cluster) { bend(&c[1].Curve.Fingerprint) }
	}
	for name, c := range map[string]struct {
		bend func([]Cluster)
		want string
	}{
		"image":           {label("image", "sha256:9"), "labels.image: sha256:0123, now sha256:9"},
		"precision":       {label("precision", "NVFP4"), "labels.precision: FP8, now NVFP4"},
		"GPUs per worker": {label("gpus_per_worker", "2"), "labels.gpus_per_worker: 1, now 2"},
		"product":         {label("gpu_product", "H100"), "labels.gpu_product: GB300, now H100"},
		"workers":         {label("workers", "4"), "labels.workers: 8, now 4"},
		"model":           {field(func(f *sweep.Fingerprint) { f.Model = "other" }), "model: " + testModel + ", now other"},
		"GPUs":            {field(func(f *sweep.Fingerprint) { f.GPUs = 2 }), "gpus: 1, now 2"},
		"effort":          {field(func(f *sweep.Fingerprint) { f.Effort = sweep.Standard }), "effort: quick, now standard"},
		"workload":        {field(func(f *sweep.Fingerprint) { f.Workload.OSL = 256 }), "workload.osl: 0, now 256"},
		"simulated":       {field(func(f *sweep.Fingerprint) { f.Simulated = false }), "simulated: true, now false"},
		"two at once":     {field(func(f *sweep.Fingerprint) { f.Model, f.Labels["image"] = "other", "x" }), "labels.image: sha256:0123, now x; model: "},
		"no cluster":      {label("cluster", " "), "--label cluster=NAME"},
		"one twice":       {label("cluster", "a"), "a.bundle and b.bundle are both of cluster a"},
		"in other case":   {func(c []Cluster) { c[0].Curve.Fingerprint.Labels["cluster"] = "C" }, "are both of cluster c"},
		"the same runs":   {func(c []Cluster) { c[2].Curve.Runs = c[0].Curve.Runs }, "a.bundle and c.bundle hold the same runs"},
		"not stated": {func(c []Cluster) {
			for i := range c {
				c[i].Curve.Fingerprint.Simulated = false
				delete(c[i].Curve.Fingerprint.Labels, "precision")
			}
		}, "a.bundle does not state precision"},
	} {
		clusters := copied(three)
		c.bend(clusters)
		_, err := Pool(clusters, recipes.Gate{})
		var bad *PolicyError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	for n := range 2 {
		if _, err := Pool(three[:n], recipes.Gate{}); err == nil || !strings.Contains(err.Error(), "needs two") {
			t.Errorf("%d clusters: %v", n, err)
		}
	}
}

// TestUnstated: what is told before the first run is what refuses after the last,
// whichever labels are missing, and an anchor asks for no more than that.
func TestUnstated(t *testing.T) {
	names := []string{"cluster", "gpu_product", "image", "precision", "gpus_per_worker"}
	two := clustersOf(t, 1, 1)
	for drop := range 1 << len(names) {
		clusters := copied(two)
		var dropped []string
		for i := range clusters {
			f := &clusters[i].Curve.Fingerprint
			f.Simulated = false
			for k, name := range names {
				if drop>>k&1 == 1 && i == 0 {
					delete(f.Labels, name)
					dropped = append(dropped, name)
				}
			}
		}
		got := Unstated(clusters[0].Curve.Fingerprint, true)
		if !slices.Equal(got, dropped) {
			t.Errorf("without %q: %q", dropped, got)
		}
		_, err := Pool(clusters, recipes.Gate{})
		if bad := new(*PolicyError); errors.As(err, bad) != (len(got) > 0) {
			t.Errorf("without %q: Pool says %v", dropped, err)
		}
		anchor := Unstated(clusters[0].Curve.Fingerprint, false)
		if slices.Contains(anchor, "gpus_per_worker") || slices.ContainsFunc(anchor, func(k string) bool { return !slices.Contains(got, k) }) {
			t.Errorf("without %q an anchor asks for %q", dropped, anchor)
		}
		clusters[0].Curve.Fingerprint.Labels["node"] = "a"
		if slices.Contains(Unstated(clusters[0].Curve.Fingerprint, false), "cluster") {
			t.Error("a node is a place")
		}
	}
	simulated := sweep.Fingerprint{Simulated: true}
	if got := Unstated(simulated, true); !slices.Equal(got, []string{"cluster"}) {
		t.Errorf("of a simulator: %q", got)
	}
	if got := Unstated(simulated, false); len(got) > 0 {
		t.Errorf("of a simulator without a bundle: %q", got)
	}
}

// TestPoolHolds: each cluster meets every gate by itself, at one point, and is
// held against the others.
func TestPoolHolds(t *testing.T) {
	if p := pooled(t, clustersOf(t, 1, 0.95)); gate(p.Proposal, "C6").State != Met || gate(p.Proposal, "C7").State != Met {
		t.Errorf("clusters are windows and anchors: C6 %s, C7 %s", gate(p.Proposal, "C6").text(), gate(p.Proposal, "C7").text())
	}
	three := clustersOf(t, 1, 1, 1)
	gateRuns := func(c *sweep.Curve, bend func(*sweep.Run)) {
		c.Runs = slices.Clone(c.Runs)
		for i := range c.Runs {
			if r := &c.Runs[i]; r.Step.Kind == loadgen.Gate {
				bend(r)
			}
		}
	}
	for name, c := range map[string]struct {
		bend func([]Cluster)
		want string
	}{
		"one is far slower": {func(c []Cluster) { c[1] = clustersOf(t, 1, 0.8)[1] }, "cluster b, b.bundle: "},
		"no gate runs": {func(c []Cluster) {
			runs := &c[2].Curve.Runs
			*runs = slices.DeleteFunc(slices.Clone(*runs), func(r sweep.Run) bool { return r.Step.Purpose == sweep.Confirm })
		}, "cluster c, c.bundle: "},
		"unsteady": {func(c []Cluster) {
			gateRuns(&c[1].Curve, func(r *sweep.Run) { r.Violations = []sweep.Violation{{Gate: "V2", Observed: "bad", Threshold: "good"}} })
		}, "cluster b, b.bundle: "},
		"one of no date": {func(c []Cluster) {
			gateRuns(&c[1].Curve, func(r *sweep.Run) {
				r.Started, r.Result.Started, r.Result.Ended = time.Time{}, time.Time{}, time.Time{}
			})
		}, "cluster b, b.bundle: the date of 5 of 5 gate runs is not known: calibrate there again"},
		"one with a run of no date": {func(c []Cluster) {
			dated := 0
			gateRuns(&c[2].Curve, func(r *sweep.Run) {
				if dated++; r.Step.Purpose == sweep.Confirm && dated%5 == 0 {
					r.Started, r.Result.Started, r.Result.Ended = time.Time{}, time.Time{}, time.Time{}
				}
			})
		}, "cluster c, c.bundle: the date of 1 of 5 gate runs is not known"},
		"a clock never set": {func(c []Cluster) {
			for i := range c {
				c[i].Policy.Now = c[1].Curve.Started
			}
		}, "by a clock that was never set"},
	} {
		clusters := copied(three)
		c.bend(clusters)
		p, err := Pool(clusters, recipes.Gate{})
		if err != nil || p.Proposal.Writable || !strings.Contains(p.Proposal.Reasons[0], c.want) {
			t.Errorf("%s: %v, writable %v, %.400q, want %q", name, err, p.Proposal.Writable, p.Proposal.Reasons[0], c.want)
		}
	}
}

// TestPoolTTFTOnly: without a floor nothing is said of how clusters spread.
func TestPoolTTFTOnly(t *testing.T) {
	clusters := clustersOf(t, 1, 1, 1)
	for i := range clusters {
		clusters[i].Policy.TTFTOnly = true
	}
	comment := strings.Join(pooled(t, clusters).Proposal.Comment, "\n")
	if !strings.Contains(comment, "From 3 clusters") || strings.Contains(comment, "Fewer than") || strings.Contains(comment, "tolerance statement") {
		t.Error(comment)
	}
}

// TestPoolPoints: clusters that confirmed different points are told to prove the
// lowest, on whatever target.
func TestPoolPoints(t *testing.T) {
	all := make([]Pooled, 3)
	for i, n := range []int{128, 96, 128} {
		all[i].Cluster.Curve.Fingerprint.Labels = map[string]string{"cluster": string(rune('a' + i))}
		all[i].Proposal.Point.ConcurrencyPerGPU = n
	}
	if why := pointsApart(all); !strings.Contains(why, "b at 96 per GPU; a, c at 128 per GPU") || !strings.Contains(why, "--concurrency-per-gpu 96") {
		t.Error(why)
	}
	if why := pointsApart(all[:1]); why != "" {
		t.Error(why)
	}
}
