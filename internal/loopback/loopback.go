// Package loopback opens listeners for servers of tests and benchmarks, which are stopped and
// started again at the same address.
package loopback

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
)

// Listen listens on a free port of 127.0.0.1, from 10000 to 29999. By default, systems take no
// port below 32768 for outgoing connections. So after the listener is closed, no connection of
// another process is given its port, and a server can listen there again.
func Listen(ctx context.Context) (l net.Listener, err error) {
	var config net.ListenConfig
	for range 100 {
		l, err = config.Listen(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", 10_000+rand.IntN(20_000))) //nolint:gosec // any will do
		if err == nil {
			break
		}
	}
	return l, err
}
