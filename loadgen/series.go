package loadgen

// tokensIn is the number of tokens that arrived inside a span; a bin on its
// edge counts in proportion.
func tokensIn(bins []bin, over span) float64 {
	total := 0.0
	for i := max(0, over.from/binWidth); i < int64(len(bins)) && i*binWidth < over.to; i++ {
		a, b := max(over.from, i*binWidth), min(over.to, (i+1)*binWidth)
		if b > a {
			total += bins[i].tokens * float64(b-a) / float64(binWidth)
		}
	}
	return total
}

// series cuts a span into clamp(seconds, 20, 180) equal windows and counts the
// tokens of each.
func series(bins []bin, over span) (tokens []float64, seconds float64) {
	if over.length() <= 0 {
		return nil, 0
	}
	n := min(max(over.length()/1e9, 20), 180)
	for i := range n {
		tokens = append(tokens, tokensIn(bins, span{
			over.from + over.length()*i/n,
			over.from + over.length()*(i+1)/n,
		}))
	}
	return tokens, float64(over.length()) / 1e9 / float64(n)
}

// longestSilence is the longest stretch inside a span without a token on any
// stream. Silences shorter than a bin are not seen.
func longestSilence(bins []bin, over span) int64 {
	longest, last := int64(0), over.from
	for _, b := range bins {
		if b.first == 0 || b.last < over.from {
			continue
		}
		if b.first >= over.to {
			break
		}
		longest = max(longest, b.first-last)
		last = max(last, b.last)
	}
	return max(longest, over.to-last)
}
