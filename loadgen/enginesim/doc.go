// Package enginesim is a small OpenAI-compatible engine whose throughput law,
// and so its knee, is known in closed form.
//
// Every worker is an egalitarian processor-sharing server: with m streams
// running, each advances at X(m)/m output tokens per second, where X is the
// law of Params. A request of L tokens therefore takes exactly L·m/X(m), and
// n streams held in a closed loop deliver exactly X(n), whatever the lengths
// of their answers. Prefill is a share of those same L tokens' time that
// passes before the first token: it moves TTFT and leaves throughput alone.
// Past a batch or KV cap requests queue in front of the workers, throughput is
// frozen at X(K) and Little's law gives the wait; past an edge or a frontend
// ceiling part of the lost time is spent before the first token.
//
// Time is an absolute service clock, never a chain of relative sleeps, so
// lateness of one wake-up does not add up to a slower engine.
//
// The package shares no codec with the client: they meet on the wire only. Its
// own counters are the truth that a client is held to. It generates nothing:
// answers are numbered words, and prompts are only counted.
package enginesim
