//go:build unix

package processtest

import (
	"os"
	"testing"
	"time"
)

// ChaosFor returns how long faults are to be injected: as long as CARILLON_CHAOS says, else for short.
func ChaosFor(t *testing.T, short time.Duration) time.Duration {
	t.Helper()
	text := os.Getenv("CARILLON_CHAOS")
	if text == "" {
		return short
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("CARILLON_CHAOS: %v", err)
	}
	return d
}
