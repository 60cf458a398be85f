// Package reference writes the reference from what the program itself knows:
// pages and man pages from the tree of commands, JSON schemas from the types
// that are encoded.
package reference

// File is one file of the reference; Path is below its folder, with slashes.
type File struct {
	Path string
	Text string
}
