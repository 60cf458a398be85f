package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// wantedOf says what a flag takes, with an example that can be copied. Flags that
// say it themselves, where they refuse a value, need none.
func wantedOf(f *pflag.Flag) string {
	kind, example := "", ""
	switch f.Value.Type() {
	case "int":
		kind, example = "a whole number", "8"
	case "uint64":
		kind, example = "a whole number that is not negative", "8"
	case "float64":
		kind, example = "a number", "0.5"
	case "MS":
		kind, example = "a number of milliseconds", "500"
	case "duration":
		kind, example = "a time with its unit, s, m or h", "90s"
	case "intSlice":
		kind, example = "whole numbers with commas between them", "8,16,32"
	case "bool":
		return fmt.Sprintf("true or false, or nothing for true, such as --%s", f.Name)
	case "stringSlice":
		kind, example = "words with commas between them", "model,effort"
	default:
		return "the word that --help tells"
	}
	if d := f.DefValue; d != "" && !slices.Contains([]string{"0", "0s", "[]"}, d) {
		example = d
	}
	return fmt.Sprintf("%s, such as --%s %s", kind, f.Name, example)
}

// valueError says what is wrong with the value of a flag: flag, value, what is
// wanted. The words of the standard library tell of functions and of types.
func valueError(wrong *pflag.InvalidValueError) error {
	f, value := wrong.GetFlag(), wrong.GetValue()
	given := fmt.Sprintf("--%s %.120q", f.Name, value)
	var number *strconv.NumError
	switch kind := f.Value.Type(); {
	case kind == "duration":
		if v, err := strconv.ParseFloat(value, 64); err == nil && v >= 0 {
			return fmt.Errorf("%s: its unit is missing: write --%s %ss for seconds, or m or h", given, f.Name, value)
		}
	case kind == "stringSlice":
	case !errors.As(wrong, &number): // a type of ours or AIPerf's, whose words are made for people
		return fmt.Errorf("%s: %w", given, wrong.Unwrap())
	case kind == "intSlice":
		items := strings.Split(value, ",")
		if i := slices.Index(items, number.Num); i >= 0 && len(items) > 1 {
			given += fmt.Sprintf(", value %d of %d, %.120q", i+1, len(items), items[i])
		}
	}
	if errors.Is(wrong, strconv.ErrRange) {
		return fmt.Errorf("%s: no such number can be kept; give %s", given, wantedOf(f))
	}
	return fmt.Errorf("%s: give %s", given, wantedOf(f))
}
