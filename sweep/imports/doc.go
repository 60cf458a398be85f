// Package imports reads curves that other tools measured: CSV files, AIPerf's
// artifact folders and GuideLLM's reports. Units are checked, never guessed, and
// a run that fails a run gate of ours is left out and told.
package imports
