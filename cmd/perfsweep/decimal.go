package main

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// decimals has every whole number of a command line and of a campaign file read as
// it is written. The flag package goes by its beginning: it takes 010 for 8, and for
// 10 in a list.
func decimals(c *cobra.Command) {
	wrap := func(f *pflag.Flag) {
		switch f.Value.Type() {
		case "int", "uint64":
			f.Value = decimal{f.Value}
		case "intSlice":
			if list, ok := f.Value.(pflag.SliceValue); ok {
				f.Value = decimalList{decimal{f.Value}, list}
			}
		}
	}
	c.PersistentFlags().VisitAll(wrap)
	c.LocalNonPersistentFlags().VisitAll(wrap)
	for _, sub := range c.Commands() {
		decimals(sub)
	}
}

// decimal is a flag of whole numbers that are written with digits alone, and begin
// with one that counts.
type decimal struct{ pflag.Value }

// Set refuses what could be read as another number.
func (d decimal) Set(s string) error {
	for n := range strings.SplitSeq(s, ",") {
		digits := strings.TrimLeft(strings.TrimSpace(n), "+-")
		if odd := strings.Trim(digits, "0123456789") != ""; odd || len(digits) > 1 && digits[0] == '0' {
			return &strconv.NumError{Func: "ParseInt", Num: n, Err: strconv.ErrSyntax}
		}
	}
	return d.Value.Set(s)
}

// decimalList is decimal for a list.
type decimalList struct {
	decimal
	pflag.SliceValue
}
