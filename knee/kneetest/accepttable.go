package kneetest

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// String is the row in one line.
func (c Claim) String() string {
	s := fmt.Sprintf("%s | %s | %s | %.4g (worst seed %.4g", c.Row, c.What, c.target(), c.Value, c.Worst)
	if c.N > 0 {
		s += fmt.Sprintf(", n %d", c.N)
	}
	return s + ") | " + string(c.Verdict)
}

func (c Claim) target() string {
	if c.Bound == Stated {
		return "-"
	}
	return fmt.Sprintf("%s %.4g", c.Bound, c.Target)
}

// Table lays out rows by number, in columns.
func Table(claims []Claim) [][]string {
	sorted := slices.Clone(claims)
	slices.SortStableFunc(sorted, func(a, b Claim) int {
		return cmp.Or(cmp.Compare(order(a.Row), order(b.Row)), strings.Compare(a.Row, b.Row))
	})
	rows := [][]string{{"row", "what", "target", "result", "worst seed", "n", "verdict"}}
	for _, c := range sorted {
		n := ""
		if c.N > 0 {
			n = strconv.Itoa(c.N)
		}
		verdict := string(c.Verdict)
		if c.Note != "" {
			verdict += ": " + c.Note
		}
		rows = append(rows, []string{c.Row, c.What, c.target(), figure(c.Value), figure(c.Worst), n, verdict})
	}
	return rows
}

func figure(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

// order is the number in a row's name; rows without one come last.
func order(row string) int {
	n, err := strconv.Atoi(strings.TrimLeft(row, "AO-"))
	if err != nil {
		return math.MaxInt
	}
	if strings.HasPrefix(row, "O") {
		n += 100 // the operating point's rules follow the acceptance rows
	}
	return n
}
