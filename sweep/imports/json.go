package imports

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// document reads one JSON file into v.
func document(name string, r io.Reader, v any) error {
	text, err := plainText(&bounded{r: r, limit: maxBytes})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	d := json.NewDecoder(text)
	if err := value(d, name, "", v); err != nil {
		return err
	}
	return ended(d, name)
}

// ended demands that nothing follows.
func ended(d *json.Decoder, name string) error {
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("%s: something follows the JSON document", name)
	}
	return nil
}

// value reads the next value into v; an error names the key.
func value(d *json.Decoder, name, key string, v any) error {
	err := d.Decode(v)
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind):
		if kind.Field != "" && key != "" {
			key += "."
		}
		return fmt.Errorf("%s: %s%s is a %s, which it must not be", name, key, kind.Field, kind.Value)
	case err != nil:
		return fmt.Errorf("%s: not JSON: %w", name, err)
	}
	return nil
}

// object walks over an object and array over an array, whose members each
// must consume; nothing of it is held.
func object(d *json.Decoder, name, key string, each func(member string) error) error {
	return inside(d, name, key, '{', func(int) error {
		t, err := d.Token()
		if err != nil {
			return fmt.Errorf("%s: not JSON: %w", name, err)
		}
		member, ok := t.(string)
		if !ok {
			return fmt.Errorf("%s: %s is not an object", name, key)
		}
		return each(member)
	})
}

func array(d *json.Decoder, name, key string, each func(i int) error) error {
	return inside(d, name, key, '[', each)
}

func inside(d *json.Decoder, name, key string, open json.Delim, each func(i int) error) error {
	t, err := d.Token()
	if err != nil {
		return fmt.Errorf("%s: not JSON: %w", name, err)
	}
	if t != open {
		return fmt.Errorf("%s: %s does not begin with %s", name, key, open)
	}
	for i := 0; d.More(); i++ {
		if err := each(i); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return fmt.Errorf("%s: not JSON: %w", name, err)
	}
	return nil
}

// skip passes over the next value, however large.
func skip(d *json.Decoder, name string) error {
	for depth := 0; ; {
		t, err := d.Token()
		if err != nil {
			return fmt.Errorf("%s: not JSON: %w", name, err)
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

// Kind says which tool wrote a JSON file.
type Kind string

// The kinds of JSON files that make curves.
const (
	KindAIPerf   Kind = "AIPerf"
	KindGuideLLM Kind = "GuideLLM"
	KindUnknown  Kind = ""
)

// KindOf looks at the first keys of a JSON document.
func KindOf(r io.Reader) Kind {
	kind, found := KindUnknown, errors.New("found")
	text, err := plainText(&bounded{r: r, limit: maxBytes})
	if err != nil {
		return KindUnknown
	}
	d := json.NewDecoder(text)
	_ = object(d, "", "", func(member string) error { // what cannot be read is of no kind
		switch member {
		case "aiperf_version":
			kind = KindAIPerf
		case "benchmarks":
			kind = KindGuideLLM
		default:
			return skip(d, "")
		}
		return found
	})
	return kind
}
