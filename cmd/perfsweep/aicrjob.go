package main

import (
	"fmt"
	"os"
	"path"
	"slices"

	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/loadgen/aiperf"
)

// The environment of AICR's benchmark job: what is to stand before and after
// the result on stdout, and the folder for files.
const (
	sentinelEnv = "AICR_RESULT_SENTINEL"
	artifactEnv = "AICR_AIPERF_ARTIFACT_DIR"
)

// aicrScript is what AICR's benchmark job has its image's Python run, with the
// arguments of aiperf profile. In an image that has this program in the place
// of that interpreter the job works as it is.
const aicrScript = "aiperf_entrypoint.py"

// asJob turns the arguments of AICR's job into ours. Its server is ready, so
// that waiting for the model costs a few requests and gives prompts their
// length; its exit codes are 0 and 1.
func asJob(args []string) []string {
	if len(args) == 0 || path.Base(args[0]) != aicrScript {
		return args
	}
	return slices.Concat([]string{"--exit-codes", "aicr", "profile", "--wait-for-model-timeout", "120"}, args[1:])
}

// fromJob takes what the environment of AICR's job says.
func fromJob(o *aiperf.Options) {
	if dir := os.Getenv(artifactEnv); dir != "" && o.ArtifactDir == aiperf.Defaults().ArtifactDir {
		o.ArtifactDir = dir
	}
}

// framed is the result between two marks, as the parser of AICR's job wants it.
// ok is false outside of the job. What is not the whole of the run is not
// shown: the parser must not take it for that.
func framed(run aiperf.Run, asJSON []byte) (out []byte, ok bool) {
	mark := os.Getenv(sentinelEnv)
	if mark == "" {
		return nil, false
	}
	if run.Incomplete != "" || run.Result.Measured[loadgen.OK] == 0 {
		return nil, true
	}
	return fmt.Appendf(nil, "%s\n%s%s\n", mark, asJSON, mark), true
}
