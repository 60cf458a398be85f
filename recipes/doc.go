// Package recipes reads and edits AICR overlays without disturbing a byte it
// was not asked to change, and evaluates their gates as AICR does.
//
// An edit is a text splice at parsed positions, proved by re-parsing; a layout
// that the splicer does not understand is refused, never guessed at. The YAML
// parser gives only where a node begins, counts characters and says nothing of
// comments, so the splicer works on lines: it finds where nodes end, replaces
// scalars within a line, and adds or drops whole lines. Encoding the tree again
// is no option: it loses blank lines and re-indents lists.
//
// What the package does not do: edit where spec or validation are in flow style,
// and read files with tabs, anchors or several documents. Resolve follows base and mixins, because a leaf file is not the
// whole truth.
package recipes
