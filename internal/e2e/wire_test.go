//go:build unix

package e2e

import (
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// wire carries connections to a server, and can be cut in the middle of what it carries.
type wire struct {
	to string // address of the server

	listener net.Listener
	carrying sync.WaitGroup

	mu    sync.Mutex // guards what is below
	ends  map[net.Conn]bool
	left  int64         // bytes to the server until the cut, while armed is open
	armed chan struct{} // closed by the cut; nil when none is to come
}

// newWire returns a wire to an address, until the test ends.
func newWire(t *testing.T, to string) *wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{to: to, listener: l, ends: map[net.Conn]bool{}}
	w.carrying.Go(w.accept)
	t.Cleanup(func() {
		_ = l.Close()
		w.mu.Lock()
		w.cutLocked()
		w.mu.Unlock()
		w.carrying.Wait()
	})
	return w
}

func (w *wire) addr() string { return w.listener.Addr().String() }

func (w *wire) accept() {
	for {
		from, err := w.listener.Accept()
		if err != nil {
			return
		}
		to, err := net.Dial("tcp", w.to)
		if err != nil {
			_ = from.Close() // as if nobody listened
			continue
		}
		w.mu.Lock()
		w.ends[from], w.ends[to] = true, true
		w.mu.Unlock()
		w.carrying.Go(func() { w.carry(to, from, true) })
		w.carrying.Go(func() { w.carry(from, to, false) })
	}
}

// carry copies one direction until either end is closed, and then closes both.
func (w *wire) carry(to, from net.Conn, counted bool) {
	defer func() {
		_, _ = to.Close(), from.Close()
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.ends, to)
		delete(w.ends, from)
	}()
	buffer := make([]byte, 4096)
	for {
		n, err := from.Read(buffer)
		if counted {
			n = w.pass(n)
		}
		if _, bad := to.Write(buffer[:n]); errors.Join(err, bad) != nil {
			return
		}
	}
}

// pass returns how many of n bytes still get through, and cuts after them.
func (w *wire) pass(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.armed == nil {
		return n
	}
	if int64(n) <= w.left {
		w.left -= int64(n)
		return n
	}
	n = int(w.left)
	w.cutLocked()
	return n
}

// cutAfter cuts all connections once so many bytes more have gone to the server, or when
// the limit has passed, and returns when that is done.
func (w *wire) cutAfter(n int64, limit time.Duration) { w.awaitCut(w.arm(n), limit) }

// arm cuts all connections once so many bytes more have gone to the server. The channel is closed then.
func (w *wire) arm(n int64) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	armed := make(chan struct{})
	w.armed, w.left = armed, n
	return armed
}

// awaitCut returns when the connections are cut, and cuts them when the limit has passed.
func (w *wire) awaitCut(armed <-chan struct{}, limit time.Duration) {
	select {
	case <-armed:
	case <-time.After(limit):
		w.mu.Lock()
		defer w.mu.Unlock()
		w.cutLocked()
	}
}

func (w *wire) cutLocked() {
	for end := range w.ends {
		_ = end.Close()
	}
	if w.armed != nil {
		close(w.armed)
		w.armed = nil
	}
}

func TestAWireIsCutAfterWhatItWasToCarry(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	got := make(chan int, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			got <- -1
			return
		}
		data, _ := io.ReadAll(conn) // until the cut
		got <- len(data)
	}()
	w := newWire(t, l.Addr().String())
	conn, err := net.Dial("tcp", w.addr())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	armed := w.arm(7000)
	go func() { _, _ = conn.Write(make([]byte, 10_000)) }()
	w.awaitCut(armed, time.Minute)
	if n := <-got; n > 7000 {
		t.Errorf("%d bytes came through; want 7000 at most", n)
	}
}
