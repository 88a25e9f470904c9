package node

import (
	"context"
	"fmt"
	"net"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/webapi"
)

// defaultHTTP is where dev and server listen, and where the client looks for them.
const defaultHTTP = "127.0.0.1:8822"

// listen takes the API's address, before anything else is started: a port that is
// taken is the commonest reason why a start fails.
func listen(ctx context.Context, addr string, web webapi.Config) (net.Listener, error) {
	if err := web.CheckAddr(addr); err != nil {
		return nil, err
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen for the API on the address of --http: %w", err)
	}
	return l, nil
}

// publicURL returns where people reach the console: as it was said, or where it listens;
// "" when neither is known.
func (c nodeConfig) publicURL(listener net.Listener) string {
	switch {
	case c.web.PublicURL != "" || listener == nil:
		return c.web.PublicURL
	case c.web.TLS != nil:
		return "https://" + listener.Addr().String()
	}
	return "http://" + listener.Addr().String()
}

// checkLoopback refuses an address that other machines can reach, before anything is
// started.
func checkLoopback(field, addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return &job.InvalidError{Field: field, Reason: fmt.Sprintf("%q must be HOST:PORT, as in %s", addr, defaultHTTP)}
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return &job.InvalidError{Field: field, Reason: fmt.Sprintf("%q must be a loopback address: nobody needs to sign in, so whoever reached it could run programs", addr)}
	}
	return nil
}
