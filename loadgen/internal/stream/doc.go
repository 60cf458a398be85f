// Package stream reads what an OpenAI-compatible server streams: it cuts the
// bytes into server-sent events and says of each chunk what it carries without
// decoding it.
//
// Framing follows the SSE part of the HTML standard, with three deviations
// that servers in the field make necessary. A last event without its blank
// line is delivered, because some engines end so. A block that names an event
// "error" is delivered even without data, and with the comments inside it,
// because Dynamo's frontend puts the reason of a failure there. Events with
// other names are delivered like unnamed ones.
package stream
