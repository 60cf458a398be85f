package fleet

import (
	"context"
	"time"
)

// of finds the task that a call is about.
func (w *worker) of(c *call) (*task, *reply) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.task == nil || w.task.id != c.Run {
		return nil, &reply{Unknown: true, Error: "no such run in this process", Process: w.process}
	}
	return w.task, nil
}

func (w *worker) await(ctx context.Context, c *call) reply {
	t, none := w.of(c)
	if none != nil {
		return *none
	}
	limit := time.Duration(min(max(c.WaitMS, 0), maxAwait.Milliseconds())) * time.Millisecond
	st := t.wait(ctx, c.Step, limit)
	return reply{Process: w.process, Status: &st}
}

func (w *worker) goOn(_ context.Context, c *call) reply {
	t, none := w.of(c)
	if none != nil {
		return *none
	}
	if t.open[c.Step] == nil {
		return reply{Error: "no such step"}
	}
	t.goOn(c.Step, w.moment(c.AtUnixNS))
	return reply{Process: w.process}
}

func (w *worker) stop(_ context.Context, c *call) reply {
	t, none := w.of(c)
	if none != nil {
		return *none
	}
	t.giveUp(c.Abort)
	return reply{Process: w.process}
}

// print prints lines again.
func (w *worker) print(_ context.Context, c *call) reply {
	t, none := w.of(c)
	if none != nil {
		return *none
	}
	t.mu.Lock()
	blob := t.blob
	t.mu.Unlock()
	w.printFrames(t.id, blob, c.Frames)
	return reply{Process: w.process}
}

// printFrames prints some lines of a blob, all where none are named.
func (w *worker) printFrames(run string, blob []byte, which []int) {
	w.out.Lock()
	defer w.out.Unlock()
	n := frames(len(blob))
	if which == nil {
		for i := range n {
			which = append(which, i)
		}
	}
	for _, i := range which[:min(len(which), n)] {
		if i < 0 || i >= n {
			continue
		}
		if _, err := w.Out.Write(frame(run, blob, i)); err != nil {
			w.Say("cannot print what was recorded: %v; it can still be fetched", err)
			return
		}
	}
}

// pageBytes of a blob fit into an answer.
const pageBytes = 512 << 10

// part gives a page of a blob.
func (w *worker) part(_ context.Context, c *call) reply {
	t, none := w.of(c)
	if none != nil {
		return *none
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if c.Offset < 0 || c.Offset >= len(t.blob) {
		return reply{Error: "there is no such page"}
	}
	return reply{Process: w.process, Data: t.blob[c.Offset:min(len(t.blob), c.Offset+pageBytes)]}
}
