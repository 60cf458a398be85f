package loadgen

import (
	"fmt"
	"math"

	"github.com/perfsweep/perfsweep/internal/plural"
)

// WorkloadSpec describes the requests of a campaign; it is recorded in the
// journal and is part of the fingerprint.
type WorkloadSpec struct {
	// Name is "aicr", "synthetic" or "file".
	Name string `json:"name"`
	// ISL and OSL are mean input and output tokens, with standard deviations.
	// The input is the text of the prompt; what a chat template adds comes on
	// top, as with AIPerf. A file has no ISL, and its OSL is that of lines
	// which name none.
	ISL       int    `json:"isl"`
	ISLStddev int    `json:"isl_stddev"`
	OSL       int    `json:"osl"`
	OSLStddev int    `json:"osl_stddev"`
	Pool      int    `json:"pool"` // distinct prompts of a run; 0 = every request its own
	Seed      uint64 `json:"seed"`
	// SharedPrefix is the fraction of each prompt, from its beginning, that all
	// prompts of the campaign have in common.
	SharedPrefix float64 `json:"shared_prefix,omitempty"`
	// ReusePrompts lets every run send the same prompts again. Without it no
	// run sends a prompt of an earlier one, which a prefix cache would answer.
	ReusePrompts bool `json:"reuse_prompts,omitempty"`
	// IgnoreEOS asks the server for the whole output length; "aicr" never does.
	IgnoreEOS bool `json:"ignore_eos"`
	// File and FileSHA256 name a JSON Lines workload.
	File       string `json:"file,omitempty"`
	FileSHA256 string `json:"file_sha256,omitempty"`
}

// The workloads.
const (
	AICR      = "aicr"
	Synthetic = "synthetic"
	FromFile  = "file"
)

// What AICR's inference-perf job compiles in: only its lengths can be set.
const aicrPool, aicrSeed = 100, 100

// DefaultSpec returns the spec of a workload as it is without further options.
// "aicr" has the arguments of AICR's inference-perf job; "synthetic" draws a
// prompt for every request.
func DefaultSpec(name string) (WorkloadSpec, error) {
	switch name {
	case AICR:
		return WorkloadSpec{Name: AICR, ISL: 128, OSL: 128, Pool: aicrPool, Seed: aicrSeed, ReusePrompts: true}, nil
	case Synthetic:
		return WorkloadSpec{Name: Synthetic, ISL: 128, OSL: 128, Seed: 1, IgnoreEOS: true}, nil
	case FromFile:
		return WorkloadSpec{Name: FromFile}, nil
	}
	return WorkloadSpec{}, badInput("unknown workload %q: use %q, %q or a JSON Lines file", name, AICR, Synthetic)
}

// Bounds of a spec; above them a typing error is likelier than a wish. A pool
// costs no memory.
const (
	maxTokens = 1 << 20
	maxPool   = 1 << 30
)

func (s WorkloadSpec) check() error {
	switch s.Name {
	case AICR:
		return s.checkAICR()
	case Synthetic:
		return s.checkSynthetic()
	case FromFile:
		return s.checkFile()
	}
	return badInput("unknown workload %q: use %q, %q or a JSON Lines file", s.Name, AICR, Synthetic)
}

// checkAICR: anything that the evaluator's job cannot be told would make
// another workload of it, whose numbers no gate of AICR's can be held against.
func (s WorkloadSpec) checkAICR() error {
	own := WorkloadSpec{Name: AICR, ISL: s.ISL, OSL: s.OSL, Pool: aicrPool, Seed: aicrSeed, ReusePrompts: true}
	if s != own {
		return badInput("the workload %q is that of AICR's job, of which only ISL and OSL can be set: use %q for anything else", AICR, Synthetic)
	}
	return s.checkLengths()
}

func (s WorkloadSpec) checkSynthetic() error {
	switch {
	case s.Pool < 0 || s.Pool > maxPool:
		return badInput("a pool of %s: use 0 (every request its own) to %d", plural.Of(s.Pool, "prompt"), maxPool)
	case !(s.SharedPrefix >= 0 && s.SharedPrefix <= 1):
		return badInput("a shared prefix of %v: use a fraction of the prompt, 0 to 1", s.SharedPrefix)
	case s.File != "" || s.FileSHA256 != "":
		return badInput("the workload %q takes no file", Synthetic)
	}
	return s.checkLengths()
}

func (s WorkloadSpec) checkFile() error {
	switch {
	case s.ISL != 0 || s.ISLStddev != 0 || s.OSLStddev != 0 || s.Pool != 0 || s.Seed != 0 || s.SharedPrefix != 0:
		return badInput("a JSON Lines workload has prompts of its own: ISL, deviations, pool, seed and shared prefix do not apply")
	case s.OSL < 0 || s.OSL > maxTokens:
		return badInput("OSL %d must be between 1 and %d tokens", s.OSL, maxTokens)
	}
	return nil
}

func (s WorkloadSpec) checkLengths() error {
	for _, l := range []struct {
		name         string
		mean, stddev int
	}{{"ISL", s.ISL, s.ISLStddev}, {"OSL", s.OSL, s.OSLStddev}} {
		switch most := widest(l.mean); {
		case l.mean < 1 || l.mean > maxTokens:
			return badInput("%s %d must be between 1 and %d tokens", l.name, l.mean, maxTokens)
		case l.stddev < 0 || float64(l.stddev) > most:
			return badInput("a standard deviation of %d for %s %d: lengths lie between 1 and %d, so it can be 0 to %d",
				l.stddev, l.name, l.mean, 2*l.mean-1, int(most))
		}
	}
	return nil
}

// Workload makes request bodies; request i of a run is a function of the spec,
// the calibration, the run's first request number and i alone. It holds no
// prompts but those of a file, so that its size does not depend on the pool.
type Workload struct {
	spec          WorkloadSpec
	wordsPerToken float64
	numberTokens  float64
	overhead      int  // tokens of the chat template
	calibrated    bool // the server's count of prompt tokens is known
	limitField    string
	hangsUp       bool
	in, out       lengths
	lines         []filePrompt
}

// The names under which servers take the output limit.
const (
	modernLimit = "max_completion_tokens"
	legacyLimit = "max_tokens"
)

// NewWorkload builds the generator of a spec, with the prompt length
// calibration of a preflight. A file is read here, so that no run does it in
// measured time.
func NewWorkload(spec WorkloadSpec, pre Preflight) (*Workload, error) {
	if err := spec.check(); err != nil {
		return nil, err
	}
	w := &Workload{spec: spec, wordsPerToken: 1, limitField: modernLimit, hangsUp: pre.HangsUp}
	if pre.WordsPerToken > 0 && pre.WordsPerToken <= 100 {
		w.wordsPerToken, w.calibrated = pre.WordsPerToken, true
		w.numberTokens = min(max(pre.NumberTokens, 0), maxTokens)
		w.overhead = int(math.Round(min(max(pre.OverheadTokens, 0), maxTokens)))
	}
	if pre.OutputLimitField == legacyLimit {
		w.limitField = legacyLimit
	}
	if spec.Name == FromFile {
		return w, w.load()
	}
	w.in, w.out = newLengths(spec.ISL, spec.ISLStddev), newLengths(spec.OSL, spec.OSLStddev)
	return w, nil
}

// Spec returns the spec; that of a file workload has the file's digest.
func (w *Workload) Spec() WorkloadSpec { return w.spec }

// String names a workload for a human.
func (s WorkloadSpec) String() string {
	if s.Name == FromFile {
		return s.File
	}
	return fmt.Sprintf("%s %d/%d tokens", s.Name, s.ISL, s.OSL)
}

// Recorded checks a spec and returns it as a journal records it, a file with
// its digest: a file that was edited is another workload.
func (s WorkloadSpec) Recorded() (WorkloadSpec, error) {
	w, err := NewWorkload(s, Preflight{})
	if err != nil {
		return s, err
	}
	return w.spec, nil
}
