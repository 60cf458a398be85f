package reference

import (
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"
	"time"
)

// builder turns types into schemas as encoding/json encodes them; named structs
// are defined once.
type builder struct {
	source *Source
	raw    map[string]reflect.Type
	defs   map[string]*schema
	names  map[reflect.Type]string
}

func (b *builder) of(t reflect.Type) (*schema, error) {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return &schema{Type: "string", Format: "date-time"}, nil
	case t == reflect.TypeFor[json.RawMessage](), t.Kind() == reflect.Interface:
		return &schema{}, nil // any JSON
	case t.Implements(reflect.TypeFor[json.Marshaler]()) || reflect.PointerTo(t).Implements(reflect.TypeFor[json.Marshaler]()):
		return nil, fmt.Errorf("%s encodes itself: say here how", t)
	}
	switch t.Kind() {
	case reflect.Bool:
		return &schema{Type: "boolean"}, nil
	case reflect.String:
		return b.text(t)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return &schema{Type: "integer"}, nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return &schema{Type: "integer", Minimum: new(int)}, nil
	case reflect.Float32, reflect.Float64:
		return &schema{Type: "number"}, nil
	case reflect.Pointer:
		return b.of(t.Elem())
	case reflect.Slice, reflect.Array:
		if t == reflect.TypeFor[[]byte]() { // in base64
			return &schema{Type: "string"}, nil
		}
		items, err := b.of(t.Elem())
		return &schema{Type: "array", Items: items}, err
	case reflect.Map:
		return b.mapping(t)
	case reflect.Struct:
		return b.structure(t)
	}
	return nil, fmt.Errorf("%s has no schema", t)
}

// text is a string; one of a type with constants is one of them.
func (b *builder) text(t reflect.Type) (*schema, error) {
	out := &schema{Type: "string"}
	if t.PkgPath() == "" {
		return out, nil
	}
	d, err := b.source.of(t)
	if err != nil {
		return nil, err
	}
	out.Enum = d.enums[t.Name()]
	return out, nil
}

// mapping is an object whose keys are data.
func (b *builder) mapping(t reflect.Type) (*schema, error) {
	value, err := b.of(t.Elem())
	if err != nil {
		return nil, err
	}
	return &schema{Type: "object", Additional: value}, nil
}

func (b *builder) structure(t reflect.Type) (*schema, error) {
	if name, known := b.names[t]; known {
		return &schema{Ref: "#/$defs/" + name}, nil
	}
	out := &schema{Type: "object", Additional: false}
	if t.Name() == "" {
		return out, b.fields(out, t, true)
	}
	name := path.Base(t.PkgPath()) + "." + t.Name()
	for b.defs[name] != nil { // two packages of one name
		name += "_"
	}
	b.names[t], b.defs[name] = name, out // before its fields, which may hold it
	d, err := b.source.of(t)
	if err != nil {
		return nil, err
	}
	out.Description = d.types[t.Name()]
	return &schema{Ref: "#/$defs/" + name}, b.fields(out, t, true)
}

// fields adds those of t, and those of what it embeds in their place. What is
// embedded by a pointer may be absent.
func (b *builder) fields(out *schema, t reflect.Type, always bool) error {
	d, err := b.source.of(t)
	if err != nil {
		return err
	}
	for i := range t.NumField() {
		f := t.Field(i)
		tag := strings.Split(f.Tag.Get("json"), ",")
		switch {
		case tag[0] == "-", !f.IsExported() && !f.Anonymous:
			continue
		case f.Anonymous && tag[0] == "":
			inner, pointed := f.Type, f.Type.Kind() == reflect.Pointer
			if pointed {
				inner = inner.Elem()
			}
			if err := b.fields(out, inner, always && !pointed); err != nil {
				return err
			}
			continue
		case tag[0] == "":
			return fmt.Errorf("%s.%s has no JSON key", t, f.Name)
		case slices.Contains(tag[1:], "string"):
			return fmt.Errorf("%s.%s is encoded as a string: say here how", t, f.Name)
		}
		optional := slices.Contains(tag[1:], "omitempty") || slices.Contains(tag[1:], "omitzero")
		of := f.Type
		if raw := b.raw[tag[0]]; raw != nil && of == reflect.TypeFor[json.RawMessage]() {
			of = raw
		}
		value, err := b.of(of)
		if err != nil {
			return err
		}
		if value.Description == "" {
			value.Description = d.fields[t.Name()+"."+f.Name]
		}
		if !optional {
			value = orNull(value, f.Type)
		}
		out.Properties = append(out.Properties, property{tag[0], value})
		if always && !optional {
			out.Required = append(out.Required, tag[0])
		}
	}
	return nil
}

// orNull allows null where encoding/json writes one: for what may be nil and is
// written nevertheless.
func orNull(s *schema, t reflect.Type) *schema {
	switch t.Kind() {
	case reflect.Slice, reflect.Map:
		if name, ok := s.Type.(string); ok {
			s.Type = []string{name, "null"}
		}
	case reflect.Pointer:
		return &schema{Description: s.Description, OneOf: []*schema{{Ref: s.Ref, Type: s.Type, Items: s.Items}, {Type: "null"}}}
	}
	return s
}
