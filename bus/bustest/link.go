package bustest

import (
	"net"
	"sync"
)

// fault says in which directions a link loses what is sent.
type fault struct {
	toBroker, toClient bool
}

// link is a client's end of a connection.
type link struct {
	net.Conn
	closed func() // called once when the link is closed

	once sync.Once

	mu    sync.Mutex
	fault fault
	hurt  bool // has ever had a fault
}

func (l *link) set(f fault) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fault = f
	l.hurt = l.hurt || f != fault{}
}

func (l *link) now() fault {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fault
}

// damaged reports whether bytes may be missing.
func (l *link) damaged() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.hurt
}

// Read keeps on reading what it drops, so that the broker never sees a peer that
// is slow to read.
func (l *link) Read(p []byte) (int, error) {
	for {
		n, err := l.Conn.Read(p)
		if err != nil || !l.now().toClient {
			return n, err
		}
	}
}

func (l *link) Write(p []byte) (int, error) {
	if l.now().toBroker {
		return len(p), nil
	}
	return l.Conn.Write(p)
}

func (l *link) Close() error {
	l.once.Do(l.closed)
	return l.Conn.Close()
}
