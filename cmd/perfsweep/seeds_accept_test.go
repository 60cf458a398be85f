//go:build accept

package main

const (
	seeds       = 20
	everySystem = true
)
