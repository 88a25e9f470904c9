//go:build unix

package processtest

import (
	"net"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/loopback"
)

// FreePorts returns ports of loopback on which nobody listened just now, and on which a
// process can listen again after it was killed.
func FreePorts(t *testing.T, n int) []int {
	t.Helper()
	ports := make([]int, n)
	for i := range ports {
		l, err := loopback.Listen(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }() // all are held until all are chosen
		ports[i] = l.Addr().(*net.TCPAddr).Port
	}
	return ports
}
