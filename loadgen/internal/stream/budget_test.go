package stream

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// TestBudgetIsShared: what one Reader holds another cannot, in one line or in
// many of one event, fed or read; what is released can be taken again.
func TestBudgetIsShared(t *testing.T) {
	const size = 4 * keepBuffer
	line := "data: " + strings.Repeat("x", size)
	lines := strings.Repeat("data: "+strings.Repeat("x", 1000)+"\n", size/1000)
	for _, in := range []string{line, lines} {
		for _, fed := range []bool{true, false} {
			const all = 18 * keepBuffer // a buffer grows by doubling: one event fits, two do not
			b := NewBudget(all)
			var one, two Reader
			hold := func(r *Reader) error {
				r.Share(b)
				if !fed {
					r.Reset(io.MultiReader(strings.NewReader(in), stuck{}))
					_, err := r.Next()
					return err
				}
				r.Reset(nil)
				for rest := []byte(in); len(rest) > 0; {
					n := min(len(rest), 1000)
					r.Feed(rest[:n])
					if _, err := r.Next(); err != ErrMore {
						return err
					}
					rest = rest[n:]
				}
				return ErrMore
			}
			if err := hold(&one); err == ErrCrowded {
				t.Fatalf("fed %t: the first: %v", fed, err)
			}
			if err := hold(&two); err != ErrCrowded {
				t.Errorf("fed %t: the second, with %d left: %v", fed, b.left.Load(), err)
			}
			one.Release()
			if err := hold(&two); err == ErrCrowded {
				t.Errorf("fed %t: after a release: %v", fed, err)
			}
			one.Reset(nil)
			two.Release()
			two.Release()
			if left := b.left.Load(); left != all {
				t.Errorf("fed %t: %d of %d left at the end", fed, left, all)
			}
		}
	}
}

var errStuck = errors.New("stuck")

// stuck is a source that breaks.
type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, errStuck }
