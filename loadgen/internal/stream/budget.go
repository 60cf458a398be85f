package stream

import (
	"errors"
	"sync/atomic"
)

// ErrCrowded reports that the unfinished lines of all streams that share a
// Budget have spent it.
var ErrCrowded = errors.New("the unfinished lines of all event streams together are too long for this machine's share")

// Budget bounds the memory of many Readers together, beside the little that
// each keeps anyway: MaxLine alone would let a server that never ends a line
// have 32 MiB for every stream. nil is without bound.
type Budget struct{ left atomic.Int64 }

// NewBudget makes one of some bytes.
func NewBudget(bytes int64) *Budget {
	b := &Budget{}
	b.left.Store(bytes)
	return b
}

// take reserves the memory of a buffer.
func (b *Budget) take(n int) bool {
	if b == nil || n <= keepBuffer || b.left.Add(-int64(n)) >= 0 {
		return true
	}
	b.left.Add(int64(n))
	return false
}

// give returns that of a buffer which is dropped.
func (b *Budget) give(n int) {
	if b != nil && n > keepBuffer {
		b.left.Add(int64(n))
	}
}

// Share makes r take its large buffers from b, before its first Reset.
func (r *Reader) Share(b *Budget) { r.budget = b }

// Release drops the large buffers; only a Reset may follow.
func (r *Reader) Release() {
	if r.own != nil {
		r.buf, r.own, r.r, r.w = r.own, nil, 0, 0
	}
	if cap(r.buf) > keepBuffer {
		r.budget.give(cap(r.buf))
		r.buf = nil
	}
	if cap(r.data) > keepBuffer {
		r.budget.give(cap(r.data))
		r.data = nil
	}
}

// grown makes room for n more bytes behind b in a buffer of its own size.
func (r *Reader) grown(b []byte, n int) ([]byte, bool) {
	if len(b)+n <= cap(b) {
		return b, true
	}
	size := max(2*cap(b), len(b)+n, startBuffer)
	if !r.budget.take(size) {
		return b, false
	}
	bigger := make([]byte, len(b), size)
	copy(bigger, b)
	r.budget.give(cap(b))
	return bigger, true
}
