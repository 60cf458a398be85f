package loadgen

import (
	"fmt"
	"math"
)

// calibrate finds how many tokens the server counts for prompts of our making.
// A line through the warm probes, which have two lengths, gives the tokens of a
// word and what every prompt has beside its words. Of the latter, one more
// probe tells the chat template from the numbers that prompts begin with: its
// words hold none. It asks for one output token only.
func (pr *prober) calibrate() {
	p := pr.p
	base, slope, ok := line(pr.words, pr.tokens)
	switch {
	case !ok:
		p.Warnings = append(p.Warnings, "prompt length was not calibrated: one word is taken as one token")
		return
	case !(slope > 0.1 && slope < 20):
		p.Warnings = append(p.Warnings, fmt.Sprintf("prompt length was not calibrated: the server counts %.2g tokens a word; one word is taken as one token", slope))
		return
	}
	p.WordsPerToken, p.OverheadTokens = 1/slope, base
	words := pr.w.spec.ISL
	r := pr.do(pr.bodies().with(pr.w.words(probeNumber+maxProbes, words, 0), 1))
	if r.outcome != OK {
		p.Warnings = append(p.Warnings, fmt.Sprintf("input lengths may be off: a request without numbers failed (%s): %s", r.outcome, r.text))
		return
	}
	p.NumberTokens = max(0, math.Round(base+slope*float64(words))-float64(r.tokens.Prompt))
	p.OverheadTokens = base - p.NumberTokens
}

// line fits y = base + slope·x by least squares; it cannot where all x are one.
func line(x, y []float64) (base, slope float64, ok bool) {
	n := float64(len(x))
	var meanX, meanY float64
	for i := range x {
		meanX += x[i] / n
		meanY += y[i] / n
	}
	var sxx, sxy float64
	for i := range x {
		sxx += (x[i] - meanX) * (x[i] - meanX)
		sxy += (x[i] - meanX) * (y[i] - meanY)
	}
	if !(sxx > 0) {
		return 0, 0, false
	}
	slope = sxy / sxx
	return meanY - slope*meanX, slope, true
}
