package chserver

import (
	"context"
	"io"
	"net"
	"strconv"
	"sync"

	"github.com/carillon-scheduler/carillon/internal/loopback"
)

// door is where clients come in. It carries what they and the server say to each other,
// and hides from the server how a client leaves: clickhouse-local ends when a connection
// on which it waits for a query is reset, which happens to a client that leaves before it
// has read an answer whole. Behind the door each one leaves in order.
type door struct {
	listener net.Listener
	to       string // the address of the server itself
	wait     sync.WaitGroup

	mu      sync.Mutex // guards clients
	clients map[net.Conn]struct{}
}

// openDoor opens a door at a port of a host, or if it is 0, at one of loopback that it can be opened at
// again.
func openDoor(ctx context.Context, host string, port int, to string) (*door, error) {
	var l net.Listener
	var err error
	if port == 0 {
		l, err = loopback.Listen(ctx)
	} else {
		var config net.ListenConfig
		l, err = config.Listen(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	}
	if err != nil {
		return nil, err
	}
	d := &door{listener: l, to: to, clients: map[net.Conn]struct{}{}}
	d.wait.Go(d.serve)
	return d, nil
}

// port returns where the door is.
func (d *door) port() string {
	_, port, _ := net.SplitHostPort(d.listener.Addr().String())
	return port
}

// close sends the clients away, once the server has gone. It may be called again.
func (d *door) close() {
	_ = d.listener.Close()
	d.mu.Lock()
	for c := range d.clients {
		_ = c.Close()
	}
	d.mu.Unlock()
	d.wait.Wait()
}

func (d *door) add(client net.Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.clients[client] = struct{}{}
}

func (d *door) remove(client net.Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	_ = client.Close()
	delete(d.clients, client)
}

func (d *door) serve() {
	for {
		client, err := d.listener.Accept()
		if err != nil {
			return // it is closed
		}
		d.add(client)
		d.wait.Go(func() {
			defer d.remove(client)
			server, err := net.Dial("tcp", d.to) //nolint:noctx // the server listens, or has gone
			if err != nil {
				return
			}
			defer func() { _ = server.Close() }()
			carry(client, server)
		})
	}
}

// carry returns when the server has nothing more to say to the client.
func carry(client, server net.Conn) {
	var wait sync.WaitGroup
	defer wait.Wait()
	defer func() { _ = client.Close() }() // ends the reading below
	wait.Go(func() {
		_, _ = io.Copy(server, client)
		if half, ok := server.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite() // the client has gone, however it went
		}
	})
	// What has been sent and is not read would have the system reset this connection.
	if _, err := io.Copy(client, server); err != nil {
		_, _ = io.Copy(io.Discard, server)
	}
}
