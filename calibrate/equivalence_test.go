package calibrate

import (
	"slices"
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
)

// likeAICR is the evaluator's own deployment of the fixture's GPUs.
func likeAICR() *recipes.Deployment {
	return &recipes.Deployment{
		RouterMode: recipes.TemplateRouter,
		Frontends:  []recipes.Component{{Name: "Frontend", Replicas: 1, Nodes: 1, Image: recipes.TemplateImage}},
		Workers: []recipes.Component{{Name: "Worker", Replicas: testGPUs, Nodes: 1, Image: recipes.TemplateImage,
			Module: "dynamo.vllm", Model: testModel, GPUs: 1}},
	}
}

// One case a line: the three states, the acceptance, the evaluator's time
// limit, and what each does to a campaign in which all else is met.
func TestEvaluatorEquivalence(t *testing.T) {
	for _, c := range []struct {
		name     string
		bend     func(*fixture)
		state    GateState
		writable bool
		says     string
		comment  string
	}{
		{"equal", func(*fixture) {}, Met, true, "equal; its job would take 6.972 s of 900 s", "gates C1 to C11 are met"},
		{"not stated", func(f *fixture) { f.policy.Deployment = nil }, Unverified, true, "unverified: not known is the deployment (--deployment-spec)", "every gate is met but C11, which is unverified"},
		{"half stated", func(f *fixture) { f.policy.Deployment.Workers[0].GPUs = 0 }, Unverified, true, "unverified: not known is GPUs of a worker", "which is unverified"},
		{"differs", func(f *fixture) { f.policy.Deployment.RouterMode = "kv" }, Unmet, false, "differs: router mode: kv, not least-loaded", "Unmet: C11"},
		{"differs, accepted", func(f *fixture) {
			f.policy.Deployment.RouterMode, f.policy.AcceptDeploymentDiff = "kv", true
		}, Accepted, true, "differs: router mode", "router mode: kv, not least-loaded), accepted with --accept-deployment-diff"},
		{"differs in two fields", func(f *fixture) {
			f.policy.Deployment.Frontends[0].Replicas, f.policy.Deployment.Workers[0].Flags = 2, []string{"--max-num-seqs 64"}
		}, Unmet, false, "frontends: 2, not 1; flag of the worker: --max-num-seqs 64", ""},
		{"nothing to accept", func(f *fixture) { f.policy.AcceptDeploymentDiff = true }, Met, true, "equal", ""},
		// 9·128·OSL/21148.5 = 900 s at OSL 16,522.3.
		{"a job just in time", func(f *fixture) { answersOf(f, 16522) }, Met, true, "of 900 s", ""},
		{"a job cut off", func(f *fixture) { answersOf(f, 16523); f.policy.AcceptDeploymentDiff = true }, Unmet, false, "its job would take 900", ""},
	} {
		f := allMet()
		f.policy.Deployment = likeAICR()
		c.bend(f)
		p := f.propose()
		g := gate(p, "C11")
		if g.State != c.state || !strings.Contains(g.Observed, c.says) || p.Writable != c.writable {
			t.Errorf("%s: writable %v, %s, %+v", c.name, p.Writable, p.Outcome, g)
		}
		if !strings.Contains(strings.Join(p.Comment, " "), c.comment) {
			t.Errorf("%s: the comment lacks %q: %q", c.name, c.comment, p.Comment)
		}
		if want := c.state == Met; want == slices.ContainsFunc(p.Reasons, func(s string) bool { return strings.HasPrefix(s, "C11 ") }) {
			t.Errorf("%s: reasons %q", c.name, p.Reasons)
		}
	}
}

func answersOf(f *fixture, osl int) {
	f.curve.Fingerprint.Workload.OSL, f.policy.Anchors[0].Curve.Fingerprint.Workload.OSL = osl, osl
}

// allMet is a real campaign in which every gate is met but C11: a second
// window, and a second node.
func allMet() *fixture {
	f := withAnchor(1, nil)
	n := len(f.curve.Runs)
	f.add(sweep.Confirm, 128, 21100, 680)
	f.add(sweep.Confirm, 128, 21000, 670)
	f.add(sweep.Confirm, 128, 21200, 660)
	for i := n; i < len(f.curve.Runs); i++ {
		r := &f.curve.Runs[i]
		r.Window, r.Started = 2, r.Started.Add(2*Regression.WindowGap())
		r.Result.Started, r.Result.Ended = r.Started, r.Started.Add(60e9)
	}
	return f
}

// A simulation's deployment is nobody's: waived when allowed, but not where
// something was seen to differ.
func TestEquivalenceOfASimulation(t *testing.T) {
	f := newFixture().simulated()
	if g := gate(f.propose(), "C11"); g.State != Waived {
		t.Errorf("%+v", g)
	}
	f.policy.Deployment = likeAICR()
	f.policy.Deployment.RouterMode = "kv"
	if p := f.propose(); gate(p, "C11").State != Unmet || p.Writable {
		t.Errorf("%+v", gate(p, "C11"))
	}
}

// A real campaign with all that it needs is written, and each of the things
// from outside is needed.
func TestRealTargetIsWritten(t *testing.T) {
	if p := allMet().propose(); p.Outcome != OutcomeOK || !p.Writable {
		t.Fatalf("%s: %q", p.Outcome, p.Reasons)
	}
	f := allMet()
	f.policy.Anchors = nil
	if p := f.propose(); p.Writable {
		t.Errorf("without an anchor: %s", p.Outcome)
	}
	f = allMet()
	f.curve.Runs = f.curve.Runs[:10]
	if p := f.propose(); p.Writable {
		t.Errorf("with one window: %s", p.Outcome)
	}
	f = allMet()
	f.curve.Fingerprint.Effort = sweep.Quick
	if p := f.propose(); p.Writable {
		t.Errorf("with quick runs: %s", p.Outcome)
	}
}
