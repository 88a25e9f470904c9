package loopback_test

import (
	"fmt"
	"net"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/loopback"
)

func TestAPortIsNoneThatConnectionsAreGiven(t *testing.T) {
	for range 100 {
		l, err := loopback.Listen(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }()
		if port := l.Addr().(*net.TCPAddr).Port; port < 10_000 || port >= 30_000 {
			t.Errorf("it listens on port %d", port)
		}
	}
}

// The mark of a reservation is the UDP port, which the system gives to one process only.
func TestAReservedPortIsGivenToNobodyElse(t *testing.T) {
	given := map[int]bool{}
	for range 100 {
		port, err := loopback.Reserve(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if given[port] {
			t.Errorf("port %d is given twice", port)
		}
		given[port] = true
		var config net.ListenConfig
		address := fmt.Sprintf("127.0.0.1:%d", port)
		if mark, err := config.ListenPacket(t.Context(), "udp", address); err == nil {
			t.Errorf("another process could reserve port %d", port)
			_ = mark.Close()
		}
		l, err := config.Listen(t.Context(), "tcp", address)
		if err != nil {
			t.Errorf("nobody can listen on port %d: %v", port, err)
			continue
		}
		_ = l.Close()
	}
}
