//go:build oracle

package knee_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/knee/kneetest"
)

// TestOracleLive draws new curves and asks the reference implementation that
// PERFSWEEP_ORACLE names, with the python (and numpy) of PERFSWEEP_PYTHON.
// PERFSWEEP_ORACLE_SEED repeats a draw, and PERFSWEEP_ORACLE_RECORD=1 makes it
// the recorded one.
func TestOracleLive(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("PERFSWEEP_ORACLE_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seed = n
	}
	t.Logf("PERFSWEEP_ORACLE_SEED=%d", seed)
	cases := drawCases(seed, 238)
	askOracle(t, os.Getenv("PERFSWEEP_ORACLE"), cases)
	compareWithOracle(t, cases, nil)
	if os.Getenv("PERFSWEEP_ORACLE_RECORD") != "" {
		record(t, cases)
	}
}

// drawCases draws n curves over all families, noise 1–5 %, 1–3 repeats, and
// ladders from four levels to eighteen, one in twelve with stalls.
func drawCases(seed uint64, n int) []oracleCase {
	rng := rand.New(rand.NewPCG(seed, 0))
	double, half := kneetest.Doubling(), kneetest.HalfOctave()
	ladders := [][]int{double, half, double[3:], half[5:], half[8:15], double[2:8], {4, 16, 64, 256}, {16, 32, 64, 128, 256, 512}}
	families := []kneetest.Family{
		kneetest.Smooth, kneetest.LinearCap, kneetest.BatchCap, kneetest.Collapse, kneetest.Rising, kneetest.Flat,
		kneetest.TwoStage, kneetest.SoftCap, kneetest.Exponential, kneetest.USL, kneetest.Sigmoid, kneetest.Network,
		kneetest.Cliff, kneetest.LateCollapse, kneetest.Creep, kneetest.LogRise, kneetest.Stairs,
	}
	var cases []oracleCase
	for i := range n {
		family := families[i%len(families)]
		c := kneetest.New(family, rng)
		cv := 0.01 + 0.04*rng.Float64()
		ladder, repeats := ladders[rng.IntN(len(ladders))], 1+rng.IntN(3)
		var stalls *kneetest.Stalls
		label := ""
		if rng.IntN(12) == 0 {
			stalls, label = kneetest.NewStalls(rng, 1.0/6), " stalls"
		}
		runs := c.Sweep(rng, ladder, repeats, cv, stalls)
		cases = append(cases, oracleCase{
			Name:    fmt.Sprintf("%s-%03d", family, i),
			Setting: fmt.Sprintf("%d levels %d..%d × %d, %.1f %%%s", len(ladder), ladder[0], ladder[len(ladder)-1], repeats, 100*cv, label),
			Truth:   round(c.Knee(0.2)),
			Runs:    formatRuns(runs),
		})
	}
	return cases
}

func round(v float64) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 5, 64), 64)
	return r
}

func formatRuns(runs []knee.Run) string {
	var b strings.Builder
	for i, r := range runs {
		if i > 0 {
			b.WriteByte(';')
		}
		fmt.Fprintf(&b, "%d %.6g %.4g %.4g", r.ConcurrencyPerGPU, r.TokPerSecPerGPU, r.TTFTP50MS, r.TTFTP99MS)
	}
	return b.String()
}

// askOracle runs the reference once over all cases: its command line answers
// one file a call, and starting numpy takes longer than the fit.
func askOracle(t *testing.T, path string, cases []oracleCase) {
	t.Helper()
	python := os.Getenv("PERFSWEEP_PYTHON")
	if path == "" || python == "" {
		t.Fatal("PERFSWEEP_ORACLE must name oracle.py and PERFSWEEP_PYTHON a python with numpy")
	}
	dir := t.TempDir()
	const driver = `import os, sys, json
sys.path.insert(0, os.path.dirname(os.path.abspath(sys.argv[1])))
import oracle
for f in sys.argv[2:]:
    print(json.dumps(oracle.analyze(f)))`
	args := []string{"-c", driver, path}
	for i, c := range cases {
		csv := "concurrency_per_gpu,output_tok_per_s_per_gpu,ttft_p50_ms,ttft_p99_ms\n" +
			strings.NewReplacer(" ", ",", ";", "\n").Replace(c.Runs) + "\n"
		file := filepath.Join(dir, fmt.Sprintf("%03d.csv", i))
		if err := os.WriteFile(file, []byte(csv), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, file)
	}
	cmd := exec.CommandContext(t.Context(), python, args...)
	cmd.Env = append(os.Environ(), "OPENBLAS_NUM_THREADS=1", "PROTO_BOOT=20")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("running the oracle: %v", err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != len(cases) {
		t.Fatalf("the oracle answered %d of %d", len(lines), len(cases))
	}
	for i, line := range lines {
		if err := json.Unmarshal([]byte(line), &cases[i].Oracle); err != nil {
			t.Fatalf("oracle line %d: %v", i+1, err)
		}
	}
}

func record(t *testing.T, cases []oracleCase) {
	t.Helper()
	var b strings.Builder
	for _, c := range cases {
		line, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	if err := os.WriteFile(oracleFile, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
