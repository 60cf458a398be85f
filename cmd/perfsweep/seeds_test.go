//go:build !accept

package main

// seeds is how many seeds the short suite tries; "make accept" tries 20.
const seeds = 3
