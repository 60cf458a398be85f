// Package markup writes HTML and SVG of which every word may be hostile: names
// are constants of this program, and text and values are always escaped.
package markup
