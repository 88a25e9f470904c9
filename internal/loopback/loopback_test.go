package loopback_test

import (
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
