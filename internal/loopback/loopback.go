// Package loopback gives ports of 127.0.0.1 to servers of tests and benchmarks, which listen on
// them later than they are chosen, or again after they were stopped.
package loopback

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
)

// reservations keeps what reserves the ports of this process.
var reservations struct {
	mu   sync.Mutex
	held []net.PacketConn // on the UDP ports of the same numbers
}

// Reserve returns a port of 127.0.0.1, from 10000 to 29999, on which nobody listens. It belongs to
// this process until that ends: Reserve and Listen give it to no other caller, in no process. By
// default, systems take no port below 32768 for outgoing connections and for servers that choose
// none. It may be called concurrently.
func Reserve(ctx context.Context) (port int, err error) {
	var config net.ListenConfig
	for range 1000 {
		port = 10_000 + rand.IntN(20_000) //nolint:gosec // any will do
		address := fmt.Sprintf("127.0.0.1:%d", port)
		var mark net.PacketConn
		if mark, err = config.ListenPacket(ctx, "udp", address); err != nil {
			continue
		}
		var probe net.Listener
		if probe, err = config.Listen(ctx, "tcp", address); err != nil {
			_ = mark.Close()
			continue
		}
		_ = probe.Close()
		reservations.mu.Lock()
		defer reservations.mu.Unlock()
		reservations.held = append(reservations.held, mark)
		return port, nil
	}
	return 0, err
}

// Listen listens on a port that it reserves: after the listener is closed, a server can listen there
// again.
func Listen(ctx context.Context) (net.Listener, error) {
	port, err := Reserve(ctx)
	if err != nil {
		return nil, err
	}
	var config net.ListenConfig
	return config.Listen(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
}
