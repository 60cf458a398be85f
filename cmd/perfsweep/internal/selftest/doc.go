// Package selftest measures what this machine can drive: the load generator
// against a paced server in a process of its own, whose records are the truth.
package selftest
