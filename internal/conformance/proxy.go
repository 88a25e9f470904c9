package conformance

import (
	"bytes"
	"context"
	"io"
	"net"
	"sync"
)

// A NATS server lets no client publish with a reply subject of JetStream's acknowledgements, which the
// stage must do. So the stage publishes with another first token of the same length, and the proxy
// between the server and the executor puts the right one in its place.
const (
	ackPrefix   = "$JS.ACK."
	stagePrefix = "KJS.ACK."
)

// proxy stands between the executor and the NATS server. It can cut the two off from each other.
type proxy struct {
	listener net.Listener
	server   string

	mu    sync.Mutex
	away  bool
	conns []net.Conn
}

func startProxy(ctx context.Context, server string) (*proxy, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{listener: l, server: server}
	go p.serve(ctx)
	return p, nil
}

// url is where the executor connects.
func (p *proxy) url() string { return "nats://" + p.listener.Addr().String() }

func (p *proxy) serve(ctx context.Context) {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		upstream, err := (&net.Dialer{}).DialContext(ctx, "tcp", p.server)
		p.mu.Lock()
		if err != nil || p.away {
			p.mu.Unlock()
			_ = client.Close() // it tries again
			if err == nil {
				_ = upstream.Close()
			}
			continue
		}
		p.conns = append(p.conns, client, upstream)
		p.mu.Unlock()
		go pipe(upstream, client, false)
		go pipe(client, upstream, true)
	}
}

// cut ends all connections, and refuses new ones until heal.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.away = true
	for _, c := range p.conns {
		_ = c.Close() // that is the point
	}
	p.conns = nil
}

func (p *proxy) heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.away = false
}

func (p *proxy) close() {
	_ = p.listener.Close() // nothing more comes
	p.cut()
}

// pipe copies what comes from one side to the other until one of them ends.
func pipe(to, from net.Conn, rename bool) {
	defer func() { _, _ = to.Close(), from.Close() }()
	if !rename {
		_, _ = io.Copy(to, from)
		return
	}
	buf := make([]byte, 0, 64<<10)
	for {
		n, err := from.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		done := bytes.ReplaceAll(buf, []byte(stagePrefix), []byte(ackPrefix))
		held := beginning(done)
		if _, failed := to.Write(done[:len(done)-held]); failed != nil || err != nil {
			return
		}
		buf = append(buf[:0], done[len(done)-held:]...)
	}
}

// beginning returns how many bytes at the end of p may be the beginning of a prefix whose rest is
// still to come.
func beginning(p []byte) int {
	for n := min(len(p), len(stagePrefix)-1); n > 0; n-- {
		if bytes.HasPrefix([]byte(stagePrefix), p[len(p)-n:]) {
			return n
		}
	}
	return 0
}
