//go:build accept

package main

const (
	kills       = 20
	killLevels  = "8,16,32,64"
	killRepeats = "4"
)
