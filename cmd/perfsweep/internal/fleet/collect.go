package fleet

import (
	"context"
	"fmt"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
)

const (
	// follows is how often the printed lines are looked for, quiet how long
	// without any line a follow lasts.
	follows = 3
	quiet   = 5 * time.Second
	// opens is how long the lines may take to begin: an API server asks the node
	// for them, which may not answer.
	opens = callTime
)

// collect reads what all generators recorded.
func (r *run) collect(ctx context.Context, id string) ([]loadgen.Part, error) {
	parts := make([]loadgen.Part, len(r.crew))
	index := map[*member]int{}
	for i, m := range r.crew {
		index[m] = i
	}
	err := each(r.crew, func(m *member) error {
		p, err := m.collect(ctx, id, r.began)
		if err != nil {
			return err
		}
		p.Name, p.Offset, p.Uncertainty = m.pod.Name(), m.offset, m.uncertainty
		parts[index[m]] = p
		return nil
	})
	return parts, err
}

// collect puts the records together from the printed lines; what is missing is
// printed again, and in the end fetched by calls. They are held against the sum
// that the generator told: lines are only the way.
func (m *member) collect(ctx context.Context, id string, since time.Time) (loadgen.Part, error) {
	var p loadgen.Part
	size, sum := m.last.Bytes, m.last.Sum
	if size < 1 || size > maxBlob {
		return p, fmt.Errorf("generator %s recorded %d bytes: 1 to %d are possible", m.pod.Name(), size, maxBlob)
	}
	a := newAssembly(id, size)
	for try := range follows {
		if try > 0 {
			if _, err := m.ask(ctx, pathPrint, &call{Run: id, Frames: a.missing()}); err != nil {
				return p, err
			}
		}
		if m.follow(ctx, a, since.Add(m.offset)); len(a.missing()) == 0 {
			break
		}
	}
	var blob []byte
	if len(a.missing()) == 0 {
		blob = a.blob()
	}
	if sumOf(blob) != sum {
		var err error
		if blob, err = m.fetch(ctx, id, size); err != nil {
			return p, err
		}
	}
	if sumOf(blob) != sum {
		return p, fmt.Errorf("generator %s: what it recorded does not have the checksum that it told", m.pod.Name())
	}
	records, err := unpack(blob)
	if err == nil {
		err = p.UnmarshalBinary(records)
	}
	if err != nil {
		return p, fmt.Errorf("generator %s: %w", m.pod.Name(), err)
	}
	return p, nil
}

// follow reads lines until nothing is missing, the lines end, or none comes for
// a while.
func (m *member) follow(ctx context.Context, a *assembly, since time.Time) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	slow := time.AfterFunc(opens, cancel)
	in, err := m.pod.Lines(ctx, since)
	slow.Stop()
	if err != nil {
		return // it is tried again, and then fetched
	}
	idle := time.AfterFunc(quiet, func() { cancel(); _ = in.Close() })
	defer func() { idle.Stop(); _ = in.Close() }()
	left := len(a.missing())
	_ = lines(in, func(line []byte) bool { // a broken follow is tried again
		before := len(a.pieces)
		if a.take(line); len(a.pieces) > before {
			left--
			idle.Reset(quiet)
		}
		return left > 0
	})
}

// fetch reads the records page by page.
func (m *member) fetch(ctx context.Context, id string, size int) ([]byte, error) {
	blob := make([]byte, 0, size)
	for len(blob) < size {
		out, err := m.ask(ctx, pathPart, &call{Run: id, Offset: len(blob)})
		if err != nil {
			return nil, err
		}
		if len(out.Data) == 0 || len(blob)+len(out.Data) > size {
			return nil, fmt.Errorf("generator %s does not give what it recorded", m.pod.Name())
		}
		blob = append(blob, out.Data...)
	}
	return blob, nil
}
