// Package calibrate turns a fitted curve into a defensible gate, and judges
// fresh results against one.
//
// It is pure. A gate that is not met, or not yet built, is unmet; nothing here
// relaxes a default, and missing data is never a pass.
package calibrate
