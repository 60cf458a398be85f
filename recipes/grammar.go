package recipes

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// problem is what is wrong with one value.
type problem struct{ rule, msg, remedy string }

// read sets the field that the constraint name stands for. Names that are not
// of the inference check are left alone. A blank input is absent, as in AICR.
func (g *Gate) read(name, value string) (p *problem) {
	switch name {
	case NameModel:
		g.Model, p = readModel(value)
	case NameRouting:
		g.RoutingMode, p = readText(value, `^(dynamo-router|gateway-epp)$`, "bad-routing-mode", "dynamo-router or gateway-epp")
	case NameConcurrency:
		g.ConcurrencyPerGPU, p = readCount(value)
	case NameFloorPerGPU:
		g.FloorPerGPU, p = readThreshold(value, ">=", "tok/s", "tokens/s", "tokens/sec", "tok/s/GPU", "tokens/s/GPU", "tokens/sec/GPU")
	case NameFloor:
		g.Floor, p = readThreshold(value, ">=", "tok/s", "tokens/s", "tokens/sec")
	case NameCeiling:
		g.CeilingTTFTP99MS, p = readThreshold(value, "<=", "ms")
	}
	return p
}

func readModel(value string) (string, *problem) {
	return readText(value, `^[A-Za-z0-9][A-Za-z0-9._/-]*$`, "bad-model", "a Hugging Face repository id such as Qwen/Qwen3-8B")
}

// ValidModel says whether an overlay can pin the model.
func ValidModel(name string) error {
	if m, p := readModel(name); p != nil {
		return fmt.Errorf("model %s; %s", p.msg, p.remedy)
	} else if m == "" {
		return errors.New("the model has no name")
	}
	return nil
}

func readText(value, pattern, rule, wanted string) (string, *problem) {
	if strings.TrimSpace(value) == "" {
		return "", nil
	}
	if len(value) > 200 || !regexp.MustCompile(pattern).MatchString(value) {
		return "", &problem{rule, fmt.Sprintf("%q is not valid", clip(value)), "write " + wanted}
	}
	return value, nil
}

func readCount(value string) (int, *problem) {
	if strings.TrimSpace(value) == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(value, 10, 32)
	if err != nil || n <= 0 || value[0] == '0' || value[0] == '+' {
		return 0, &problem{"bad-integer", fmt.Sprintf("%q is not a positive whole number", clip(value)), `write digits only, such as "256"`}
	}
	return int(n), nil
}

// readThreshold reads "OP N", optionally with a unit after a space. It is
// stricter than AICR, whose number parser lets NaN, negative and hexadecimal
// values through: those would make a gate that always passes.
func readThreshold(value, op string, units ...string) (float64, *problem) {
	form := fmt.Sprintf(`write "%s N"`, op)
	v := strings.TrimSpace(value)
	if v == "" {
		return 0, &problem{"empty-value", "the value is empty", form}
	}
	rest, ok := strings.CutPrefix(v, op)
	rest = strings.TrimLeft(rest, " ")
	if !ok || strings.HasPrefix(rest, "=") || strings.HasPrefix(rest, "<") || strings.HasPrefix(rest, ">") || strings.HasPrefix(rest, "!") {
		return 0, &problem{"wrong-operator", fmt.Sprintf("%q does not have the operator %s, the only one allowed here", clip(value), op), form}
	}
	number, unit, _ := strings.Cut(rest, " ")
	n, p := readNumber(number, form)
	if p != nil {
		return 0, p
	}
	unit = strings.TrimSpace(unit)
	if unit != "" && strings.Trim(unit, "0123456789 ") == "" {
		return 0, &problem{"thousands-separator", fmt.Sprintf("%q has a space in the number, and AICR would read what is before it", clip(rest)), form}
	}
	if unit != "" && !slices.ContainsFunc(units, func(u string) bool { return strings.EqualFold(u, unit) }) {
		return 0, &problem{"wrong-unit", fmt.Sprintf("the unit %q is not %s, and AICR would ignore it", clip(unit), units[0]), form + " in " + units[0] + " without a unit"}
	}
	return n, nil
}

func readNumber(s, form string) (float64, *problem) {
	say := func(rule, why string) (float64, *problem) {
		return 0, &problem{rule, fmt.Sprintf("%q %s", clip(s), why), form + " with a plain decimal number greater than 0"}
	}
	match := func(pattern string) bool { return regexp.MustCompile(pattern).MatchString(s) }
	switch {
	case s == "":
		return say("empty-value", "has no number")
	case match(`^(0|[1-9][0-9]*)(\.[0-9]+)?$`):
	case match(`(?i)^[+-]?(nan|inf|infinity)$`):
		return say("not-finite", "is not finite, so the gate could not fail")
	case strings.HasPrefix(s, "-"):
		return say("not-positive", "is negative, so the gate says nothing")
	case match(`^[0-9]+([,_'][0-9]+)+`):
		return say("thousands-separator", "has a thousands separator")
	case match(`(?i)^0x|^[0-9.]+e[+-]?[0-9]+$`):
		return say("number-form", "is hexadecimal or has an exponent")
	case match(`^(0|[1-9][0-9]*)(\.[0-9]+)?[^0-9.]`):
		return say("unit-glued", "has something glued to the number")
	default:
		return say("number-form", "is not a plain decimal number")
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return say("not-finite", "is out of range")
	}
	if n == 0 {
		return say("not-positive", "is zero, so the gate says nothing")
	}
	return n, nil
}

// clip makes a text from a file fit for a message: its beginning, and nothing
// that a terminal would obey.
func clip(s string) string {
	s = strings.Map(printable, s)
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}
