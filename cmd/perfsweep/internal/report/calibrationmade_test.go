package report

import (
	"strings"
	"testing"
)

// A file that was just made did not hold the gate before.
func TestDecisionMade(t *testing.T) {
	c := Calibration{Wrote: true, Shipped: "a.yaml", Overlay: "b.yaml"}
	if got := decision(c); !strings.HasSuffix(got, "b.yaml already holds this gate") {
		t.Error(got)
	}
	c.Made = true
	if got := decision(c); !strings.HasSuffix(got, "made b.yaml, with the gate that a.yaml holds already") {
		t.Error(got)
	}
}
