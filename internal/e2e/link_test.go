//go:build unix

package e2e

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// link is the one way from a process to a NATS server: a listener that passes on whatever
// comes, until it is cut. Its methods are safe for concurrent use.
type link struct {
	from, to string // names of processes
	target   string // HOST:PORT of to
	listener net.Listener

	mu     sync.Mutex
	state  cut
	change chan struct{} // closed when state changes
	ends   map[net.Conn]struct{}
}

// cut is what is wrong with a link.
type cut int

const (
	healed cut = iota
	silent     // nothing arrives, and nobody is told: what is sent waits
	closed     // connections end, and new ones are refused
)

func newLink(t *testing.T, from, to, target string) *link {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &link{from: from, to: to, target: target, listener: listener, change: make(chan struct{}), ends: map[net.Conn]struct{}{}}
	var serving sync.WaitGroup
	serving.Go(func() { l.serve(&serving) })
	t.Cleanup(func() {
		_ = listener.Close()
		l.set(closed)
		serving.Wait()
	})
	return l
}

// address is where from finds to.
func (l *link) address() string { return l.listener.Addr().String() }

// set cuts the link, or heals it.
func (l *link) set(state cut) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state = state
	close(l.change)
	l.change = make(chan struct{})
	if state == closed {
		for end := range l.ends {
			_ = end.Close()
		}
	}
}

// serve passes on each connection until the listener is closed.
func (l *link) serve(serving *sync.WaitGroup) {
	for {
		near, err := l.listener.Accept()
		if err != nil {
			return
		}
		serving.Go(func() { l.pass(near) })
	}
}

// pass connects a connection with the target, until one of the two ends.
func (l *link) pass(near net.Conn) {
	if !l.keep(near) {
		return
	}
	defer l.drop(near)
	if !l.open() {
		return
	}
	far, err := net.Dial("tcp", l.target)
	if err != nil {
		return
	}
	if !l.keep(far) {
		return
	}
	defer l.drop(far)
	var back sync.WaitGroup
	back.Go(func() { l.flow(near, far) })
	l.flow(far, near)
	back.Wait()
}

// flow passes on what comes from one end to the other, and closes both when it cannot.
func (l *link) flow(to, from net.Conn) {
	defer func() {
		_ = to.Close()
		_ = from.Close()
	}()
	_, _ = io.Copy(gate{to, l}, from) // an end that is gone shows on both sides
}

// gate is an end of a link to which nothing gets while the link is cut.
type gate struct {
	net.Conn
	*link
}

func (g gate) Write(p []byte) (int, error) {
	if !g.open() {
		return 0, net.ErrClosed
	}
	return g.Conn.Write(p)
}

// open waits while the link is silent, and reports whether it is healed.
func (l *link) open() bool {
	for {
		l.mu.Lock()
		state, change := l.state, l.change
		l.mu.Unlock()
		if state != silent {
			return state == healed
		}
		<-change
	}
}

// keep has a connection closed with the link. It reports false when the link is closed now.
func (l *link) keep(end net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state == closed {
		_ = end.Close()
		return false
	}
	l.ends[end] = struct{}{}
	return true
}

func (l *link) drop(end net.Conn) {
	_ = end.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.ends, end)
}

// reach makes the links from a process to all NATS servers, and returns the addresses that
// it is to use.
func (c *system) reach(from string) string {
	c.t.Helper()
	urls := make([]string, len(c.ports))
	for i, port := range c.ports {
		l := newLink(c.t, from, c.natsName(i), fmt.Sprintf("127.0.0.1:%d", port))
		c.links = append(c.links, l)
		urls[i] = "nats://" + l.address()
	}
	return strings.Join(urls, ",")
}

// between returns the links between two processes, in either direction.
func (c *system) between(one, other string) (links []*link) {
	for _, l := range c.links {
		if l.from == one && l.to == other || l.from == other && l.to == one {
			links = append(links, l)
		}
	}
	return links
}

// linksOf returns the links to and from a process.
func (c *system) linksOf(name string) (links []*link) {
	for _, l := range c.links {
		if l.from == name || l.to == name {
			links = append(links, l)
		}
	}
	return links
}

func TestACutLinkPassesNothingOnUntilItIsHealed(t *testing.T) {
	t.Parallel()
	echo, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var served sync.WaitGroup
	t.Cleanup(func() {
		_ = echo.Close()
		served.Wait()
	})
	served.Go(func() {
		for {
			conn, err := echo.Accept()
			if err != nil {
				return
			}
			served.Go(func() {
				_, _ = io.Copy(conn, conn)
				_ = conn.Close()
			})
		}
	})
	l := newLink(t, "a", "b", echo.Addr().String())
	dial := func() net.Conn {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", l.address())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	say := func(conn net.Conn, word string) { _, _ = io.WriteString(conn, word) }
	hear := func(conn net.Conn, want string) {
		t.Helper()
		got := make([]byte, len(want))
		if _, err := io.ReadFull(conn, got); err != nil || string(got) != want {
			t.Fatalf("heard %q, %v; want %q", got, err, want)
		}
	}

	conn := dial()
	say(conn, "one")
	hear(conn, "one")
	l.set(silent)
	say(conn, "two")
	waiting := dial() // that succeeds: nobody is told
	say(waiting, "three")
	for _, c := range []net.Conn{conn, waiting} {
		_ = c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
		if n, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("a silent link passed on %d bytes: %v", n, err)
		}
		_ = c.SetReadDeadline(time.Time{})
	}
	l.set(healed)
	hear(conn, "two")
	hear(waiting, "three")

	l.set(closed)
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("a connection outlived the link")
	}
	if _, err := dial().Read(make([]byte, 1)); err == nil {
		t.Error("a closed link let somebody in")
	}
	l.set(healed)
	again := dial()
	say(again, "four")
	hear(again, "four")
}
