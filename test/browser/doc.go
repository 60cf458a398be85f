// Package browser holds the report's page to what a reader meets: a real
// Chromium opens it, rests a pointer on it, and prints it.
package browser
