package pacer

import (
	"math/bits"
	"time"
)

// lateness counts writes by how far behind their time they were, in buckets of
// a quarter of an octave: a number a chunk would be the server's largest cost.
type lateness struct {
	buckets [64 * 4]int64
	n       int64
	max     int64
}

func (l *lateness) add(ns int64) {
	ns = max(ns, 0)
	l.buckets[bucketOf(ns)]++
	l.n++
	l.max = max(l.max, ns)
}

func (l *lateness) merge(o *lateness) {
	if o.n == 0 {
		return
	}
	for i, n := range o.buckets {
		l.buckets[i] += n
	}
	l.n += o.n
	l.max = max(l.max, o.max)
}

func bucketOf(ns int64) int {
	if ns < 4 {
		return int(ns)
	}
	octave := bits.Len64(uint64(ns)) - 1
	return octave*4 + int(ns>>(octave-2))&3
}

// upper is the largest value of a bucket.
func upper(bucket int) int64 {
	if bucket < 4 {
		return int64(bucket)
	}
	octave, quarter := bucket/4, int64(bucket%4)
	return (4+quarter+1)<<(octave-2) - 1
}

// quantile is an upper bound of the q-quantile, at most a quarter too large.
func (l *lateness) quantile(q float64) time.Duration {
	rest := int64(q*float64(l.n) + 0.999999)
	for i, n := range l.buckets {
		if rest -= n; n > 0 && rest <= 0 {
			return time.Duration(min(upper(i), l.max))
		}
	}
	return 0
}
