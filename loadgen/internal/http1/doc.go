// Package http1 takes HTTP/1.1 answers apart as their bytes arrive.
//
// net/http pulls an answer out of a connection through a goroutine and three
// layers of readers, which a stream of small chunks pays for at every chunk.
// Here whoever has read bytes hands them over, and gets back the parts of them
// that are body, without a copy.
//
// The rules are those of RFC 9112 for a client that sends POST. Where net/http
// is lenient this is not: an answer is refused that is of another version than
// 1.0 and 1.1, has a status below 100, a control character in its status line,
// a folded field, a space in a field's name, a Transfer-Encoding beside a
// Content-Length or in HTTP/1.0, or a line of its trailers without CR. Trailers
// are read and dropped, whatever a Trailer field announced.
package http1
