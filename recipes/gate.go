package recipes

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Gate is what the performance phase of an overlay pins and demands. A zero
// field is absent; every valid value is greater than zero.
type Gate struct {
	Model             string  `json:"model,omitempty"`
	ConcurrencyPerGPU int     `json:"concurrency_per_gpu,omitempty"`
	RoutingMode       string  `json:"routing_mode,omitempty"`
	FloorPerGPU       float64 `json:"floor_output_tok_per_s_per_gpu,omitempty"` // inference-throughput-per-gpu
	Floor             float64 `json:"floor_output_tok_per_s,omitempty"`         // inference-throughput, absolute
	CeilingTTFTP99MS  float64 `json:"ceiling_ttft_p99_ms,omitempty"`            // inference-ttft-p99
}

// Empty reports whether the gate demands nothing.
func (g Gate) Empty() bool { return g.FloorPerGPU == 0 && g.Floor == 0 && g.CeilingTTFTP99MS == 0 }

// The constraint names.
const (
	NameModel       = "inference-model"
	NameConcurrency = "inference-concurrency-per-gpu"
	NameRouting     = "inference-routing-mode"
	NameFloorPerGPU = "inference-throughput-per-gpu"
	NameFloor       = "inference-throughput"
	NameCeiling     = "inference-ttft-p99"
)

func isFloor(name string) bool { return name == NameFloor || name == NameFloorPerGPU }

// Gate reads the gate of the performance phase. ok is false when the
// inference-perf check is not enabled or nothing is demanded; the inputs
// (model, concurrency, routing) are returned even then.
func (o *Overlay) Gate() (g Gate, ok bool, err error) {
	g, problems := o.readGate()
	if len(problems) > 0 {
		return g, false, problems[0]
	}
	return g, !g.Empty() && slices.Contains(o.Checks(), CheckName), nil
}

// readGate reads every constraint and collects every error, in file order.
func (o *Overlay) readGate() (Gate, []*PosError) {
	var g Gate
	errs := o.conflicts()
	for _, it := range o.items {
		value, at := "", it.name
		if it.value != nil {
			at = it.value
			if !isNull(it.value) {
				value = it.value.Value
			}
		}
		if p := g.read(it.name.Value, value); p != nil {
			errs = append(errs, o.errNode(at, p.rule, it.name.Value+": "+p.msg, p.remedy))
		}
	}
	slices.SortStableFunc(errs, func(a, b *PosError) int { return a.Line - b.Line })
	return g, errs
}

// conflicts finds names that are given twice, and both floor names together.
func (o *Overlay) conflicts() (errs []*PosError) {
	seen := map[string]int{}
	for _, it := range o.items {
		name, line := it.name.Value, it.name.Line
		if first := seen[name]; first != 0 {
			errs = append(errs, o.errNode(it.name, "duplicate-constraint",
				fmt.Sprintf("%s stands on line %d and on line %d", clip(name), first, line), "keep one"))
			continue
		}
		seen[name] = line
		for other, first := range seen {
			if other != name && isFloor(name) && isFloor(other) {
				errs = append(errs, o.errNode(it.name, "both-floors",
					fmt.Sprintf("%s on line %d and %s on line %d contradict each other", other, first, name, line), "keep one of the two"))
			}
		}
	}
	return errs
}

// constraint is a name with its text value as a file holds it.
type constraint struct{ name, value string }

// constraints lists what a gate writes, in the order AICR's overlays use.
func (g Gate) constraints() []constraint {
	list := []constraint{
		{NameModel, g.Model},
		{NameConcurrency, strconv.Itoa(g.ConcurrencyPerGPU)},
		{NameRouting, g.RoutingMode},
	}
	if g.FloorPerGPU != 0 {
		list = append(list, constraint{NameFloorPerGPU, ">= " + decimal(g.FloorPerGPU)})
	}
	if g.Floor != 0 {
		list = append(list, constraint{NameFloor, ">= " + decimal(g.Floor)})
	}
	return append(list, constraint{NameCeiling, "<= " + decimal(g.CeilingTTFTP99MS)})
}

func decimal(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// writable reports why g cannot be written. All five constraints go together:
// a threshold means something at one model and one load only.
func (g Gate) writable() error {
	switch {
	case g.Model == "" || g.ConcurrencyPerGPU == 0:
		return fmt.Errorf("setting the gate: it needs a model and a concurrency per GPU (got %q and %d)", g.Model, g.ConcurrencyPerGPU)
	case g.FloorPerGPU != 0 && g.Floor != 0:
		return fmt.Errorf("setting the gate: %s and %s contradict each other; set one", NameFloorPerGPU, NameFloor)
	case g.CeilingTTFTP99MS == 0:
		return fmt.Errorf("setting the gate: it needs a TTFT p99 ceiling")
	}
	for _, v := range []float64{g.FloorPerGPU, g.Floor, g.CeilingTTFTP99MS} {
		// The bounds keep a plain decimal short and are far outside of any real value.
		if v != 0 && !(v >= 1e-3 && v <= 1e12) || math.IsNaN(v) {
			return fmt.Errorf("setting the gate: %v is not a threshold", v)
		}
	}
	var back Gate
	for _, c := range g.constraints() {
		if p := back.read(c.name, c.value); p != nil {
			return fmt.Errorf("setting the gate: %s: %s; %s", c.name, p.msg, p.remedy)
		}
	}
	if back != g {
		return fmt.Errorf("setting the gate: %+v cannot be written exactly", g)
	}
	return nil
}

// LeavesOpen names what of a whole gate is not in this one, "" where nothing is: an
// overlay that inherits may have it from a parent.
func (g Gate) LeavesOpen() string {
	var open []string
	for _, p := range []struct {
		name   string
		absent bool
	}{
		{NameModel, g.Model == ""}, {NameConcurrency, g.ConcurrencyPerGPU == 0},
		{"a floor", g.FloorPerGPU == 0 && g.Floor == 0}, {NameCeiling, g.CeilingTTFTP99MS == 0},
	} {
		if p.absent {
			open = append(open, p.name)
		}
	}
	return strings.Join(open, ", ")
}
