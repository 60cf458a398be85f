package reference

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
)

// Document is a JSON document that gets a schema of its own.
type Document struct {
	Name  string // of the file, without its ending
	Title string
	Of    []Form // the forms that it may have
	// Raw are the types of what is kept as it was encoded elsewhere, by its key.
	Raw map[string]reflect.Type
}

// Form is a type that is encoded, and the keys of it that are always the same.
type Form struct {
	Type  reflect.Type
	Const map[string]any
}

// schemaBase is where the schemas are published; an $id must be absolute.
const schemaBase = "https://github.com/perfsweep/perfsweep/blob/main/docs/reference/schemas/"

// schema is what is used of JSON Schema 2020-12, in the order in which it is
// read best.
type schema struct {
	Schema      string     `json:"$schema,omitempty"`
	ID          string     `json:"$id,omitempty"`
	Title       string     `json:"title,omitempty"`
	Description string     `json:"description,omitempty"`
	Ref         string     `json:"$ref,omitempty"`
	Type        any        `json:"type,omitempty"` // a string or a list of them
	Format      string     `json:"format,omitempty"`
	Const       any        `json:"const,omitempty"`
	Enum        []string   `json:"enum,omitempty"`
	Minimum     *int       `json:"minimum,omitempty"`
	OneOf       []*schema  `json:"oneOf,omitempty"`
	Items       *schema    `json:"items,omitempty"`
	Properties  properties `json:"properties,omitempty"`
	Required    []string   `json:"required,omitempty"`
	// Additional is false, or the schema of every further key.
	Additional any                `json:"additionalProperties,omitempty"`
	Defs       map[string]*schema `json:"$defs,omitempty"`
}

// properties keep the order of the type.
type properties []property

type property struct {
	key   string
	value *schema
}

func (p properties) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, one := range p {
		if i > 0 {
			b.WriteByte(',')
		}
		value, err := encode(one.value)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%q:%s", one.key, value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Schema writes the schema of a document. It is strict: a key that the type does
// not have is not valid, one that is always written is required.
func (s *Source) Schema(d Document) (File, error) {
	b := builder{source: s, raw: d.Raw, defs: map[string]*schema{}, names: map[reflect.Type]string{}}
	doc := &schema{
		Schema: "https://json-schema.org/draft/2020-12/schema", ID: schemaBase + d.Name + ".schema.json", Title: d.Title,
	}
	for _, form := range d.Of {
		one, err := b.of(form.Type)
		if err != nil {
			return File{}, fmt.Errorf("schema of %s: %w", d.Name, err)
		}
		target := one
		if one.Ref != "" {
			target = b.defs[b.names[form.Type]]
		}
		for i, p := range target.Properties {
			if v, fixed := form.Const[p.key]; fixed {
				target.Properties[i].value = &schema{Description: p.value.Description, Const: v}
			}
		}
		doc.OneOf = append(doc.OneOf, one)
	}
	if len(doc.OneOf) == 1 {
		doc.Ref, doc.OneOf = doc.OneOf[0].Ref, nil
	}
	doc.Defs = b.defs
	text, err := encode(doc)
	if err != nil {
		return File{}, fmt.Errorf("schema of %s: %w", d.Name, err)
	}
	return File{d.Name + ".schema.json", string(text)}, nil
}
