package sweep

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// shape is what encoding/json reads of an object, or of what an array or a map
// holds; nil is anything.
type shape struct {
	fields map[string]*shape
	elem   *shape
}

// shapeOf follows a type. What reads itself, such as raw JSON, may hold anything.
func shapeOf(t reflect.Type) *shape {
	if t.Implements(reflect.TypeFor[json.Unmarshaler]()) || reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return nil
	}
	switch t.Kind() {
	case reflect.Pointer:
		return shapeOf(t.Elem())
	case reflect.Slice, reflect.Map:
		return &shape{elem: shapeOf(t.Elem())}
	case reflect.Struct:
		s := &shape{fields: map[string]*shape{}}
		for _, f := range reflect.VisibleFields(t) {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
				s.fields[name] = shapeOf(f.Type)
			}
		}
		return s
	}
	return nil
}

// keys walks JSON that encoding/json has read, and refuses what that takes
// without a word: a key twice, of which the last one wins, and a known key in
// another spelling. Keys that are not known may be of a newer version.
type keys struct {
	b []byte
	i int
}

func (k *keys) next() byte {
	for k.b[k.i] <= ' ' {
		k.i++
	}
	return k.b[k.i]
}

func (k *keys) text() []byte {
	from := k.i
	for k.i++; k.b[k.i] != '"'; k.i++ {
		if k.b[k.i] == '\\' {
			k.i++
		}
	}
	k.i++
	return k.b[from:k.i]
}

func (k *keys) value(s *shape) error {
	switch k.next() {
	case '{':
		return k.object(s)
	case '"':
		k.text()
	case '[':
		k.i++
		for k.next() != ']' {
			var elem *shape
			if s != nil {
				elem = s.elem
			}
			if err := k.value(elem); err != nil {
				return err
			}
			if k.next() == ',' {
				k.i++
			}
		}
		k.i++
	default:
		for k.i < len(k.b) && k.b[k.i] > ' ' && k.b[k.i] != ',' && k.b[k.i] != ']' && k.b[k.i] != '}' {
			k.i++
		}
	}
	return nil
}

func (k *keys) object(s *shape) error {
	var few [64][]byte
	seen := few[:0]
	k.i++
	for k.next() != '}' {
		raw := k.text()
		name := raw[1 : len(raw)-1]
		if bytes.IndexByte(name, '\\') >= 0 {
			var plain string
			_ = json.Unmarshal(raw, &plain) // it was read before
			name = []byte(plain)
		}
		var inner *shape
		if s != nil {
			if slices.ContainsFunc(seen, func(o []byte) bool { return bytes.Equal(o, name) }) {
				return fmt.Errorf("the key %.40q stands twice in one object", name)
			}
			seen = append(seen, name)
			if inner = s.elem; s.fields != nil {
				var known bool
				if inner, known = s.fields[string(name)]; !known {
					for want := range s.fields {
						if strings.EqualFold(want, string(name)) {
							return fmt.Errorf("the key %.40q is spelled %q", name, want)
						}
					}
				}
			}
		}
		k.next()
		k.i++ // the colon
		if err := k.value(inner); err != nil {
			return err
		}
		if k.next() == ',' {
			k.i++
		}
	}
	k.i++
	return nil
}

// exactKeys reports the first key of a line that is not spelled as the type has
// it, or stands twice.
func exactKeys(line []byte, s *shape) error { return (&keys{b: line}).value(s) }
