package stream

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/auth"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

const (
	// heartbeat is how often a silent stream sends a comment. Only by writing it is
	// noticed that a client has gone.
	heartbeat = 15 * time.Second
	// WriteLimit is how long one write may take. It replaces the server's own limit,
	// which is for whole responses.
	WriteLimit = 10 * time.Second
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
	if err := e.conn.SetWriteDeadline(time.Now().Add(WriteLimit)); err != nil {
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

// Open counts the open streams, in all and of each user, and lets a stopping server
// wait for them.
type Open struct {
	limit   int // in all
	perUser int // of one user, by sessions and tokens together

	mu   sync.Mutex
	open map[net.Conn]string // whose it is
	of   map[string]int      // how many each user has; none is absent
	idle chan struct{}       // closed when open becomes empty; nil while nobody waits
}

// NewOpen returns a count of no streams yet, with limits in all and for each user.
func NewOpen(limit, perUser int) *Open {
	return &Open{limit: limit, perUser: perUser, open: map[net.Conn]string{}, of: map[string]int{}}
}

// add counts a stream of a user. The error is problem.ErrTooMany if the user has as many as one
// user may have, and job.ErrUnavailable if the server has as many as it serves. Users of `carillon
// dev` choose their names freely, so for them only the limit of all together holds.
func (s *Open) add(conn net.Conn, who *auth.Identity) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if who.How != rights.ByLocal && s.of[who.User] >= s.perUser {
		return problem.Explain(problem.ErrTooMany, fmt.Sprintf("user %s has %d live streams open on this server, the most that one user may have; "+
			"close a page of the console or a command with --follow, or use a user of its own for a program", who.User, s.perUser))
	}
	if len(s.open) >= s.limit {
		return problem.Explain(job.ErrUnavailable, fmt.Sprintf("there are %d open streams, the most that this server serves", s.limit))
	}
	s.open[conn] = who.User
	s.of[who.User]++
	return nil
}

func (s *Open) remove(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	user, open := s.open[conn]
	if !open {
		return
	}
	delete(s.open, conn)
	if s.of[user]--; s.of[user] == 0 {
		delete(s.of, user)
	}
	if len(s.open) == 0 && s.idle != nil {
		close(s.idle)
		s.idle = nil
	}
}

// Len returns how many streams are open.
func (s *Open) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)
}

// Drained returns a channel that is closed when no stream is open.
func (s *Open) Drained() <-chan struct{} {
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

// Cut closes the connections of streams whose clients do not read.
func (s *Open) Cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for conn := range s.open {
		_ = conn.Close() // its stream ends by it, whatever close says
	}
}
