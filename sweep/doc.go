// Package sweep decides which concurrency to measure next, runs it, and keeps
// the journal from which a curve can always be rebuilt.
//
// Planner is pure: given the runs so far it says what to do next and why. The
// journal is append-only JSON Lines, fsynced a run, and is the only state.
package sweep
