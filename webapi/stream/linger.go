package stream

import (
	"errors"
	"net"
	"os"
	"sync/atomic"
	"time"
)

// A connection goes on reading, and throwing away, what a client still sends after it was
// answered for the last time: until nothing has come for as long as lingerQuiet, or for as
// long as lingering in all.
const (
	lingerQuiet = 5 * time.Second
	lingering   = 30 * time.Second
)

// lingerer is a listener whose connections, when the server closes them, end their own
// side first and wait for the client to end its own.
//
// A request that is refused before it was read whole (its body or its head is too long)
// is answered while the client still writes. Were the connection closed at once, the
// bytes that nobody has read would make the kernel reset it, and a reset takes the
// answer away from the client: it would see "connection reset" in place of what is wrong
// with its request. RFC 9112, section 9.6, asks servers to close in stages for this.
type lingerer struct{ *net.TCPListener }

// Linger returns the listener with lingering connections, where they are of TCP.
func Linger(l net.Listener) net.Listener {
	if tcp, ok := l.(*net.TCPListener); ok {
		return lingerer{tcp}
	}
	return l
}

func (l lingerer) Accept() (net.Conn, error) {
	c, err := l.AcceptTCP()
	if err != nil {
		return nil, err
	}
	return &lingerConn{TCPConn: c}, nil
}

type lingerConn struct {
	*net.TCPConn
	reading atomic.Bool // somebody waits in Read
	over    atomic.Bool // the client has ended its side, or Close was called
}

func (c *lingerConn) Read(p []byte) (int, error) {
	c.reading.Store(true)
	n, err := c.TCPConn.Read(p)
	c.reading.Store(false)
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		c.over.Store(true)
	}
	return n, err
}

// Close returns at once; the connection is gone after lingering at the latest. It is
// closed without waiting if it was idle, which is when somebody else waits in Read, or if
// the client has gone.
func (c *lingerConn) Close() error {
	if c.over.Swap(true) || c.reading.Load() || c.CloseWrite() != nil {
		return c.TCPConn.Close()
	}
	go func() {
		c.drain()
		_ = c.TCPConn.Close()
	}()
	return nil
}

// drain reads until the client ends its side, or takes too long to.
func (c *lingerConn) drain() {
	rest := make([]byte, 16<<10)
	for end := time.Now().Add(lingering); ; {
		patience := min(lingerQuiet, time.Until(end))
		if err := c.SetReadDeadline(time.Now().Add(patience)); err != nil {
			return
		}
		if _, err := c.TCPConn.Read(rest); err != nil {
			return
		}
	}
}
