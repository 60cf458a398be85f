package report

import (
	"encoding/xml"
	"fmt"
	"strings"
	"time"

	"github.com/perfsweep/perfsweep/recipes"
)

// The part of the JUnit XML of Ant and Surefire that collectors agree on.
type (
	junitSuites struct {
		XMLName xml.Name   `xml:"testsuites"`
		Suite   junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name      string    `xml:"name,attr"`
		Tests     int       `xml:"tests,attr"`
		Failures  int       `xml:"failures,attr"`
		Errors    int       `xml:"errors,attr"`
		Skipped   int       `xml:"skipped,attr"`
		Seconds   string    `xml:"time,attr"`
		Timestamp string    `xml:"timestamp,attr"`
		Case      junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string     `xml:"classname,attr"`
		Name    string     `xml:"name,attr"`
		Seconds string     `xml:"time,attr"`
		Failure *junitText `xml:"failure"`
		Error   *junitText `xml:"error"`
		Out     string     `xml:"system-out,omitempty"`
	}
	junitText struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
)

// JUnit renders a check as a JUnit XML file of one test case. An inconclusive
// check is an error: the test could not come to its verdict.
func JUnit(c CheckOutcome) ([]byte, error) {
	status, raw := c.status()
	seconds := fmt.Sprintf("%.3f", c.Stop.Sub(c.Start).Seconds())
	s := junitSuite{
		Name: "perfsweep check", Tests: 1, Seconds: seconds, Timestamp: c.Start.UTC().Format("2006-01-02T15:04:05"),
		Case: junitCase{Class: "performance." + c.Overlay, Name: recipes.CheckName, Seconds: seconds, Out: strings.Join(c.lines(), "\n")},
	}
	why := &junitText{Message: c.message(), Type: raw, Text: strings.ReplaceAll(c.message(), "; ", "\n")}
	switch status {
	case ctrfPassed:
	case ctrfFailed:
		s.Failures, s.Case.Failure = 1, why
	default:
		s.Errors, s.Case.Error = 1, why
	}
	b, err := xml.MarshalIndent(junitSuites{Suite: s}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing the test report: %w", err)
	}
	return append([]byte(xml.Header), append(b, '\n')...), nil
}

// Bounds is the time that the runs of a check took; now where there is none. Runs
// without a date lie at its end, for as long as they measured.
func (c CheckReport) Bounds(now time.Time) (start, stop time.Time) {
	var undated time.Duration
	for _, r := range c.Curve.Runs {
		took := time.Duration(max(r.Result.WholeRun.Seconds, r.Result.Window.Seconds) * float64(time.Second))
		if r.Started.IsZero() {
			undated += took
			continue
		}
		ended := r.Started.Add(took)
		if r.Result.Ended.After(ended) { // the ramp, the warm-up and the drain too
			ended = r.Result.Ended
		}
		if start.IsZero() || r.Started.Before(start) {
			start = r.Started
		}
		if ended.After(stop) {
			stop = ended
		}
	}
	if start.IsZero() {
		return now.Add(-undated), now
	}
	return start, stop.Add(undated)
}
