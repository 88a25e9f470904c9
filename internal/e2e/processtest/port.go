//go:build unix

package processtest

import (
	"testing"

	"github.com/carillon-scheduler/carillon/internal/loopback"
)

// FreePorts returns ports of loopback on which nobody listens, and which no other test is given.
func FreePorts(t *testing.T, n int) []int {
	t.Helper()
	ports := make([]int, n)
	for i := range ports {
		var err error
		if ports[i], err = loopback.Reserve(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return ports
}
