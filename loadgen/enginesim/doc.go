// Package enginesim is a small OpenAI-compatible engine whose throughput law,
// and so its knee, is known in closed form.
//
// It shares no codec with the client: they meet on the wire only. Its own
// counters are the truth that a client is held to.
package enginesim
