// Package recipes reads and edits AICR overlays without disturbing a byte it
// was not asked to change, and evaluates their gates as AICR does.
//
// An edit is a text splice at parsed positions, proved by re-parsing; a layout
// that the splicer does not understand is refused, never guessed at.
package recipes
