// Package observe reads what the servers say of themselves while a level runs,
// and attributes the bottleneck.
package observe
