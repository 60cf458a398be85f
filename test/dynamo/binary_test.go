//go:build dynamo || verify

package dynamo

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// exitInconclusive is the exit status of what gives no verdict, and of a
// PROVISIONAL calibration.
const exitInconclusive = 9

// build builds the binary that users run.
func build(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "perfsweep")
	cmd := exec.Command("go", "build", "-o", bin, "./cmd/perfsweep")
	cmd.Dir = filepath.Join("..", "..")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	return bin
}

// answer is what a command came to.
type answer struct {
	stdout, stderr []byte
	exit           int
	took           time.Duration
}

// execute runs the binary in dir and ends it at the limit, which is a failure.
func execute(t *testing.T, limit time.Duration, dir, bin string, args ...string) answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, args...)
	cmd.Dir = dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	begun := time.Now()
	err := cmd.Run()
	a := answer{stdout: stdout.Bytes(), stderr: stderr.Bytes(), took: time.Since(begun)}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		t.Fatalf("%s did not end within %s; stderr:\n%s", cmd, limit, &stderr)
	case errors.As(err, &exit):
		a.exit = exit.ExitCode()
	case err != nil:
		t.Fatalf("%s: %v", cmd, err)
	}
	return a
}
