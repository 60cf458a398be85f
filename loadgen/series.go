package loadgen

// tokensIn is the number of tokens that arrived inside a span.
func tokensIn(bins []bin, over span) float64 { return sumIn(bins, over, allTokens) }

func allTokens(b *bin) float64  { return b.tokens }
func goodTokens(b *bin) float64 { return b.good }

// sumIn adds up what is in the bins of a span; one on its edge counts in
// proportion.
func sumIn(bins []bin, over span, value func(*bin) float64) float64 {
	total := 0.0
	for i := max(0, over.from/binWidth); i < int64(len(bins)) && i*binWidth < over.to; i++ {
		a, b := max(over.from, i*binWidth), min(over.to, (i+1)*binWidth)
		if b > a {
			total += value(&bins[i]) * float64(b-a) / float64(binWidth)
		}
	}
	return total
}

// cut divides a span into clamp(seconds, 20, 180) equal windows; an empty one
// has none.
func (s span) cut() []span {
	if s.length() <= 0 {
		return nil
	}
	n := min(max(s.length()/1e9, 20), 180)
	parts := make([]span, n)
	for i := range n {
		parts[i] = span{s.from + s.length()*i/n, s.from + s.length()*(i+1)/n}
	}
	return parts
}

// series counts the tokens of each window of a span.
func series(bins []bin, over span) (tokens []float64, seconds float64) {
	parts := over.cut()
	if len(parts) == 0 {
		return nil, 0
	}
	for _, p := range parts {
		tokens = append(tokens, tokensIn(bins, p))
	}
	return tokens, float64(over.length()) / 1e9 / float64(len(parts))
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
