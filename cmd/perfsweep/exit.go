package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/recipes"
)

// Exit codes are a contract: scripts depend on them.
const (
	exitDone         = 0   // done, or passed
	exitWorld        = 1   // unreachable, permission, disk, target failed
	exitInput        = 2   // what the user wrote: flags, overlay, input file
	exitGateFailed   = 8   // a gate failed
	exitInconclusive = 9   // inconclusive or refused: unstable, no knee, client-bound, provisional, no gate
	exitInterrupted  = 130 // interrupted; a journal that was begun is intact
)

// codeError carries an exit code through the error chain.
type codeError struct {
	code int
	err  error
}

func (e *codeError) Error() string { return e.err.Error() }
func (e *codeError) Unwrap() error { return e.err }

// badInput marks an error as the user's to correct.
func badInput(err error) error {
	if err == nil {
		return nil
	}
	return &codeError{exitInput, err}
}

func badInputf(format string, args ...any) error { return badInput(fmt.Errorf(format, args...)) }

// verdict ends a command that has already printed its answer.
type verdict struct{ code int }

func (v verdict) Error() string { return fmt.Sprintf("exit %d", v.code) }

// exitCode maps an error to its code; silent says that there is nothing more
// to print.
func exitCode(ctx context.Context, err error) (code int, silent bool) {
	var v verdict
	var ce *codeError
	var pos *recipes.PosError
	var in *loadgen.BadInputError
	var path *fs.PathError
	switch {
	case err == nil:
		return exitDone, true
	case errors.As(err, &v):
		return v.code, true
	case errors.As(err, &ce):
		return ce.code, false
	case errors.As(err, &path) && path.Path == os.Stdout.Name() && errors.Is(path, syscall.EPIPE):
		return exitWorld, true // the reader has seen enough ("| head")
	case ctx.Err() != nil:
		return exitInterrupted, false
	case errors.As(err, &pos), errors.As(err, &in):
		return exitInput, false
	}
	return exitWorld, false
}

// aicrCode folds the codes for AICR's validator, which reads a container's 2
// as "skipped": only 0 and 1 are safe.
func aicrCode(code int) int {
	if code == exitDone {
		return 0
	}
	return 1
}
