//go:build !linux

package loadgen

// machineSlept is not known here.
func machineSlept() int64 { return 0 }
