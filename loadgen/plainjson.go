package loadgen

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"
)

// PlainJSON says of an error of encoding/json which key holds what it must not,
// in the words of the file: the names that Go code has for its types tell its
// user nothing. Other errors stay as they are; errors.As finds the cause.
func PlainJSON(err error) error {
	var kind *json.UnmarshalTypeError
	var date *time.ParseError
	switch {
	case errors.As(err, &kind):
		what, number, _ := strings.Cut(kind.Value, " ")
		s := fmt.Sprintf("%s where %s belongs", a(what), belongs(kind.Type))
		if number != "" {
			s = fmt.Sprintf("%.40s, which is no number of its range; %s belongs there", number, belongs(kind.Type))
		}
		if kind.Field != "" {
			s = kind.Field + " is " + s
		}
		return &plainError{s, err}
	case errors.As(err, &date):
		return &plainError{fmt.Sprintf("%.60q is no date such as 2026-11-30T12:00:00Z", strings.Trim(date.Value, `"`)), err}
	case err != nil && strings.HasPrefix(err.Error(), "Time."):
		return &plainError{"a date is no text such as 2026-11-30T12:00:00Z", err}
	}
	return err
}

type plainError struct {
	text  string
	cause error
}

func (e *plainError) Error() string { return e.text }
func (e *plainError) Unwrap() error { return e.cause }

func a(what string) string {
	if what == "bool" {
		return "true or false"
	}
	if strings.ContainsRune("aeiou", rune((what + " ")[0])) {
		return "an " + what
	}
	return "a " + what
}

// belongs names what JSON has for a type of Go.
func belongs(t reflect.Type) string {
	if t == nil {
		return "something else"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return belongs(t.Elem())
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return "a whole number"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number of at least 0"
	case reflect.Slice, reflect.Array:
		return "an array"
	}
	return "an object"
}
