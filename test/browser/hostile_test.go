//go:build browser

package browser

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/sweep"
)

// named would run in many places at once, were it not text there. A name may
// hold it; what a server says may hold the marks of attack, too, which turn text
// around, and with which a journal does not take a name.
const (
	named = `</script></style></title><script>window.owned=1;alert(1)</script><img src=x onerror="window.owned=1">` +
		"<!--'\" onload=window.owned=1 `javascript:window.owned=1` ]]> &lt;script&gt; <svg onload=window.owned=1>"
	attack = "\u2028\u202e" + named
)

// TestHostile: a journal in which every word of a server or a label is an attack
// runs nothing, asks for nothing and shows the words as they are.
func TestHostile(t *testing.T) {
	for _, from := range []string{"gb300.jsonl", "stall.jsonl"} {
		path := rewritten(t, data+from, func(c *sweep.Curve) {
			f := &c.Fingerprint
			f.Target, f.Model, f.RoutingMode, f.ToolVersion = named, named, named, named
			f.Simulated = false // or the target would not be believed
			c.Fingerprint.Labels = map[string]string{"gpu_product": named, named: named}
			c.Fingerprint.Deployment = named
			c.Fingerprint.ExtraHeaders = []string{named}
			c.Preflight.Model, c.Preflight.Models, c.Preflight.Warnings = attack, []string{attack}, []string{attack}
			for i := range c.Runs {
				r := &c.Runs[i]
				r.Step.Why = attack
				r.Result.Warnings = []string{attack}
				r.Violations = append(r.Violations, sweep.Violation{Gate: "V2", Observed: attack, Threshold: attack, Remedy: attack})
				if r.Servers != nil {
					r.Servers.Said = poisoned(t, r.Servers.Said)
				}
				if i%2 == 0 { // the others stay valid, or there were no curve
					r.Violations = nil
				}
			}
		})
		c := start(t)
		c.screen(1200, 900, "light")
		html := page(t, path)
		c.open(html)
		var owned bool
		c.eval(`window.owned !== undefined || document.querySelector("img, iframe, object, embed, [onload], [onerror], [onclick]") !== null`, &owned)
		if owned {
			t.Errorf("%s: the attack has acted", from)
		}
		var scripts int
		c.eval(`document.scripts.length`, &scripts)
		if scripts != 2 {
			t.Errorf("%s: %d scripts in the page, want the charts' values and ours", from, scripts)
		}
		if text := c.text(`document.body.innerText`); strings.Count(text, "<script>window.owned=1;alert(1)</script>") < 5 {
			t.Errorf("%s: the words of the servers are not shown as they are", from)
		}
		c.silent(html)
	}
}

// poisoned replaces the names of workers and facts in what servers said.
func poisoned(t *testing.T, said json.RawMessage) json.RawMessage {
	t.Helper()
	if len(said) == 0 {
		return said
	}
	var tree map[string]any
	check(t, json.Unmarshal(said, &tree))
	if ws, ok := tree["workers"].([]any); ok {
		for _, w := range ws {
			w.(map[string]any)["id"] = attack
		}
	}
	if es, ok := tree["events"].([]any); ok {
		for _, e := range es {
			e.(map[string]any)["workers"] = []any{attack}
			e.(map[string]any)["kind"] = "worker_silence"
		}
	}
	b, err := json.Marshal(tree)
	check(t, err)
	return b
}
