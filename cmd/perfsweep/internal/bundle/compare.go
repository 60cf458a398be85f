package bundle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// Compare lists the leaves in which two JSON documents differ, as they are spelled:
// a number that differs in its last digit does. count is how many leaves the
// recomputed one has.
func Compare(part string, recorded, computed []byte) (diffs []Difference, count int) {
	was, err := leaves(recorded)
	if err != nil {
		return []Difference{{part, "(whole)", "unreadable: " + err.Error(), "a JSON document"}}, 0
	}
	now, err := leaves(computed)
	if err != nil {
		return []Difference{{part, "(whole)", "a JSON document", "unreadable: " + err.Error()}}, 0
	}
	names := maps.Clone(was)
	maps.Copy(names, now)
	for _, k := range slices.Sorted(maps.Keys(names)) {
		a, before := was[k]
		b, after := now[k]
		switch {
		case !before:
			diffs = append(diffs, Difference{part, k, "", b})
		case !after:
			diffs = append(diffs, Difference{part, k, a, ""})
		case a != b:
			diffs = append(diffs, Difference{part, k, a, b})
		}
	}
	if len(diffs) == 0 && !bytes.Equal(recorded, computed) {
		diffs = append(diffs, Difference{part, "(spelling)", "not as perfsweep writes it", "the same values"})
	}
	return diffs, len(now)
}

// Bounds of a document: a proposal of 400 runs has some thousand leaves, eight
// levels deep. A leaf is told with the path to it, so that a hostile document of
// some megabytes would take any amount of memory.
const (
	maxDepth  = 64
	maxLeaves = 1 << 20
	maxPaths  = 64 << 20 // bytes of all paths
)

// leaves are the scalars of a document by their path, and its empty lists and
// objects. Numbers keep their digits.
func leaves(b []byte) (map[string]string, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("reading JSON: %w", err)
	}
	out := collection{of: map[string]string{}}
	out.collect("", v, 0)
	if out.over != "" {
		return nil, errors.New(out.over)
	}
	return out.of, nil
}

// collection is what was found of a document; over says that it is beyond a bound.
type collection struct {
	of    map[string]string
	paths int
	over  string
}

func (c *collection) put(at, value string) {
	c.paths += len(at)
	switch {
	case len(c.of) == maxLeaves:
		c.over = fmt.Sprintf("it holds more than %d values", maxLeaves)
	case c.paths > maxPaths:
		c.over = fmt.Sprintf("the names of its values take more than %d bytes", maxPaths)
	default:
		c.of[at] = value
	}
}

func (c *collection) collect(at string, v any, depth int) {
	if depth > maxDepth {
		c.over = fmt.Sprintf("it is nested more than %d levels deep", maxDepth)
	}
	switch v := v.(type) {
	case map[string]any:
		for k, sub := range v {
			if c.over != "" {
				return
			}
			if at != "" {
				k = at + "." + k
			}
			c.collect(k, sub, depth+1)
		}
		if len(v) == 0 {
			c.put(at, "{}")
		}
	case []any:
		for i, sub := range v {
			if c.over != "" {
				return
			}
			c.collect(at+"["+strconv.Itoa(i)+"]", sub, depth+1)
		}
		if len(v) == 0 {
			c.put(at, "[]")
		}
	case json.Number:
		c.put(at, v.String())
	case string:
		c.put(at, strconv.Quote(v))
	default:
		c.put(at, fmt.Sprint(v))
	}
}
