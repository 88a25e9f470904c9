package jet

import (
	"context"
	"time"
)

// Reading says which messages of a stream are read, in which order, and who may answer. Without
// AnyReplica, NewestFirst and Since, a reading has at least all that was stored before it began: on a
// replicated stream the leader is asked, message by message.
type Reading struct {
	Stream string
	// Filter matches the subjects of the messages.
	Filter string
	// From is the sequence to begin at. Defaults to that of the first message.
	From uint64
	// Since is the instant of storage to begin at, in place of From. Such a reading is of pages from any
	// replica. One that lags behind lacks the last message that the leader has; then the error is
	// job.ErrUnavailable.
	Since time.Time
	// Known is a sequence that the stream has given out, for decisions that cannot be undone. A server
	// that was cut off from the others, and takes itself for the leader, may lack it. It is not believed,
	// before the reading and after it: the error is job.ErrUnavailable, and what was yielded is void.
	Known uint64
	// AnyReplica allows answers of replicas that lag behind: they may leave out what was stored last, and
	// have what is gone. On a replicated stream this costs a hundredth, and it needs no other permission
	// than to read the stream directly.
	AnyReplica bool
	// NewestFirst reverses the order, for the messages before the sequence Before, or all if that is 0.
	// Any replica may answer, so the very newest may be missing.
	NewestFirst bool
	Before      uint64
	// Patient reads on where it was while NATS does not answer for less than 30 s.
	Patient bool
}

// Read calls yield for the messages of a reading until yield returns false. The error is
// job.ErrUnavailable while JetStream does not answer.
func (c *Conn) Read(ctx context.Context, r Reading, yield func(*Stored) bool) error {
	s := streamReader{c, r.Stream}
	if r.Known > 0 {
		if err := s.knows(ctx, r.Known); err != nil {
			return err
		}
	}
	if err := s.read(ctx, r, yield); err != nil || r.Known == 0 {
		return err
	}
	// A server that has just returned may have answered some of the requests, and the leader the others.
	return s.knows(ctx, r.Known)
}

// Scan is [Conn.Read] of all messages of a stream on subjects that match filter.
func (c *Conn) Scan(ctx context.Context, stream, filter string, yield func(*Stored) bool) error {
	return c.Read(ctx, Reading{Stream: stream, Filter: filter}, yield)
}

func (s streamReader) read(ctx context.Context, r Reading, yield func(*Stored) bool) error {
	read := s.scan
	switch {
	case r.NewestFirst:
		return s.back(ctx, r.Filter, r.Before, yield)
	case !r.Since.IsZero():
		return s.since(ctx, r.Filter, r.Since, yield)
	case r.AnyReplica:
		read = s.near
	}
	from := max(r.From, 1)
	if !r.Patient {
		return read(ctx, r.Filter, from, yield)
	}
	heard := time.Now()
	return patiently(ctx, &heard, func(ctx context.Context) error {
		return read(ctx, r.Filter, from, func(m *Stored) bool {
			from, heard = m.Seq+1, time.Now()
			return yield(m)
		})
	})
}
