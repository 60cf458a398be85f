package pacer

import (
	"container/heap"
	"sync"
	"time"
)

// shard writes the tokens of its streams, all from one goroutine: a wake-up a
// token would cost as much as the client's.
//
// A client that stops reading blocks its shard once the socket's buffers are
// full. That shows as lateness and ends with the connection.
type shard struct {
	srv  *Server
	wake chan struct{}

	mu    sync.Mutex
	queue queue
	late  lateness

	ready []*answer // of one round
	timer *time.Timer
}

// add takes a stream over.
func (s *shard) add(a *answer) {
	s.mu.Lock()
	heap.Push(&s.queue, a)
	first := a.place == 0
	s.mu.Unlock()
	if first {
		select {
		case s.wake <- struct{}{}:
		default: // it is awake already
		}
	}
}

func (s *shard) run() {
	s.timer = time.NewTimer(time.Hour)
	defer s.timer.Stop()
	for s.wait() {
		s.round()
	}
}

const (
	// coarse is how long before a write a Go timer hands over to the kernel;
	// the timer may be a millisecond late.
	coarse = 1500 * time.Microsecond
)

// wait returns when a token may be due, false at the end.
func (s *shard) wait() bool {
	s.mu.Lock()
	d := time.Hour
	if len(s.queue) > 0 {
		d = time.Duration(s.queue[0].due - s.srv.now())
	}
	s.mu.Unlock()
	if s.srv.p.KernelSleep && d > 0 {
		if d < 2*coarse {
			// A stream added meanwhile is at most this late.
			kernelSleep(d)
			d = 0
		} else {
			d -= coarse
		}
	}
	if d <= 0 {
		select {
		case <-s.srv.done:
			return false
		default:
			return true
		}
	}
	s.timer.Reset(d)
	select {
	case <-s.timer.C:
	case <-s.wake:
	case <-s.srv.done:
		return false
	}
	return true
}

// round writes one token to every stream whose time has come.
func (s *shard) round() {
	now := s.srv.now()
	s.ready = s.ready[:0]
	s.mu.Lock()
	for len(s.queue) > 0 && s.queue[0].due <= now {
		s.ready = append(s.ready, heap.Pop(&s.queue).(*answer))
	}
	s.mu.Unlock()
	var late lateness
	kept := s.ready[:0]
	for _, a := range s.ready {
		if a.step(&late) {
			kept = append(kept, a)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.late.merge(&late)
	for _, a := range kept {
		heap.Push(&s.queue, a)
	}
}

// queue is a heap by due time.
type queue []*answer

var _ heap.Interface = (*queue)(nil)

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].due < q[j].due }
func (q queue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].place, q[j].place = i, j
}

// Push is for package heap.
func (q *queue) Push(v any) {
	a := v.(*answer)
	a.place = len(*q)
	*q = append(*q, a)
}

// Pop is for package heap.
func (q *queue) Pop() any {
	old := *q
	a := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	return a
}
