package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"time"
)

// maxStart is how long a binary may take to start and say its version.
const maxStart = 50 * time.Millisecond

// check builds the release again, from a copy of the sources in another folder
// and with an empty build cache, and compares it with what lies in dir. Where one
// of the binaries is for this machine, it also measures how long that takes to start.
func (p plan) check(ctx context.Context, source, dir, scratch string, talk io.Writer) error {
	moved := filepath.Join(scratch, "elsewhere", "sources")
	if err := copySources(source, moved); err != nil {
		return fmt.Errorf("copy the sources: %w", err)
	}
	again, work := filepath.Join(scratch, "dist"), filepath.Join(scratch, "work")
	if err := p.release(ctx, moved, again, work, io.Discard, "GOCACHE="+filepath.Join(scratch, "cache")); err != nil {
		return err
	}
	if err := same(dir, again); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(talk, "%s: built again in another folder with an empty cache, and equal to the byte\n", dir)
	if !slices.Contains(p.platforms, platform{runtime.GOOS, runtime.GOARCH}) {
		return nil
	}
	took, err := start(ctx, filepath.Join(work, runtime.GOOS+"_"+runtime.GOARCH, "perfsweep"))
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(talk, "starts in %.1f ms\n", took.Seconds()*1e3)
	if took > maxStart {
		return fmt.Errorf("starts in %s, and should in %s", took, maxStart)
	}
	return nil
}

// left are the folders at the top that no source is in.
var left = []string{".git", "bin", "dist", "demo", "artifacts"}

func copySources(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch {
		case slices.Contains(left, rel) && d.IsDir():
			return filepath.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		case !d.Type().IsRegular():
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), text, 0o644)
	})
}

// same compares the files of two releases, by the list of either.
func same(dir, again string) error {
	var differ []error
	for _, pair := range [][2]string{{dir, again}, {again, dir}} {
		entries, err := os.ReadDir(pair[0])
		if err != nil {
			return err
		}
		for _, e := range entries {
			a, err := os.ReadFile(filepath.Join(pair[0], e.Name()))
			b, errB := os.ReadFile(filepath.Join(pair[1], e.Name()))
			if err = errors.Join(err, errB); err != nil {
				differ = append(differ, err)
			} else if !bytes.Equal(a, b) && pair[0] == dir {
				differ = append(differ, fmt.Errorf("%s is not the same when it is built again", e.Name()))
			}
		}
	}
	return errors.Join(differ...)
}

// start is the mean time that a binary takes to say its version, the best of
// three series: another process on this machine only ever makes it longer.
func start(ctx context.Context, binary string) (time.Duration, error) {
	const series, runs = 3, 20
	best := time.Hour
	for range series {
		began := time.Now()
		for range runs {
			if out, err := exec.CommandContext(ctx, binary, "--version").CombinedOutput(); err != nil {
				return 0, fmt.Errorf("start %s: %w\n%s", binary, err, out)
			}
		}
		best = min(best, time.Since(began)/runs)
	}
	return best, nil
}
