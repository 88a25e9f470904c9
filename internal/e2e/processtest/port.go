//go:build unix

package processtest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"syscall"
	"testing"
)

// FreePorts returns ports of loopback on which nobody listened just now. The system does
// not give them out as ephemeral ports: else a process that is killed and started again
// would sometimes find its port taken by a connection of another process.
func FreePorts(t *testing.T, n int) []int {
	t.Helper()
	var ports []int
	for len(ports) < n {
		port := 10_000 + rand.IntN(20_000)
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if errors.Is(err, syscall.EADDRINUSE) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }() // all are held until all are chosen
		ports = append(ports, port)
	}
	return ports
}
