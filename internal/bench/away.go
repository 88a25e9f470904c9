package bench

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"

	"github.com/carillon-scheduler/carillon/internal/loopback"
	"github.com/carillon-scheduler/carillon/logstore/clickhouse"
)

// away is a ClickHouse that nobody can reach until it is restored: a store's connections come to a
// port of this machine where nothing listens before.
type away struct {
	store    *clickhouse.Store
	at, real string // HOST:PORT
}

// cutOff returns the world's own database as one that is away.
func (w *storeWorld) cutOff(ctx context.Context) (*away, error) {
	port, err := loopback.Reserve(ctx)
	if err != nil {
		return nil, err
	}
	at := fmt.Sprintf("127.0.0.1:%d", port)
	u, err := url.Parse(w.own)
	if err != nil {
		return nil, err
	}
	a := &away{at: at, real: u.Host}
	u.Host = at
	a.store, err = clickhouse.Open(u.String(), clickhouse.Config{})
	return a, err
}

// restore lets connections through until stop is called.
func (a *away) restore(ctx context.Context) (stop func(), err error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", a.at)
	if err != nil {
		return nil, err
	}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return // stopped
			}
			go a.carry(ctx, client)
		}
	}()
	return func() { _ = l.Close() }, nil
}

// carry copies both ways until one side ends.
func (a *away) carry(ctx context.Context, client net.Conn) {
	defer func() { _ = client.Close() }()
	var dialer net.Dialer
	server, err := dialer.DialContext(ctx, "tcp", a.real)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	go func() {
		_, _ = io.Copy(server, client)
		_ = server.Close()
	}()
	_, _ = io.Copy(client, server)
}
