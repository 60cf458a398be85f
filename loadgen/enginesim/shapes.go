package enginesim

import "math"

// slopeTo is the exponent of the power law that falls from one point to another.
func slopeTo(n0, x0, n1, x1 float64) float64 { return math.Log(x0/x1) / math.Log(n1/n0) }

func shapes() []entry {
	kneed := hyperbola(40, 32, 3200)
	kneed.Slots = 68
	retrograde := hyperbola(160, 32, 2600)
	retrograde.fall(88, 176, 0.5*retrograde.gpuTokPerSec(88))
	retrograde.KVTokens, retrograde.KVTokensPerStream = 88*1024, 1024
	retrograde.Preempts = true
	twoStage := hyperbola(1e6, 1, 70)
	twoStage.Bend, twoStage.BendSlope = 24, 0.45
	twoStage.Slots = 116
	flat := hyperbola(1, 1, 1)
	flat.StepS, flat.StepPerStreamS = 0, 1.0/1500
	return []entry{
		shape("kneed", "bends and stops at a full batch; knee at 68", kneed),
		shape("retrograde", "a KV cache that thrashes past 88 streams and has lost half at 176", retrograde),
		shape("still-rising", "no knee below 8,000 streams", hyperbola(2000, 64, 2400)),
		shape("flat", "saturated by the first stream", flat),
		shape("two-stage", "linear to 24, then as n^0.45 to a full batch; knee at 116", twoStage),
	}
}

func bottlenecks() []entry {
	batchCap := hyperbola(300, 48, 2900)
	batchCap.Slots = 48
	kvBound := hyperbola(120, 32, 2200)
	kvBound.Slots = 256
	kvBound.KVTokens, kvBound.KVTokensPerStream = 32*4096, 4096
	frontend := hyperbola(400, 90, 4500)
	frontend.FrontendTokPerSec = 4500
	frontend.ExcessBeforeFirst = 0.6
	client := hyperbola(300, 1, 3000)
	client.Slots = 256
	client.Chunk = 1
	sick := hyperbola(100, 96, 3600)
	sick.Slots = 96
	sick.WorkersPerGPU = 4
	lost := sick
	sick.Sick = 0.5
	lost.Lost = 1
	stall := hyperbola(40, 32, 3200)
	stall.Slots = 68
	stall.Stall = 0.3
	shedding := hyperbola(80, 40, 2400)
	shedding.Slots = 40
	shedding.QueueLimit = 8
	return []entry{
		shape("batch-cap", "a batch cap of 48 on an engine that could do more; requests queue past it", batchCap),
		shape("compute", "smooth saturation of compute and bandwidth; knee at 84, nothing queues", hyperbola(21, 84, 3000)),
		shape("kv-bound", "a KV cache of 32 streams behind a batch cap of 256", kvBound),
		shape("frontend-bound", "a frontend of 4,500 tok/s in total: knee at 90 on one GPU, lower on more", frontend),
		shape("client-bound", "3,000 one-token chunks/s a stream, up to 256 streams: a client saturates long before the engine, and what it measures is itself", client),
		shape("sick-worker", "four workers a GPU, one of them all at half speed; batch cap 96", sick),
		shape("lost-worker", "four workers a GPU of which one is gone; batch cap 96, so the knee is at 72", lost),
		shape("stall", "kneed, standing still in three of each ten 5 s windows", stall),
		shape("shedding", "refuses with 529 once 8 requests wait behind a batch cap of 40", shedding),
	}
}

func shape(name, what string, p Params) entry { return entry{PresetInfo{Name: name, What: what}, p} }
