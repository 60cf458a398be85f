package sweep

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Diff lists the fields in which two fingerprints differ, by their names in
// the journal. Two unknown fields count as equal, which holds only within one
// journal.
func (f Fingerprint) Diff(other Fingerprint) []string { return diffFields(f, other) }

// Diff lists the fields that keep now from continuing a campaign that was
// planned as p. Budgets, the window and the watch time may change, and a
// confirmation may be added to a finished sweep, a pulse to a finished check, attempts to a gate confirmed again: none
// of them changes a run already made.
func (p Plan) Diff(now Plan) []string {
	for _, v := range []*Plan{&p, &now} {
		v.MaxRuns, v.MaxWall, v.MinWatch, v.Window = 0, 0, 0, 0
	}
	if now.Confirm {
		p.Confirm = true
	}
	if !now.Reconfirm { // it goes on to as many attempts as a gate needs
		p.Reconfirm = false
	}
	if p.PulseAt == 0 {
		p.PulseAt, p.PulseRuns = now.PulseAt, now.PulseRuns
	}
	return diffFields(p, now)
}

// diffFields compares two values of one type as the journal spells them, so
// that a new field is compared from the day it is recorded.
func diffFields(a, b any) []string {
	fa, fb := map[string]string{}, map[string]string{}
	flatten(fa, "", a)
	flatten(fb, "", b)
	names := slices.Collect(maps.Keys(fa))
	for k := range fb {
		if _, both := fa[k]; !both {
			names = append(names, k)
		}
	}
	slices.Sort(names)
	var out []string
	for _, k := range names {
		if fa[k] != fb[k] {
			out = append(out, fmt.Sprintf("%s: %s, now %s", k, orUnknown(fa[k]), orUnknown(fb[k])))
		}
	}
	return out
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

// flatten writes the leaves of v under dotted JSON names. Integers stay
// integers: a 64-bit seed must not go through a float.
func flatten(into map[string]string, name string, v any) {
	if m, ok := v.(map[string]any); ok {
		for k, sub := range m {
			if name != "" {
				k = name + "." + k
			}
			flatten(into, k, sub)
		}
		return
	}
	if name != "" {
		into[name] = fmt.Sprint(v)
		return
	}
	raw, err := json.Marshal(v)
	if err != nil {
		into["(unreadable)"] = err.Error()
		return
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	m := map[string]any{}
	if err := dec.Decode(&m); err != nil {
		into["(unreadable)"] = err.Error()
		return
	}
	flatten(into, "", m)
}
