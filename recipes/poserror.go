package recipes

import "fmt"

// PosError is an error at a place in a file.
type PosError struct {
	File      string
	Line, Col int // 1-based; Col counts characters
	Msg       string
	Rule      string // the lint rule it breaks
	Remedy    string // what to do, "" when the message says it
}

func (e *PosError) Error() string {
	s := fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.Msg)
	if e.Remedy != "" {
		s += "; " + e.Remedy
	}
	return s
}
