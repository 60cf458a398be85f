package recipes

import (
	"math"
	"strings"
	"testing"
)

func perfOverlay(checks string, constraints ...string) string {
	var b strings.Builder
	b.WriteString(sampleHead + "spec:\n  validation:\n    performance:\n      checks: " + checks + "\n      constraints:\n")
	for i := 0; i < len(constraints); i += 2 {
		b.WriteString("        - name: " + constraints[i] + "\n          value: " + constraints[i+1] + "\n")
	}
	return b.String()
}

func TestGate(t *testing.T) {
	all := []string{NameModel, "Qwen/Qwen3-8B", NameConcurrency, "256", NameRouting, "gateway-epp", NameFloor, `">= 50000"`, NameCeiling, "<= 2000"}
	want := Gate{Model: "Qwen/Qwen3-8B", ConcurrencyPerGPU: 256, RoutingMode: "gateway-epp", Floor: 50000, CeilingTTFTP99MS: 2000}
	for name, c := range map[string]struct {
		src  string
		want Gate
		ok   bool
	}{
		"enabled":          {perfOverlay("[inference-perf]", all...), want, true},
		"disabled":         {perfOverlay("[]", all...), want, false},
		"another check":    {perfOverlay("[x]", all...), want, false},
		"inputs only":      {perfOverlay("[inference-perf]", all[:6]...), Gate{Model: want.Model, ConcurrencyPerGPU: 256, RoutingMode: "gateway-epp"}, false},
		"per GPU":          {perfOverlay("[inference-perf]", NameFloorPerGPU, `">=18000.5"`), Gate{FloorPerGPU: 18000.5}, true},
		"ttft only":        {perfOverlay("[inference-perf]", NameCeiling, `" <=  200.5 ms "`), Gate{CeilingTTFTP99MS: 200.5}, true},
		"blank inputs":     {perfOverlay("[inference-perf]", NameModel, `" "`, NameConcurrency, `""`, NameRouting, "null"), Gate{}, false},
		"other names only": {perfOverlay("[inference-perf]", "nccl-all-reduce-bw", `"> nonsense"`), Gate{}, false},
		"nothing":          {sampleHead, Gate{}, false},
		"null phase":       {sampleHead + "spec:\n  validation:\n    performance:\n", Gate{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := Parse("f", []byte(c.src))
			if err != nil {
				t.Fatal(err)
			}
			if g, ok, err := o.Gate(); g != c.want || ok != c.ok || err != nil {
				t.Fatalf("%+v, %v, %v", g, ok, err)
			}
		})
	}
}

func TestGateConflicts(t *testing.T) {
	for name, c := range map[string]struct{ src, want string }{
		"both floors":   {perfOverlay("[]", NameFloorPerGPU, `">= 1"`, NameFloor, `">= 8"`), "f:11:17: inference-throughput-per-gpu on line 9 and inference-throughput on line 11 contradict each other; keep one of the two"},
		"twice":         {perfOverlay("[]", NameCeiling, `"<= 1"`, NameCeiling, `"<= 2"`), "f:11:17: inference-ttft-p99 stands on line 9 and on line 11; keep one"},
		"another twice": {perfOverlay("[]", "x", "1", "x", "1"), "f:11:17: x stands on line 9 and on line 11; keep one"},
		"no value":      {perfOverlay("[]", NameFloor, ""), `f:10:17: inference-throughput: the value is empty; write ">= N"`},
		"null":          {perfOverlay("[]", NameCeiling, "~"), `f:10:18: inference-ttft-p99: the value is empty; write "<= N"`},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := Parse("f", []byte(c.src))
			if err != nil {
				t.Fatal(err)
			}
			if _, ok, err := o.Gate(); err == nil || ok || err.Error() != c.want {
				t.Fatalf("\n got %v\nwant %s", err, c.want)
			}
		})
	}
}

// valueCase is a constraint value with what it reads as, or the rule it breaks.
type valueCase struct {
	name, value string
	want        float64
	rule        string
}

func valueCases() []valueCase {
	return []valueCase{
		{NameFloor, ">= 50000", 50000, ""},
		{NameFloor, ">=5000", 5000, ""},
		{NameFloor, "  >= 5000", 5000, ""},
		{NameFloor, ">= 5000 tok/s", 5000, ""},
		{NameFloor, ">= 0.5 tokens/sec", 0.5, ""},
		{NameFloorPerGPU, ">= 16000 tok/s/gpu", 16000, ""},
		{NameCeiling, "<=200.5", 200.5, ""},
		{NameCeiling, "<= 200 ms", 200, ""},
		{NameFloor, "> 5000", 0, "wrong-operator"},
		{NameFloor, "== 5000", 0, "wrong-operator"},
		{NameFloor, "!= 5000", 0, "wrong-operator"},
		{NameFloor, "5000", 0, "wrong-operator"},
		{NameFloor, "<= 5000", 0, "wrong-operator"},
		{NameFloor, ">== 5000", 0, "wrong-operator"},
		{NameFloor, ">= =5000", 0, "wrong-operator"},
		{NameFloor, ">= > 5000", 0, "wrong-operator"},
		{NameFloor, ">= !5000", 0, "wrong-operator"},
		{NameFloorPerGPU, "≥ 5000", 0, "wrong-operator"},
		{NameCeiling, ">= 2000", 0, "wrong-operator"},
		{NameCeiling, "< 2000", 0, "wrong-operator"},
		{NameCeiling, "<== 2000", 0, "wrong-operator"},
		{NameFloor, ">=", 0, "empty-value"},
		{NameFloor, "", 0, "empty-value"},
		{NameFloor, ">= NaN", 0, "not-finite"},
		{NameFloor, ">= -inf", 0, "not-finite"},
		{NameCeiling, "<= +Inf", 0, "not-finite"},
		{NameCeiling, "<= Infinity", 0, "not-finite"},
		{NameFloor, ">= 1" + strings.Repeat("0", 400), 0, "not-finite"},
		{NameFloor, ">= -1", 0, "not-positive"},
		{NameFloor, ">= 0", 0, "not-positive"},
		{NameCeiling, "<= 0.000", 0, "not-positive"},
		{NameFloor, ">= 50,000", 0, "thousands-separator"},
		{NameFloor, ">= 50_000", 0, "thousands-separator"},
		{NameFloor, ">= 50'000", 0, "thousands-separator"},
		{NameFloor, ">= 50000tok/s", 0, "unit-glued"},
		{NameCeiling, "<= 2000ms", 0, "unit-glued"},
		{NameCeiling, "<= 2s", 0, "unit-glued"},
		{NameFloor, ">= 50k", 0, "unit-glued"},
		{NameCeiling, "<= 2 s", 0, "wrong-unit"},
		{NameFloor, ">= 50 000", 0, "thousands-separator"},
		{NameFloor, ">= 5000 tok/s/GPU", 0, "wrong-unit"},
		{NameFloor, ">= 0x1p4", 0, "number-form"},
		{NameFloor, ">= 1e5", 0, "number-form"},
		{NameFloor, ">= +5", 0, "number-form"},
		{NameFloor, ">= .5", 0, "number-form"},
		{NameFloor, ">= 5.", 0, "number-form"},
		{NameFloor, ">= 010", 0, "number-form"},
		{NameFloor, ">= 1.2.3", 0, "number-form"},
		{NameConcurrency, "256", 256, ""},
		{NameConcurrency, "0", 0, "bad-integer"},
		{NameConcurrency, "-1", 0, "bad-integer"},
		{NameConcurrency, "+1", 0, "bad-integer"},
		{NameConcurrency, "256.5", 0, "bad-integer"},
		{NameConcurrency, " 256", 0, "bad-integer"},
		{NameConcurrency, "1e9", 0, "bad-integer"},
		{NameConcurrency, "0x10", 0, "bad-integer"},
		{NameConcurrency, "1_000", 0, "bad-integer"},
		{NameConcurrency, "99999999999", 0, "bad-integer"},
		{NameConcurrency, ">= 256", 0, "bad-integer"},
		{NameModel, "-x", 0, "bad-model"},
		{NameModel, "a b", 0, "bad-model"},
		{NameModel, "a\nb", 0, "bad-model"},
		{NameModel, "x" + strings.Repeat("y", 200), 0, "bad-model"},
		{NameRouting, "kv", 0, "bad-routing-mode"},
	}
}

func TestGrammar(t *testing.T) {
	for _, c := range valueCases() {
		var g Gate
		p := g.read(c.name, c.value)
		got := g.Floor + g.FloorPerGPU + g.CeilingTTFTP99MS + float64(g.ConcurrencyPerGPU)
		if p == nil {
			p = &problem{msg: "none", remedy: "none"}
		}
		if p.rule != c.rule || got != c.want || p.msg == "" || p.remedy == "" || len(p.msg) > 300 {
			t.Errorf("%s %q: read as %v, %+v; want %v, rule %q", c.name, c.value, got, *p, c.want, c.rule)
		}
	}
}

func TestSetGateRefusesGates(t *testing.T) {
	o, err := Parse("f", []byte(perfOverlay("[]")))
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Gate){
		"no model":       func(g *Gate) { g.Model = "" },
		"no load":        func(g *Gate) { g.ConcurrencyPerGPU = 0 },
		"no ceiling":     func(g *Gate) { g.CeilingTTFTP99MS = 0 },
		"both floors":    func(g *Gate) { g.Floor = 1 },
		"bad model":      func(g *Gate) { g.Model = "a: b" },
		"bad routing":    func(g *Gate) { g.RoutingMode = "kv" },
		"negative load":  func(g *Gate) { g.ConcurrencyPerGPU = -1 },
		"negative floor": func(g *Gate) { g.FloorPerGPU = -1 },
		"NaN":            func(g *Gate) { g.FloorPerGPU = math.NaN() },
		"infinite":       func(g *Gate) { g.CeilingTTFTP99MS = math.Inf(1) },
		"tiny":           func(g *Gate) { g.CeilingTTFTP99MS = 1e-9 },
		"huge":           func(g *Gate) { g.FloorPerGPU = 1e30 },
	} {
		t.Run(name, func(t *testing.T) {
			g := sampleGate()
			change(&g)
			if out, err := o.SetGate(g, nil); err == nil || out != nil || !strings.HasPrefix(err.Error(), "setting the gate: ") {
				t.Fatalf("%s, %v", out, err)
			}
		})
	}
}
