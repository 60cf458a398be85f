package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/perfsweep/perfsweep/knee/kneetest"
)

func main() { os.Exit(run(os.Stdin, os.Stdout, os.Stderr)) }

func run(in io.Reader, out, talk io.Writer) int {
	s := stream{out: out, lines: map[string][]string{}}
	if err := s.read(in); err != nil {
		_, _ = fmt.Fprintln(talk, "acceptance: reading go test -json:", err)
		return 1
	}
	if err := s.table(); err != nil {
		_, _ = fmt.Fprintln(talk, "acceptance: printing the table:", err)
		return 1
	}
	if len(s.claims) == 0 {
		_, _ = fmt.Fprintln(talk, "acceptance: not one row; is the tag accept given, and does -run match?")
		return 1
	}
	if s.failed > 0 {
		return 1
	}
	return 0
}

// event is a line of go test -json, see go doc test2json.
type event struct {
	Action, Package, Test, Output, Key, Value string
	Elapsed                                   float64
}

// stream is what has been read so far.
type stream struct {
	out    io.Writer
	claims []kneetest.Claim
	lines  map[string][]string // output by package and test
	failed int
}

func (s *stream) read(in io.Reader) error {
	r := bufio.NewReader(in)
	for {
		line, err := r.ReadString('\n')
		if line != "" {
			if err := s.line(line); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// line handles one line; what is no event is go test's own, and is shown.
func (s *stream) line(line string) error {
	var e event
	if !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &e) != nil {
		_, err := io.WriteString(s.out, line)
		return err
	}
	id := e.Package + " " + e.Test
	switch e.Action {
	case "output", "build-output":
		if !strings.HasPrefix(e.Output, "=== ") { // what test2json is told, not us
			s.lines[id] = append(s.lines[id], e.Output)
		}
	case "attr":
		if e.Key != kneetest.RowAttr {
			return nil
		}
		var c kneetest.Claim
		if err := json.Unmarshal([]byte(e.Value), &c); err != nil {
			return fmt.Errorf("a row of %s: %w", e.Test, err)
		}
		s.claims = append(s.claims, c)
	case "pass", "fail", "build-fail":
		return s.end(e, id)
	}
	return nil
}

func (s *stream) end(e event, id string) error {
	if e.Action != "pass" {
		s.failed++
		if _, err := io.WriteString(s.out, strings.Join(s.lines[id], "")); err != nil {
			return err
		}
	}
	delete(s.lines, id)
	if e.Test != "" && strings.Contains(e.Test, "/") {
		return nil
	}
	_, err := fmt.Fprintf(s.out, "%s %s %.1f s\n", e.Action, strings.TrimSpace(id), e.Elapsed)
	return err
}

func (s *stream) table() error {
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	for _, row := range kneetest.Table(s.claims) {
		if _, err := fmt.Fprintln(w, strings.Join(row, "\t")); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	count := map[kneetest.Verdict]int{}
	for _, c := range s.claims {
		count[c.Verdict]++
	}
	none := count[kneetest.NoTarget]
	_, err := fmt.Fprintf(s.out, "\n%d targets: %d met, %d missed as recorded, %d missed; %d figures without a target\n",
		len(s.claims)-none, count[kneetest.Met], count[kneetest.Recorded], count[kneetest.Missed], none)
	return err
}
