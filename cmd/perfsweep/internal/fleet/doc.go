// Package fleet drives one run from several generators at once and merges what
// they recorded into one result.
//
// A generator is a process that runs Serve; a Fleet tells the generators what
// to do, over calls of their control servers, and collects what they recorded
// from the lines that they print. How a generator is reached is the business
// of a Pod.
package fleet
