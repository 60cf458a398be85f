// Package aiperf speaks AIPerf's flags and files.
//
// It follows AIPerf 0.13.0: the names and formats of its command line, the
// names, units and statistics of its metrics, and the layout of what it
// exports. The numbers are this module's own: tokens come from the server's
// usage and times from the generator's clock. Differences from AIPerf are
// deliberate, and listed with their reasons in this package's tests.
package aiperf

// What the files claim to be.
const (
	// Version is the AIPerf whose flags and files these are.
	Version = "0.13.0"
	// schemaVersion is what that version writes into its summary.
	schemaVersion = "1.4"
)
