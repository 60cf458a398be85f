package imports

import (
	"errors"
	"fmt"
	"math"
	"os"

	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/sweep"
)

// Curve is what was read of another tool's results: the runs that may be used,
// and what a reader of the answer must know of them and of those left out.
type Curve struct {
	Runs  []knee.Run
	Notes []string
}

func (c *Curve) note(format string, args ...any) {
	c.Notes = append(c.Notes, fmt.Sprintf(format, args...))
}

// maxBadShare is run gate V2's, which holds for other tools' runs as well.
const maxBadShare = 0.001

// point is one run as another tool tells of it.
type point struct {
	where       string // file, and place in it
	id          string // the tool's own name of the run, "" if it has none
	concurrency int    // total streams
	// ok and bad count requests; bad ones are failed, or cut off with their
	// tokens lost and their time kept.
	ok, bad    float64
	tokPerSec  float64
	p50, p99   float64
	itl, itl99 float64
	delivered  float64 // mean number in flight, 0 = not told
	conditions map[string]string
}

// gather turns points into a curve: per GPU, without those that failed a run
// gate. Two of one id, or two of different conditions, are an error: a copied
// folder is no repeat, and two workloads are no curve.
func gather(points []point, gpus int, notes ...string) (Curve, error) {
	c := Curve{Notes: notes}
	if gpus < 1 || gpus > sweep.MaxGPUs {
		return c, fmt.Errorf("%s: these results do not say how many GPUs were measured; give a number from 1 to %d", plural.Of(gpus, "GPU"), sweep.MaxGPUs)
	}
	seen := map[string]string{}
	few, fewest := 0, math.Inf(1)
	for i, p := range points {
		if p.id != "" && seen[p.id] != "" {
			return Curve{}, fmt.Errorf("%s: the run %.80q is in %s already; remove the copy", p.where, p.id, seen[p.id])
		}
		seen[p.id] = p.where
		if key := differs(points[0].conditions, p.conditions); key != "" {
			return Curve{}, fmt.Errorf("%s: %s is %.80s, but %.80s in %s; only runs of one workload make a curve",
				p.where, key, orNone(p.conditions[key]), orNone(points[0].conditions[key]), points[0].where)
		}
		if p.concurrency%gpus != 0 {
			return Curve{}, fmt.Errorf("%s: a concurrency of %d is no whole number per GPU on %s", p.where, p.concurrency, plural.Of(gpus, "GPU"))
		}
		if i >= MaxRuns {
			return Curve{}, fmt.Errorf("%s: more than %d runs", p.where, MaxRuns)
		}
		if total := p.ok + p.bad; p.bad > maxBadShare*total {
			c.note("%s is not used: %.0f of %s failed or %s cut off, and the limit is %.1f %% (V2)", p.where, p.bad, plural.Of(total, "request"), plural.Verb(p.bad, "was", "were"), 100*maxBadShare)
			continue
		}
		if p.delivered > 0 && p.delivered < 0.9*float64(p.concurrency) {
			c.note("%s: %.1f of %s %s in flight on average, ramp and drain included", p.where, p.delivered, plural.Of(p.concurrency, "stream"), plural.Verb(p.concurrency, "was", "were"))
		}
		r := knee.Run{
			ConcurrencyPerGPU: p.concurrency / gpus, TokPerSecPerGPU: p.tokPerSec / float64(gpus),
			TTFTP50MS: p.p50, TTFTP99MS: p.p99, ITLMS: p.itl, ITLP99MS: p.itl99,
		}
		if p.ok < sweep.P99Requests {
			r.TTFTP99MS, r.ITLP99MS = 0, 0
			few, fewest = few+1, min(fewest, p.ok)
		}
		c.Runs = append(c.Runs, r)
	}
	if few > 0 {
		c.note("TTFT p99 of %s is not used: it needs %d requests, and there were as few as %.0f", plural.Of(few, "run"), sweep.P99Requests, fewest)
	}
	if len(c.Runs) == 0 {
		return Curve{}, errors.New(c.Notes[len(c.Notes)-1] + "; no run is left")
	}
	return c, nil
}

// differs is the first condition, by name, that two runs do not share.
func differs(a, b map[string]string) string {
	first := ""
	for _, m := range []map[string]string{a, b} {
		for k := range m {
			if a[k] != b[k] && (first == "" || k < first) {
				first = k
			}
		}
	}
	return first
}

func orNone(s string) string {
	if s == "" {
		return "not told"
	}
	return s
}

// openFile opens a regular file and nothing else: a link may lead anywhere, and
// a pipe would hold the reader for ever.
func openFile(path string) (*os.File, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file (links are not followed)", path)
	}
	return os.Open(path)
}

// number is a value that must be there, finite and positive.
func number(name, key string, v *float64) (float64, error) {
	switch {
	case v == nil:
		return 0, fmt.Errorf("%s: %s is missing", name, key)
	case !(*v > 0) || math.IsInf(*v, 0):
		return 0, fmt.Errorf("%s: %s is %v; it must be greater than 0", name, key, *v)
	}
	return *v, nil
}

// numberOrNone is a value that may be absent, which other tools write as 0, too.
func numberOrNone(name, key string, v *float64) (float64, error) {
	if v == nil || *v == 0 {
		return 0, nil
	}
	return number(name, key, v)
}

// streams is a concurrency that must be there.
func streams(name, key string, v *int) (int, error) {
	switch {
	case v == nil:
		return 0, fmt.Errorf("%s: %s is missing", name, key)
	case *v < 1 || *v > 1<<30:
		return 0, fmt.Errorf("%s: %s is %d; it must be between 1 and %d", name, key, *v, 1<<30)
	}
	return *v, nil
}

// count is a number of requests, 0 where it is absent.
func count(name, key string, v *float64) (float64, error) {
	if v == nil {
		return 0, nil
	}
	if !(*v >= 0) || *v > 1<<53 {
		return 0, fmt.Errorf("%s: %s is %v; it must be a count", name, key, *v)
	}
	return *v, nil
}
