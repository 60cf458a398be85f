// Package structure holds the tests that keep the repository's shape: which
// package may import which, how long files and functions may be, what must be
// documented, and what may not be used at all. It has no code of its own.
package structure
