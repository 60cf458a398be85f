package recipes

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// layout draws an overlay in block style with people's comments and blank
// lines anywhere, in any order of keys and items.
type layout struct {
	*rapid.T
	lines    []string
	comments int
	dash     int
}

func (l *layout) chance(what string, percent int) bool {
	return rapid.IntRange(0, 99).Draw(l.T, what) < percent
}

func (l *layout) one(what string, options ...string) string {
	return rapid.SampledFrom(options).Draw(l.T, what)
}

// add appends a line, perhaps after a remark, perhaps with one behind it.
func (l *layout) add(indent int, s string) {
	for l.chance("remark", 15) {
		l.comments++
		l.lines = append(l.lines, strings.Repeat(" ", indent)+fmt.Sprintf("# remark %d", l.comments))
	}
	if l.chance("blank", 10) && len(l.lines) > 0 && l.lines[len(l.lines)-1] != "" {
		l.lines = append(l.lines, "")
	}
	if l.chance("behind", 10) {
		l.comments++
		s += fmt.Sprintf(" # remark %d", l.comments)
	}
	l.lines = append(l.lines, strings.Repeat(" ", indent)+s)
}

func (l *layout) phase(indent int) {
	keys := rapid.Permutation([]string{"checks", "constraints", "timeout", "nodeSelection"}).Draw(l.T, "keys")
	for _, k := range keys[:rapid.IntRange(0, 4).Draw(l.T, "n")] {
		switch k {
		case "checks":
			l.checks(indent)
		case "constraints":
			l.constraints(indent)
		case "timeout":
			l.add(indent, "timeout: 65m")
		default:
			l.add(indent, "nodeSelection:")
			l.add(indent+2, "maxNodes: 1")
		}
	}
}

func (l *layout) checks(indent int) {
	switch style := l.one("checks", "[]", "[ ]", "", "[a, 'b']", "block"); style {
	case "block":
		l.add(indent, "checks:")
		for _, c := range rapid.Permutation([]string{"a", CheckName, `"b"`}).Draw(l.T, "order")[:rapid.IntRange(1, 3).Draw(l.T, "n")] {
			l.add(indent+l.dash, "- "+c)
		}
	default:
		l.add(indent, strings.TrimRight("checks: "+style, " "))
	}
}

func (l *layout) constraints(indent int) {
	floor := l.one("floor", NameFloor, NameFloorPerGPU)
	all := []string{NameModel, NameConcurrency, NameRouting, floor, NameCeiling, "site-local", "nccl-all-reduce-bw"}
	names := rapid.Permutation(all).Draw(l.T, "order")[:rapid.IntRange(0, len(all)).Draw(l.T, "n")]
	if len(names) == 0 {
		l.add(indent, strings.TrimRight("constraints: "+l.one("none", "", "[]"), " "))
		return
	}
	l.add(indent, "constraints:")
	for _, n := range names {
		value := l.one("value", `"256"`, "256", `'>= 50000'`, `"<= 2000"`, "<= 2000", "Qwen/Qwen3-8B", "gateway-epp", `"x # y"`, `'it''s'`)
		switch l.one("item", "block", "reversed", "flow", "more") {
		case "block":
			l.add(indent+l.dash, "- name: "+n)
			l.add(indent+l.dash+2, "value: "+value)
		case "reversed":
			l.add(indent+l.dash, "- value: "+value)
			l.add(indent+l.dash+2, "name: "+n)
		case "flow":
			l.add(indent+l.dash, "- {name: "+n+", value: "+value+"}")
		default:
			l.add(indent+l.dash, "- name: '"+n+"'")
			l.add(indent+l.dash+2, "value: "+value)
			l.lines = append(l.lines, strings.Repeat(" ", indent+l.dash+2)+"remediation: |", strings.Repeat(" ", indent+l.dash+4)+"# text", "")
		}
	}
}

func (l *layout) overlay() string {
	l.lines = []string{"kind: RecipeMetadata", "metadata:", "  name: x", "spec:", "  base: y"}
	l.dash = rapid.SampledFrom([]int{0, 2}).Draw(l.T, "dash")
	depth := rapid.IntRange(0, 3).Draw(l.T, "depth")
	if depth > 0 {
		l.add(2, "validation:")
		if l.chance("deployment", 50) {
			l.add(4, "deployment: {checks: [up]}")
		}
	}
	if depth > 1 {
		l.add(4, "performance:")
	}
	if depth > 2 {
		l.phase(6)
	}
	if depth > 0 && l.chance("conformance", 50) {
		l.add(4, "conformance:")
		l.add(6, "checks: []")
	}
	return strings.Join(l.lines, "\n") + "\n"
}

// Every such layout can be edited, and every remark is there afterwards, in
// its order, unless it stood inside of a removed constraint.
func TestSetGateOnRandomLayouts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := &layout{T: rt}
		src := l.overlay()
		g := sampleGate()
		ttftOnly := false
		switch l.one("form", "per-gpu", "absolute", "ttft-only") {
		case "absolute":
			g.Floor, g.FloorPerGPU = 1e5, 0
		case "ttft-only":
			g.FloorPerGPU, ttftOnly = 0, true
		}
		out, err := setGate(t, src, g, sampleComment())
		if err != nil {
			if !ttftOnly || !strings.Contains(err.Error(), "remove or move the comment") {
				rt.Fatalf("%v\n%s", err, src)
			}
			return
		}
		at := 0
		for i := 1; i <= l.comments && !ttftOnly; i++ {
			next := strings.Index(out[at:], fmt.Sprintf("# remark %d\n", i))
			if next < 0 {
				rt.Fatalf("remark %d is lost or moved\n%s", i, Diff("f", []byte(src), []byte(out)))
			}
			at += next
		}
	})
}
