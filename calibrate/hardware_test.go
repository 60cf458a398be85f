package calibrate

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// The figures of NVIDIA's documents, a second time: per GPU, or per system and
// divided here.
func TestDeviceFigures(t *testing.T) {
	for name, want := range map[string]struct{ gb, tbPerS float64 }{
		"GB300":                       {288, 576.0 / 72},
		"GB200":                       {192, 16.0 / 2},
		"B300":                        {288, 8},
		"B200":                        {192, 64.0 / 8},
		"H200":                        {141, 4.8},
		"H100 NVL":                    {94, 3.938},
		"H100 PCIe":                   {80, 2.039},
		"H100":                        {80, 3.35},
		"A100 40GB":                   {40, 1.555},
		"A100":                        {80, 2.039},
		"L40S":                        {48, 0.864},
		"L40":                         {48, 0.864},
		"RTX PRO 6000 Server Edition": {96, 1.597},
		"RTX PRO 6000":                {96, 1.792},
	} {
		d, ok := deviceOf(name)
		if !ok || d.name != name || d.memoryGB != want.gb || d.tbPerS != want.tbPerS || !strings.Contains(d.source, " ") {
			t.Errorf("%s: %+v, %v; want %+v", name, d, ok, want)
		}
	}
	// Every accelerator that AICR names has a device.
	for _, name := range strings.Fields("a100 b200 gb200 gb300 h100 h200 l40 rtx-pro-6000") {
		if _, ok := deviceOf(name); !ok {
			t.Errorf("%s is an accelerator of AICR without a device", name)
		}
	}
}

// docs/anchors.md shows the table as it is, with what a lone stream could gain.
func TestAnchorsPageListsTheDevices(t *testing.T) {
	b, err := os.ReadFile("../docs/anchors.md")
	if err != nil {
		t.Fatal(err)
	}
	reference, _ := deviceOf("H100")
	want := "| GPU | memory, GB | bandwidth, TB/s | of an H100 SXM | source (NVIDIA) |\n|---|---|---|---|---|\n"
	for _, d := range devices() {
		want += fmt.Sprintf("| %s | %v | %v | %.2f | %s |\n", d.name, d.memoryGB, d.tbPerS, d.tbPerS/reference.tbPerS, d.source)
	}
	if !strings.Contains(string(b), want+"\n") {
		t.Errorf("docs/anchors.md does not have the table\n%s", want)
	}
}

// Weights that fit no memory fire, whatever the time per token.
func TestWeightsThatDoNotFit(t *testing.T) {
	for _, c := range []struct {
		name, model, product, precision, perWorker string
		fired                                      bool
	}{
		{"70 B in BF16 on one H100", "meta-llama/Llama-3.3-70B-Instruct", "NVIDIA-H100-80GB-HBM3", "bf16", "1", true},
		{"on two", "meta-llama/Llama-3.3-70B-Instruct", "NVIDIA-H100-80GB-HBM3", "bf16", "2", false},
		{"in FP8", "meta-llama/Llama-3.3-70B-Instruct", "NVIDIA-H100-80GB-HBM3", "fp8", "1", false},
		{"on one H200", "meta-llama/Llama-3.3-70B-Instruct", "NVIDIA-H200", "bf16", "1", false},
		{"32 B in BF16 on an L40S", "Qwen/Qwen3-32B", "NVIDIA-L40S", "bf16", "1", true},
		{"14 B on an A100 of 40 GB", "Qwen/Qwen3-14B", "NVIDIA-A100-SXM4-40GB", "bf16", "1", false},
	} {
		f := judged(30)
		f.curve.Fingerprint.Model = c.model
		for k, v := range map[string]string{"gpu_product": c.product, "precision": c.precision, "gpus_per_worker": c.perWorker} {
			f.curve.Fingerprint.Labels[k] = v
		}
		v := f.propose().Anchor.Vetoes[0]
		if !v.Judged || strings.Contains(v.Says, "do not fit") != c.fired || c.fired && !v.Fired {
			t.Errorf("%s: %+v", c.name, v)
		}
	}
}
