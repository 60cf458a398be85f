// Package live draws where a campaign stands, in place, on a terminal. What to
// draw is a pure function of a State; a Screen alone writes.
package live
