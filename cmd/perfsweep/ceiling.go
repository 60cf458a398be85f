package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/selftest"
	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/recipes"
)

// ceilingFile is the place of this machine's ceiling: a home may be shared by
// several machines, and another version or number of CPUs is another ceiling.
func ceilingFile() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no cache folder: %w", err)
	}
	host, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("no name of this machine: %w", err)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%d\n%s", host, runtime.GOMAXPROCS(0), version))
	return filepath.Join(dir, "perfsweep", "selftest-"+hex.EncodeToString(sum[:8])+".json"), nil
}

// keepCeiling stores a selftest for later sweeps.
func keepCeiling(r selftest.Result) (string, error) {
	path, err := ceilingFile()
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(r)
	if err != nil {
		return "", fmt.Errorf("writing the selftest as JSON: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", fmt.Errorf("making the cache folder: %w", err)
	}
	if err := recipes.WriteFile(path, append(text, '\n')); err != nil {
		return "", fmt.Errorf("keeping the selftest: %w", err)
	}
	return path, nil
}

// maxCeilingFile is far above what a selftest writes.
const maxCeilingFile = 1 << 20

// knownCeiling is what a selftest of this version on this machine has found,
// nil if none was made or it cannot be read: nothing is claimed then.
func knownCeiling() *selftest.Result {
	path, err := ceilingFile()
	if err != nil {
		return nil
	}
	info, err := regularFile(path)
	if err != nil || info.Size() > maxCeilingFile {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	var r selftest.Result
	if json.Unmarshal(text, &r) != nil || r.Ceiling == nil || !(r.Ceiling.TokPerSec > 0) || r.CPUs != runtime.GOMAXPROCS(0) || r.Version != version || !r.Quiet() {
		return nil
	}
	return &r
}

// ceilingGuard warns before a level asks for more chunks than this machine was
// found to read. It knows the gap between chunks of one stream, first from the
// preflight, then from the last run: engines slow down under load, so streams
// over gap is the most that a larger level can ask for.
type ceilingGuard struct {
	known  *selftest.Result
	gapMS  float64
	warned map[int]bool
	hinted bool
}

func newCeilingGuard(known *selftest.Result, gapMS float64) *ceilingGuard {
	return &ceilingGuard{known: known, gapMS: gapMS, warned: map[int]bool{}}
}

// hintRate is where a machine with two busy CPUs begins to matter.
const hintRate = 20_000

// before returns what there is to say about a level, once a level.
func (g *ceilingGuard) before(streams int) string {
	if !(g.gapMS > 0) || g.warned[streams] {
		return ""
	}
	asks := float64(streams) * 1000 / g.gapMS
	switch {
	case g.known == nil && asks > hintRate && !g.hinted:
		g.hinted = true
		return fmt.Sprintf("%s may bring up to %.0f chunks/s; what this machine can read is not known: perfsweep selftest measures it", plural.Of(streams, "stream"), asks)
	case g.known == nil || asks <= g.known.Ceiling.TokPerSec:
		return ""
	}
	g.warned[streams] = true
	least := ""
	if g.known.Ceiling.AtLeast {
		least = "at least "
	}
	return fmt.Sprintf("%s may bring up to %.0f chunks/s, and this machine was found to read %s%.0f (perfsweep selftest, %s): a level that is client-bound is INVALID; use a larger machine, or fewer streams",
		plural.Of(streams, "stream"), asks, least, g.known.Ceiling.TokPerSec, g.known.Started.Format(time.DateOnly))
}

// after takes the gap that a run has seen.
func (g *ceilingGuard) after(gapP50MS float64) {
	if gapP50MS > 0 {
		g.gapMS = gapP50MS
	}
}
