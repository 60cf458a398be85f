package enginesim

import "slices"

// PresetInfo describes a preset for help texts and completion.
type PresetInfo struct {
	Name string
	What string
	// Public says that a published measurement pins the curve somewhere; What
	// says which one, and that the rest is assumed.
	Public bool
}

// PresetInfos lists the presets: known systems, shapes, bottlenecks.
func PresetInfos() []PresetInfo {
	var infos []PresetInfo
	for _, e := range presets() {
		infos = append(infos, e.info)
	}
	return infos
}

// Public records and assumptions of the known systems. All are Qwen3-8B with
// AICR's workload, per GPU, from issues and overlays of NVIDIA/aicr.
const (
	whatH100   = "H100. Public: 17,007 tok/s at 256 per GPU (EKS, 8 GPUs, least-loaded, NVIDIA/aicr#1399). Assumed: everything else, also that the knee is at 400"
	whatGB200  = "GB200. Public: 23,732 tok/s at 256 per GPU (EKS, 4 GPUs, least-loaded, NVIDIA/aicr#1374). Assumed: everything else, also that the knee is at 360"
	whatGB300  = "GB300. Public: 21,197 tok/s at 128 and 5,192 at 256 per GPU (EKS, 4 GPUs, 1.2.1, NVIDIA/aicr#2385). Assumed: the bend, that the edge between them is at 210, and that it is the frontend's"
	whatRTX    = "RTX PRO 6000. Public: 9,929 tok/s at 256 per GPU (EKS, 8 GPUs, least-loaded, NVIDIA/aicr#1374). Assumed: everything else, also that the knee is at 340"
	whatB200   = "B200. Never measured in public: all assumed, 22,000 tok/s at 256 per GPU and a batch cap of 448"
	realModel  = "Qwen/Qwen3-8B"
	shapeModel = "simulated/model"
	// vLLM's server default of max_num_seqs on devices of 70 GiB and more that
	// are not an A100.
	serverBatchCap = 1024
)

type entry struct {
	info PresetInfo
	p    Params
}

func presets() []entry {
	list := slices.Concat(knownSystems(), shapes(), bottlenecks())
	for i := range list {
		list[i].p.Preset = list[i].info.Name
	}
	return list
}

func preset(name string) (Params, bool) {
	for _, e := range presets() {
		if e.info.Name == name {
			return e.p, true
		}
	}
	return Params{}, false
}

func presetNames() []string {
	var names []string
	for _, e := range presets() {
		names = append(names, e.info.Name)
	}
	return names
}

// hyperbola is a healthy one-GPU engine with X(n) = A·n·h/(n+h) through a
// point: h is where a GPU has half of its limit, and 4h its knee at e = 0.2.
func hyperbola(h, atN, tokPerSec float64) Params {
	a := tokPerSec * (atN + h) / (atN * h)
	return Params{
		Model: shapeModel, GPUs: 1, WorkersPerGPU: 1, Router: LeastLoaded,
		StepS: 1 / a, StepPerStreamS: 1 / (a * h),
		PrefillTokens: 8, Chunk: 8,
		Speed: 1, Sick: 1, Noise: 0.01, Seed: 1,
	}
}

func knownSystems() []entry {
	system := func(name, what string, public bool, p Params) entry {
		p.Model = realModel
		p.Chunk = 16
		if p.Slots == 0 {
			p.Slots = serverBatchCap
		}
		return entry{PresetInfo{Name: name, What: what, Public: public}, p}
	}
	gb300 := hyperbola(250, 128, 21197)
	gb300.fall(210, 256, 5192)
	b200 := hyperbola(150, 256, 22000)
	b200.Slots = 448
	return []entry{
		system("h100", whatH100, true, hyperbola(100, 256, 17007)),
		system("gb200", whatGB200, true, hyperbola(90, 256, 23732)),
		system("gb300", whatGB300, true, gb300),
		system("rtx-pro-6000", whatRTX, true, hyperbola(85, 256, 9929)),
		system("b200", whatB200, false, b200),
	}
}

// fall gives the law an edge and a power-law fall through a point past it.
// Almost all of the time lost there is waiting for a first token.
func (p *Params) fall(edge, atN, tokPerSec float64) {
	p.FallExponent = slopeTo(edge, p.gpuTokPerSec(edge), atN, tokPerSec)
	p.Edge = edge
	p.ExcessBeforeFirst = 0.9
}
