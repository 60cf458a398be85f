package calibrate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/perfsweep/perfsweep/sweep"
)

// device is a GPU with the size of its memory and the peak rate at which it is
// read.
type device struct {
	name string
	// tokens of the product name, all of which must occur as whole words.
	tokens   []string
	memoryGB float64
	tbPerS   float64
	source   string // NVIDIA's document of each figure
}

// devices are the GPUs whose memory is known, the more specific name first.
// Where variants of one name or NVIDIA's own documents differ, the faster and the
// larger figure is taken: both bounds must never refuse a sound device.
func devices() []device {
	return []device{
		{"GB300", []string{"GB300"}, 288, 8, "Blackwell Ultra Datasheet, GB300 NVL72: 279 GB usable, 8 TB/s; Technical Blog, Inside NVIDIA Blackwell Ultra: 288 GB"},
		{"GB200", []string{"GB200"}, 192, 8, "GB200 NVL72 data sheet: 372 GB usable and 16 TB/s of two GPUs; NIM support matrix: 192 GB"},
		{"B300", []string{"B300"}, 288, 8, "Technical Blog, Inside NVIDIA Blackwell Ultra: 288 GB, 8 TB/s; Blackwell Ultra Datasheet, HGX B300: 270 GB usable, 7.7 TB/s"},
		{"B200", []string{"B200"}, 192, 8, "DGX B200 data sheet: 1,440 GB usable and 64 TB/s of eight GPUs; Blackwell architecture brief: 192 GB"},
		{"H200", []string{"H200"}, 141, 4.8, "H200 data sheet, SXM and NVL"},
		{"H100 NVL", []string{"H100", "NVL"}, 94, 3.938, "H100 NVL product brief; H100 data sheet: 3.9 TB/s"},
		{"H100 PCIe", []string{"H100", "PCIE"}, 80, 2.039, "H100 PCIe product brief; H100 data sheet: 2 TB/s"},
		{"H100", []string{"H100"}, 80, 3.35, "H100 data sheet, SXM"},
		{"A100 40GB", []string{"A100", "40GB"}, 40, 1.555, "A100 data sheet, SXM and PCIe"},
		{"A100", []string{"A100"}, 80, 2.039, "A100 data sheet, 80 GB SXM; PCIe: 1.935 TB/s"},
		{"L40S", []string{"L40S"}, 48, 0.864, "L40S data sheet"},
		{"L40", []string{"L40"}, 48, 0.864, "L40 data sheet"},
		{"RTX PRO 6000 Server Edition", []string{"RTX", "PRO", "6000", "SERVER"}, 96, 1.597, "RTX PRO 6000 Blackwell Server Edition data sheet"},
		{"RTX PRO 6000", []string{"RTX", "PRO", "6000"}, 96, 1.792, "RTX PRO 6000 Blackwell Workstation Edition data sheet"},
	}
}

// deviceOf finds a GPU by the product name that the node is labelled with, by
// whole words: GB200 is no B200.
func deviceOf(product string) (device, bool) {
	words := strings.FieldsFunc(strings.ToUpper(product), func(r rune) bool {
		return (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	})
	var found []device
	for _, d := range devices() {
		all := !slices.ContainsFunc(d.tokens, func(t string) bool { return !slices.Contains(words, t) })
		if all && !slices.ContainsFunc(found, func(o device) bool { return covers(o, d) }) {
			found = append(found, d)
		}
	}
	if len(found) != 1 { // none, or a mixture of products
		return device{}, false
	}
	return found[0], true
}

// covers: a more specific name was found before.
func covers(specific, general device) bool {
	return !slices.ContainsFunc(general.tokens, func(t string) bool { return !slices.Contains(specific.tokens, t) })
}

// OtherAccelerator says that something was measured on another GPU than the overlay
// with that criterion is for, "" where it was not, or one of the two is not stated or
// not known here: half of the speed of a faster device would pass for a healthy one.
func OtherAccelerator(criterion string, f sweep.Fingerprint) string {
	product := f.Labels["gpu_product"]
	is, known := deviceOf(product)
	meant, named := deviceOf(criterion)
	if !known || !named || covers(is, meant) {
		return ""
	}
	return fmt.Sprintf("the overlay is for accelerator %s, measured was %s (gpu_product): take the overlay of that GPU", printable(criterion), printable(product))
}

// weights are the parameters of a model that each token reads, in 10⁹: at least
// those without embeddings, at most all that are active.
type weights struct {
	least, most float64
	source      string
}

// modelOfWeights finds the sizes of a model by its name.
func modelOfWeights(model string) (weights, bool) {
	const qwen = "model card, parameters and non-embedding parameters"
	const llama = "model card, less two tables of 128,256 rows for the least"
	w, ok := map[string]weights{
		"qwen3-0.6b":    {0.44, 0.6, qwen},
		"qwen3-1.7b":    {1.4, 1.7, qwen},
		"qwen3-4b":      {3.6, 4.0, qwen},
		"qwen3-8b":      {6.95, 8.2, qwen},
		"qwen3-14b":     {13.2, 14.8, qwen},
		"qwen3-32b":     {31.2, 32.8, qwen},
		"qwen3-30b-a3b": {2.7, 3.3, "model card, activated parameters, less the embedding for the least"},

		"llama-3.1-8b-instruct":  {6.98, 8.03, llama},
		"llama-3.1-70b-instruct": {68.4, 70.6, llama},
		"llama-3.3-70b-instruct": {68.4, 70.6, llama},
	}[strings.ToLower(strings.TrimSuffix(model[strings.LastIndex(model, "/")+1:], "-FP8"))]
	return w, ok
}

// bytesPerWeight knows the precisions by the names that engines use.
func bytesPerWeight(precision string) (float64, bool) {
	b, ok := map[string]float64{
		"bf16": 2, "bfloat16": 2, "fp16": 2, "float16": 2,
		"fp8": 1, "int8": 1, "fp8_e4m3": 1,
		// A scale of 8 bits for each 16 weights, and one of 8 for each 32.
		"nvfp4": 0.5625, "fp4": 0.5625, "mxfp4": 0.53125,
	}[strings.ToLower(precision)]
	return b, ok
}

// gpusPerWorker is what the labels state, else what GPUs and workers give; 0
// where neither is stated.
func (e *evidence) gpusPerWorker() int {
	f := e.curve.Fingerprint
	if n, err := strconv.Atoi(f.Labels["gpus_per_worker"]); err == nil && n > 0 {
		return n
	}
	if w, stated := workers(f); stated && f.GPUs%w == 0 {
		return f.GPUs / w
	}
	return 0
}
