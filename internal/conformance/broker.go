package conformance

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// startTimeout is how long the NATS server may take to start.
const startTimeout = 10 * time.Second

// broker is a NATS server without JetStream, whose API subjects are free for the stage.
type broker struct {
	srv   *server.Server
	nc    *nats.Conn
	proxy *proxy   // to where the executor connects
	raw   net.Conn // for what the client library cannot send: messages with a status line
}

// startBroker starts a server that takes messages of at most payload bytes; 0 is NATS' default.
func startBroker(ctx context.Context, payload int32) (*broker, error) {
	srv, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, MaxPayload: payload, NoSigs: true, NoLog: true})
	if err != nil {
		return nil, fmt.Errorf("start NATS: %w", err)
	}
	go srv.Start()
	if !srv.ReadyForConnections(startTimeout) {
		srv.Shutdown()
		return nil, errors.New("start NATS: it is not ready")
	}
	b := &broker{srv: srv}
	if b.nc, err = nats.Connect(srv.ClientURL(), nats.InProcessServer(srv), nats.Name("conformance"), nats.NoEcho()); err != nil {
		b.close()
		return nil, fmt.Errorf("connect to NATS: %w", err)
	}
	if b.raw, err = srv.InProcessConn(); err != nil {
		b.close()
		return nil, fmt.Errorf("connect to NATS: %w", err)
	}
	if _, err := bufio.NewReader(b.raw).ReadString('\n'); err != nil { // INFO
		b.close()
		return nil, fmt.Errorf("connect to NATS: %w", err)
	}
	if _, err := fmt.Fprint(b.raw, "CONNECT {\"verbose\":false,\"headers\":true,\"no_responders\":false,\"echo\":false}\r\n"); err != nil {
		b.close()
		return nil, fmt.Errorf("connect to NATS: %w", err)
	}
	go b.keepAlive()
	if b.proxy, err = startProxy(ctx, srv.Addr().String()); err != nil {
		b.close()
		return nil, fmt.Errorf("start the proxy: %w", err)
	}
	return b, nil
}

// keepAlive answers the server's pings to the raw connection.
func (b *broker) keepAlive() {
	for r := bufio.NewReader(b.raw); ; {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		if line == "PING\r\n" {
			_, _ = fmt.Fprint(b.raw, "PONG\r\n") // the next read reports a broken connection
		}
	}
}

// status sends a message with a status line, as JetStream does.
func (b *broker) status(subject, line string) {
	header := "NATS/1.0 " + line + "\r\n\r\n"
	_, _ = fmt.Fprintf(b.raw, "HPUB %s %d %d\r\n%s\r\n", subject, len(header), len(header), header) // a case that waits for its effect sees a failure
}

// listens reports whether somebody listens on a subject.
func (b *broker) listens(subject string) bool {
	return b.srv.GlobalAccount().SubscriptionInterest(subject)
}

func (b *broker) close() {
	if b.proxy != nil {
		b.proxy.close()
	}
	if b.raw != nil {
		_ = b.raw.Close()
	}
	if b.nc != nil {
		b.nc.Close()
	}
	b.srv.Shutdown()
	b.srv.WaitForShutdown()
}
