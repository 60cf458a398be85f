package loadgen

import "time"

// tell hands a finished request to whoever asked for it.
func (c *campaign) tell(e *exchange, m *sample, text string, number uint64, stream int) {
	if c.cfg.OnRequest == nil {
		return
	}
	r := m.request()
	r.Number, r.Stream, r.Error = number, stream, text
	r.FinishReason = cleanText(e.script.finishReason, e.secrets...)
	r.ServerTTFT = e.script.serverTTFT
	e.chunks = e.chunks[:0]
	for _, at := range e.script.times {
		e.chunks = append(e.chunks, time.Duration(at))
	}
	r.Chunks = e.chunks
	c.cfg.OnRequest(r)
}

// request is the sample under the names of the exported record.
func (s *sample) request() Request {
	return Request{
		WarmUp: s.phase == warmUp, TopUp: s.phase == topUp, Outcome: s.outcome,
		Asked: time.Duration(s.wanted), Sent: time.Duration(s.sent),
		NewConnection: s.dialled, Connect: time.Duration(s.connect), TLS: time.Duration(s.tls),
		Headers: time.Duration(s.headers), FirstToken: time.Duration(s.first), SecondToken: time.Duration(s.second),
		FirstVisible: time.Duration(s.visible), LastToken: time.Duration(s.last), End: time.Duration(s.end),
		OutputTokens: s.tokens.Completion, PromptTokens: s.tokens.Prompt, AskedTokens: s.asked,
		ReasoningTokens: s.tokens.Reasoning, ReasoningTold: s.tokens.ReasoningTold,
		CachedTokens: s.tokens.Cached, CachedTold: s.tokens.CachedTold,
	}
}
