// Package plot draws charts as SVG. The same values, as JSON, are what the page
// draws anew where scripts run.
package plot
