package kube

import (
	"math"
	"strconv"
)

// object is a Kubernetes object, or a part of one, as JSON decodes it.
type object = map[string]any

// maxItems bounds how much of one list in an object is read.
const maxItems = 1000

// dig follows keys into an object; nil where one is missing.
func dig(o any, path ...string) any {
	for _, k := range path {
		m, ok := o.(map[string]any)
		if !ok {
			return nil
		}
		o = m[k]
	}
	return o
}

func digMap(o any, path ...string) object {
	m, _ := dig(o, path...).(map[string]any)
	return m
}

// digText is a short text on one line, "" where there is none.
func digText(o any, path ...string) string {
	s, _ := dig(o, path...).(string)
	return clip(s)
}

// digInt is a whole number, also one that is written as a text; large ones are
// none, so that products of a few do not overflow.
func digInt(o any, path ...string) (n int, ok bool) {
	const largest = 1 << 20
	switch v := dig(o, path...).(type) {
	case int64:
		n, ok = int(v), v >= 0 && v <= largest
	case float64:
		n, ok = int(v), v >= 0 && v <= largest && v == math.Trunc(v)
	case string:
		var err error
		n, err = strconv.Atoi(v)
		ok = err == nil && n >= 0 && n <= largest
	}
	if !ok {
		return 0, false
	}
	return n, true
}

// digMaps are the objects of a list.
func digMaps(o any, path ...string) []object {
	list, _ := dig(o, path...).([]any)
	var out []object
	for _, v := range list[:min(len(list), maxItems)] {
		if m, ok := v.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

// digTexts are the texts of a list, at full length: arguments may be scripts.
func digTexts(o any, path ...string) []string {
	list, _ := dig(o, path...).([]any)
	var out []string
	for _, v := range list[:min(len(list), maxItems)] {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// named finds the object of a list by its name; nil where it is missing.
func named(list []object, name string) object {
	for _, o := range list {
		if digText(o, "name") == name {
			return o
		}
	}
	return nil
}
