package sweep

// isotonic is the least-squares fit of a sequence that never falls, by pooling
// adjacent violators: where a later value is lower, both become their weighted
// mean (Barlow, Bartholomew, Bremner & Brunk, Statistical Inference under Order
// Restrictions, 1972).
func isotonic(y, weight []float64) []float64 {
	type block struct {
		value, weight float64
		size          int
	}
	var blocks []block
	for i := range y {
		blocks = append(blocks, block{y[i], weight[i], 1})
		for n := len(blocks); n > 1 && blocks[n-2].value > blocks[n-1].value; n = len(blocks) {
			a, b := blocks[n-2], blocks[n-1]
			w := a.weight + b.weight
			blocks = append(blocks[:n-2], block{(float64(a.value*a.weight) + float64(b.value*b.weight)) / w, w, a.size + b.size})
		}
	}
	out := make([]float64, 0, len(y))
	for _, b := range blocks {
		for range b.size {
			out = append(out, b.value)
		}
	}
	return out
}
