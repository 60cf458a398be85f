// Package plural puts counts into sentences: one run is left out, two runs are.
package plural

import (
	"fmt"
	"strconv"
	"strings"
)

// number is what may be a count. One that was computed or read from a metric is a
// float, and is told without its fraction.
type number interface {
	~int | ~int32 | ~int64 | ~uint64 | ~float64
}

func text[N number](n N) string {
	if f, ok := any(n).(float64); ok {
		return strconv.FormatFloat(f, 'f', 0, 64)
	}
	return fmt.Sprint(n)
}

// Of is a count with what it counts: 1 run, 2 runs. What is counted is given as
// one, with its adjectives; its last word is the noun.
func Of[N number](n N, one string) string {
	return text(n) + " " + Noun(n, one)
}

// Noun is what a count of n counts, without the count: run for 1, runs for others.
func Noun[N number](n N, one string) string {
	stem, y := strings.CutSuffix(one, "y")
	switch {
	case text(n) == "1":
		return one
	case y && !endsWith(stem, "a", "e", "o", "u"):
		return stem + "ies"
	case endsWith(one, "s", "x", "ch", "sh"):
		return one + "es"
	}
	return one + "s"
}

// Verb is the form of a verb whose subject is n things: is for 1, are for others.
func Verb[N number](n N, one, many string) string {
	if text(n) == "1" {
		return one
	}
	return many
}

// VerbOf is the form of a verb whose subject is n of a number of things: is for 1 of
// 2 runs and for 0 of 1 run, are for 0 of 2 runs.
func VerbOf[N number](n, of N, one, many string) string {
	if text(of) == "1" {
		return one
	}
	return Verb(n, one, many)
}

func endsWith(s string, ends ...string) bool {
	for _, e := range ends {
		if strings.HasSuffix(s, e) {
			return true
		}
	}
	return false
}
