package main

import (
	"strings"
	"testing"
)

// testdata/report/arm64.bundle was computed by a linux/arm64 build of perfsweep, run
// by QEMU's user-mode emulation (qemu-aarch64-static 7.2), from gb300.jsonl with
// stall.jsonl as its anchor:
//
//	calibrate --journal gb300.jsonl --anchor stall.jsonl --overlay o.yaml --allow-simulated --bundle arm64.bundle
//
// The journal itself was measured on amd64: an emulated machine is no place to
// measure. Before products were rounded and logarithms were our own, the knee of the
// two machines differed in its third digit.
//
// Words of later versions may differ; no number that is in it may.
func TestVerifyAnotherArchitecture(t *testing.T) {
	_, v, err := verifyFile("testdata/report/arm64.bundle", nil)
	if err != nil {
		t.Fatal(err)
	}
	if v.Maker.Platform != "linux/arm64" || v.Runs != 25 || v.Values < 300 {
		t.Errorf("%+v, %d runs, %d values", v.Maker, v.Runs, v.Values)
	}
	for _, d := range v.Differences {
		if number := strings.Trim(d.Recorded, "-0123456789.e+") == "" && d.Recorded != ""; number {
			t.Errorf("%s %s: recorded %s, recomputed %s", d.Part, d.Field, d.Recorded, d.Computed)
		}
	}
}
