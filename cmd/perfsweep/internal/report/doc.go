// Package report renders results for people and for programs; it computes
// nothing that is not already in what it is given.
package report
