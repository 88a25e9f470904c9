//go:build unix

package export

import (
	"crypto/tls"
	"errors"
	"net"
	"syscall"
)

// isGone reports whether a client has closed its connection. It looks at what has come
// and leaves it there. While it is answered a client has nothing to say: over TLS, what
// comes is the word that it closes.
func isGone(conn net.Conn) bool {
	encrypted, isTLS := conn.(*tls.Conn)
	if isTLS {
		conn = encrypted.NetConn()
	}
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return true
	}
	gone := false
	err = raw.Control(func(fd uintptr) {
		var first [1]byte
		n, _, err := syscall.Recvfrom(int(fd), first[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		gone = err == nil && (n == 0 || isTLS) || errors.Is(err, syscall.ECONNRESET)
	})
	return gone || err != nil
}
