package webapi

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"sync"
	"time"
)

const (
	// heartbeat is how often a silent stream sends a comment. Only by writing it is
	// noticed that a client has gone.
	heartbeat = 15 * time.Second
	// writeLimit is how long one write may take. It replaces the server's own limit,
	// which is for whole responses.
	writeLimit = 10 * time.Second
)

// events writes server-sent events. It belongs to one goroutine.
type events struct {
	w    *bufio.Writer
	conn net.Conn // for deadlines; what is written to w goes there
}

// send writes one event with data in JSON. An error means that the client has gone.
func (e events) send(name, id string, data any) error {
	text, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("encode event %s: %w", name, err)
	}
	head := "event: " + name + "\n"
	if id != "" {
		head += "id: " + id + "\n"
	}
	// JSON has no line breaks of its own, so one data line carries it.
	return e.write(head + "data: " + string(text) + "\n\n")
}

// comment writes a line that clients pass over.
func (e events) comment() error { return e.write(":\n\n") }

func (e events) write(text string) error {
	if err := e.conn.SetWriteDeadline(time.Now().Add(writeLimit)); err != nil {
		return fmt.Errorf("write event: %w", err)
	}
	if _, err := e.w.WriteString(text); err != nil {
		return fmt.Errorf("write event: %w", err)
	}
	if err := e.w.Flush(); err != nil {
		return fmt.Errorf("write event: %w", err)
	}
	return nil
}

// streams counts the open streams and lets a stopping server wait for them.
type streams struct {
	mu   sync.Mutex
	open map[net.Conn]struct{}
	idle chan struct{} // closed when open becomes empty; nil while nobody waits
}

func newStreams() *streams { return &streams{open: map[net.Conn]struct{}{}} }

// add takes in a stream, unless there are limit of them.
func (s *streams) add(conn net.Conn, limit int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.open) >= limit {
		return false
	}
	s.open[conn] = struct{}{}
	return true
}

func (s *streams) remove(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, conn)
	if len(s.open) == 0 && s.idle != nil {
		close(s.idle)
		s.idle = nil
	}
}

func (s *streams) len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)
}

// drained returns a channel that is closed when no stream is open.
func (s *streams) drained() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.open) == 0 {
		done := make(chan struct{})
		close(done)
		return done
	}
	if s.idle == nil {
		s.idle = make(chan struct{})
	}
	return s.idle
}

// cut closes the connections of streams whose clients do not read.
func (s *streams) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for conn := range s.open {
		_ = conn.Close() // its stream ends by it, whatever close says
	}
}
