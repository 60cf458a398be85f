package loadgen

import (
	"math"
	"strconv"
)

// Streams of randomness: each draw of a request has its own.
const (
	drawISL uint64 = iota + 1
	drawOSL
	drawWord
)

// sharedNumber is the "request" whose words all prompts begin with; no run
// comes to it.
const sharedNumber = uint64(1) << 63

// lengths is a distribution of token counts: a normal one, cut off
// symmetrically at 1 and 2 × mean − 1. Cutting at 1 alone would raise the mean
// that was asked for. The scale of the normal is widened so that what is left
// after the cut has the standard deviation that was asked for.
type lengths struct {
	mean  int
	scale float64 // √2 σ of the uncut normal; 0 = always the mean
	cut   float64 // probability that the uncut normal keeps
}

// widest is the largest standard deviation of lengths around a mean: half of
// the reach. A flat distribution over the same reach has 0.58 of it, so what
// lies between has no bell left.
func widest(mean int) float64 { return float64(mean-1) / 2 }

func newLengths(mean, stddev int) lengths {
	l := lengths{mean: mean}
	if stddev <= 0 {
		return l
	}
	reach, want := float64(mean-1), float64(stddev)
	// At the widest, σ is 0.77 of the reach.
	low, high := want, max(want, reach)
	for range 60 {
		if mid := (low + high) / 2; cutStddev(mid, reach) < want {
			low = mid
		} else {
			high = mid
		}
	}
	sigma := (low + high) / 2
	l.scale, l.cut = math.Sqrt2*sigma, math.Erf(reach/sigma/math.Sqrt2)
	return l
}

// cutStddev is the standard deviation of a normal one that was cut at ± reach.
func cutStddev(sigma, reach float64) float64 {
	a := reach / sigma
	density := math.Exp(-a*a/2) / math.Sqrt(2*math.Pi)
	return sigma * math.Sqrt(max(0, 1-2*a*density/math.Erf(a/math.Sqrt2)))
}

// draw is a length, a function of its arguments alone.
func (l lengths) draw(seed, i, stream uint64) int {
	if l.scale == 0 {
		return l.mean
	}
	u := (float64(mix(seed, i, stream)>>11)+.5)/(1<<52) - 1 // in (−1, 1)
	n := int(math.Round(float64(l.mean) + l.scale*math.Erfinv(u*l.cut)))
	return min(max(n, 1), 2*l.mean-1)
}

// prompt is prompt i as a JSON string, and its length in tokens. The length is
// hit by the server's own count: the preflight measured how many tokens words
// have. What is left is the rounding to a whole word, and words that are rarer
// than they look.
func (w *Workload) prompt(i uint64) (text []byte, tokens int) {
	tokens = w.in.draw(w.spec.Seed, i, drawISL)
	words := max(1, int(math.Round((float64(tokens)-w.numberTokens)*w.wordsPerToken)))
	return w.words(i, words, numbers), tokens
}

// numbers is how many words of a stream are "w" and a number: a tokenizer that
// knows no other words (those of test engines) would otherwise see equal
// prompts. Prefix caches hash blocks in a chain, so that prompts which differ
// in the first block share none. The numbers have four digits each, and there
// is no more of them in a long prompt: tokens then grow with the words evenly,
// whether a tokenizer has one token for a number or one a digit.
const numbers = 3

// words is a prompt of so many words as a JSON string.
func (w *Workload) words(i uint64, words, numbers int) []byte {
	const wordBytes = 7 // with its space; more than they have on average
	shared := int(math.Round(w.spec.SharedPrefix * float64(words)))
	out := append(make([]byte, 0, words*wordBytes+2), '"')
	out = appendWords(out, w.spec.Seed, sharedNumber, shared, numbers)
	if shared > 0 && shared < words {
		out = append(out, ' ')
	}
	out = appendWords(out, w.spec.Seed, i, words-shared, numbers)
	return append(out, '"')
}

// appendWords writes the first words of stream i.
func appendWords(dst []byte, seed, i uint64, words, numbers int) []byte {
	stream := mix(seed, i, drawWord)
	for k := range words {
		if k > 0 {
			dst = append(dst, ' ')
		}
		r := stir(stream, uint64(k))
		if k < numbers {
			dst = append(dst, 'w')
			dst = strconv.AppendUint(dst, 1000+r%1048, 10)
		} else {
			dst = append(dst, commonWords[r%uint64(len(commonWords))]...)
		}
	}
	return dst
}

// mix hashes its arguments with the finalizer of SplitMix64 (Steele, Lea &
// Flood 2014), one round each.
func mix(words ...uint64) uint64 {
	h := uint64(0)
	for _, w := range words {
		h = stir(h, w)
	}
	return h
}

// stir is one round of mix.
func stir(h, w uint64) uint64 {
	h += w + 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}
