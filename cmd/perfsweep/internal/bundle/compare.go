package bundle

import (
	"bytes"
	"encoding/json"
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

// leaves are the scalars of a document by their path, and its empty lists and
// objects. Numbers keep their digits.
func leaves(b []byte) (map[string]string, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("reading JSON: %w", err)
	}
	out := map[string]string{}
	collect(out, "", v)
	return out, nil
}

func collect(into map[string]string, at string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, sub := range v {
			if at != "" {
				k = at + "." + k
			}
			collect(into, k, sub)
		}
		if len(v) == 0 {
			into[at] = "{}"
		}
	case []any:
		for i, sub := range v {
			collect(into, at+"["+strconv.Itoa(i)+"]", sub)
		}
		if len(v) == 0 {
			into[at] = "[]"
		}
	case json.Number:
		into[at] = v.String()
	case string:
		into[at] = strconv.Quote(v)
	default:
		into[at] = fmt.Sprint(v)
	}
}
