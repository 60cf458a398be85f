package structure

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestDemo: the demo asks again where the tool could not tell, up to three
// times, and takes no wrong answer and no right one for another reason.
func TestDemo(t *testing.T) {
	// answers are the exit codes of the calls in their order; stub says for
	// each what the real command says with that code
	const stub = `#!/usr/bin/env bash
calls=$(cat "$0.calls" 2>/dev/null) || true
read -r code rest <<<"${calls:-$(cat "$0.answers")}"
echo "$rest" >"$0.calls"
case $1,$code in
calibrate,0) echo "SIMULATED: wrote x" ;;
check,0) echo "pass: x" ;;
report,0) echo "wrote x" ;;
check,8) echo "output throughput 1 tok/s is below 2" ;;
check,9) echo "the endpoint stood still" ;;
*,90) echo "something else"; exit 9 ;;
esac
exit "$code"
`
	for answers, want := range map[string]string{
		"0 0 8 9 0 end":               "",
		"9 9 0 9 9 0 9 9 8 90 90 9 0": "",
		"0 0 8 9 1":                   "exit code 1; expected was 0",
		"9 9 9 0":                     "exit code 9; expected was 0",
		"0 8 0 8":                     "exit code 8; expected was 0",
		"0 0 0 8":                     "exit code 0; expected was 8",
		"0 0 8 0 9":                   "exit code 0; expected was 9",
		"0 0 8 90 90 90 9":            `expected was 9 with "stood still`,
		"2 0 0 8 9":                   "exit code 2; expected was 0",
	} {
		bin := filepath.Join(t.TempDir(), "perfsweep")
		write(t, bin, stub)
		write(t, bin+".answers", answers)
		out, err := exec.Command("bash", "../demo.sh", bin, filepath.Join(t.TempDir(), "demo")).CombinedOutput()
		if ok := err == nil; ok != (want == "") || !strings.Contains(string(out), want) {
			t.Errorf("answers %s: %v, want %q in\n%s", answers, err, want, out)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}
