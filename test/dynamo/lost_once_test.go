//go:build dynamo

package dynamo

import (
	"testing"
	"time"
)

// TestLostWorker: one worker is gone before a check, and one is killed while
// its first run lasts.
func TestLostWorker(t *testing.T) {
	bin := build(t)
	for name, after := range map[string]time.Duration{"gone before": 0, "killed meanwhile": 8 * time.Second} {
		t.Run(name, func(t *testing.T) { lostWorker(t, bin, after) })
	}
}
