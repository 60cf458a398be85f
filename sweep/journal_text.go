package sweep

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// What a journal holds is printed: on terminals, in the comment of an overlay, on
// a page. What names the campaign (fingerprint, plan, id) is compared as well, and
// two names must not become one: it is refused where it holds what no terminal
// should get, when it is written and when it is read. What servers and runs said
// is cleaned when it is read.

// notPlain reports what no text of a journal's own needs: control characters,
// line ends among them, and what turns the direction of a line.
func notPlain(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}

// PlainText reports whether a text may name something in a journal's header.
func PlainText(s string) bool { return !strings.ContainsFunc(s, notPlain) }

// plainHeader refuses a header in which a name holds a control character.
func plainHeader(h headerLine) error {
	for _, part := range []struct {
		name string
		of   any
	}{{"fingerprint", h.Fingerprint}, {"plan", h.Plan}, {"id", h.ID}} {
		if at := plainly(part.name, reflect.ValueOf(part.of)); at != "" {
			return fmt.Errorf("%.120q holds a control character: name what it stands for in plain text", at)
		}
	}
	return nil
}

// plainly is the place of the first text that is not plain, "" if all are.
func plainly(at string, v reflect.Value) string {
	switch v.Kind() {
	case reflect.String:
		if !PlainText(v.String()) {
			return at
		}
	case reflect.Struct:
		for i := range v.NumField() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			if bad := plainly(at+"."+name, v.Field(i)); bad != "" {
				return bad
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 { // JSON as it came
			return plainly(at, reflect.ValueOf(string(v.Bytes())))
		}
		for i := range v.Len() {
			if bad := plainly(fmt.Sprintf("%s[%d]", at, i), v.Index(i)); bad != "" {
				return bad
			}
		}
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, k := range keys {
			if !PlainText(k.String()) {
				return at + "." + k.String()
			}
			if bad := plainly(at+"."+k.String(), v.MapIndex(k)); bad != "" {
				return bad
			}
		}
	}
	return ""
}

// cleaned puts every text below v on one line without control characters. JSON as
// it came is left to whoever reads it.
func cleaned(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if s := v.String(); !PlainText(s) {
			v.SetString(oneLine(s))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			cleaned(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				cleaned(v.Field(i))
			}
		}
	case reflect.Slice:
		if k := v.Type().Elem().Kind(); k == reflect.Uint8 || k == reflect.Float64 {
			return
		}
		for i := range v.Len() {
			cleaned(v.Index(i))
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			value := reflect.New(v.Type().Elem()).Elem()
			value.Set(v.MapIndex(k))
			cleaned(value)
			if key := k.String(); !PlainText(key) {
				v.SetMapIndex(k, reflect.Value{})
				k = reflect.ValueOf(oneLine(key)).Convert(k.Type())
			}
			v.SetMapIndex(k, value)
		}
	}
}
