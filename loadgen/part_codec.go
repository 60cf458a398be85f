package loadgen

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// codec writes a part's records, or reads them: one description of their order
// serves both. Reading checks every value against its range, and never makes
// more of a slice than the bytes that are left could fill.
type codec struct {
	out     []byte
	in      []byte
	reading bool
	err     error
}

func (c *codec) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
	c.in = nil
}

// number is a whole number in a range.
func (c *codec) number(v *int64, low, high int64) {
	if !c.reading {
		c.out = binary.AppendVarint(c.out, *v)
		return
	}
	n, size := binary.Varint(c.in)
	switch {
	case size <= 0:
		c.fail("the record is cut off or damaged")
	case n < low || n > high:
		c.fail("a value of %d where %d to %d are possible", n, low, high)
	default:
		*v, c.in = n, c.in[size:]
	}
}

// after is a number told by its distance from another one.
func (c *codec) after(v *int64, base, low, high int64) {
	d := *v - base
	c.number(&d, -high-1, high+1)
	if !c.reading {
		return
	}
	if n := base + d; n >= low && n <= high {
		*v = n
	} else {
		c.fail("a value of %d where %d to %d are possible", n, low, high)
	}
}

// maybe is after for a value of which 0 means none.
func (c *codec) maybe(v *int64, base, high int64) {
	has := *v != 0
	if c.flag(&has); has {
		c.after(v, base, 0, high)
	}
}

func (c *codec) flag(v *bool) {
	n := one(*v)
	c.number(&n, 0, 1)
	*v = n == 1
}

// float is a finite number of at least 0.
func (c *codec) float(v *float64) {
	if !c.reading {
		c.out = binary.LittleEndian.AppendUint64(c.out, math.Float64bits(*v))
		return
	}
	if len(c.in) < 8 {
		c.fail("the record is cut off")
		return
	}
	f := math.Float64frombits(binary.LittleEndian.Uint64(c.in))
	if !(f >= 0 && f <= math.MaxFloat64) {
		c.fail("a value of %v where a finite one of at least 0 is due", f)
		return
	}
	*v, c.in = f, c.in[8:]
}

// length is that of a list whose elements take so many bytes at least.
func (c *codec) length(n int, each int64, most int64) int {
	v := int64(n)
	c.number(&v, 0, min(most, int64(len(c.in))/each))
	return int(v)
}

func (c *codec) text(s *string, most int64) {
	n := c.length(len(*s), 1, most)
	if !c.reading {
		c.out = append(c.out, *s...)
		return
	}
	if c.err == nil && n <= len(c.in) {
		*s, c.in = string(c.in[:n]), c.in[n:]
	}
}

func (c *codec) texts(list *[]string) {
	n := c.length(len(*list), 1, maxTexts)
	if c.reading && n > 0 {
		*list = make([]string, n)
	}
	for i := range n {
		if c.text(&(*list)[i], maxTextBytes); c.reading {
			(*list)[i] = cleanText((*list)[i])
		}
	}
}

const (
	maxTexts, maxTextBytes = 64, 8 << 10
	// maxSpan is two days in nanoseconds, maxCount far beyond what two days
	// bring; sums of some stay inside 64 bits.
	maxSpan, maxCount = int64(48 * 3600e9), int64(1) << 44
	// maxUsage bounds a token count, which a server may have made up.
	maxUsage = int64(1) << 36
)

var errTrailing = errors.New("bytes follow the record")
