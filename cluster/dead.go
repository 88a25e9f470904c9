package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// The headers of a dead letter, beside those of the message that it was.
const (
	HeaderDeadReason  = "Carillon-Dead-Reason"  // why it was refused
	HeaderDeadSubject = "Carillon-Dead-Subject" // where it was published
	HeaderDeadSize    = "Carillon-Dead-Size"    // of its data, in bytes, of which the letter may have the beginning only
)

const (
	subjectsDead = "dead.*"
	prefixDead   = "dead."
	// maxDeadData leaves room for headers in the largest message of a server.
	maxDeadData = 512 << 10
)

// kindOf returns what a stream has, whatever its partition: [bus.StreamTrig], [bus.StreamEvt],
// [bus.StreamLog], or "" for anything else. Onto those a dead letter may be put again. What is
// in a bucket may have a newer version by now, and the audit log is nobody's to add to.
func kindOf(stream string) string {
	if stream == bus.StreamLog {
		return bus.StreamLog
	}
	kind, _, _ := bus.ParseStream(stream)
	return kind
}

// DeadLetter is one with what is in it.
type DeadLetter struct {
	fleet.DeadLetter

	Data []byte

	header nats.Header
}

// DeadLetters are the messages that nobody could read, on the stream DEAD.
type DeadLetters struct{ conn *Conn }

// DeadLetters returns the dead letters.
func (c *Conn) DeadLetters() DeadLetters { return DeadLetters{c} }

// Bury puts a message of a stream, which nobody can use, on [bus.StreamDead], without
// its token. If a part of what is stored at the sequence is refused, m is that, and part its number.
// Doing so again within half a minute changes nothing.
func (ls DeadLetters) Bury(ctx context.Context, stream string, seq uint64, part int, m *nats.Msg, reason error) error {
	header := nats.Header{}
	maps.Copy(header, m.Header)
	for key := range header {
		if strings.HasPrefix(key, "Nats-") || key == bus.HeaderToken { // would tell the server what to do; is a secret
			delete(header, key)
		}
	}
	header.Set(HeaderDeadReason, reason.Error())
	header.Set(HeaderDeadSubject, m.Subject)
	header.Set(HeaderDeadSize, strconv.Itoa(len(m.Data)))
	letter := &nats.Msg{Subject: prefixDead + stream, Header: header, Data: m.Data[:min(len(m.Data), maxDeadData)]}
	if _, err := ls.conn.JS.PublishMsg(ctx, letter, jetstream.WithMsgID(fmt.Sprintf("%s:%d.%d", stream, seq, part))); err != nil {
		return fmt.Errorf("bury message %d of %s: %w", seq, stream, jet.Unavailable(err))
	}
	return nil
}

// streamPing stands for the stream of a ping that a server has refused before it stored it.
const streamPing = "PING"

// BuryPing puts on [bus.StreamDead] that a ping of a job was refused.
func (ls DeadLetters) BuryPing(ctx context.Context, of job.Name, reason error) error {
	m := bus.NewMessage("ping."+of.Group()+"."+of.Short(), bus.MessagePing, nil)
	return ls.Bury(ctx, streamPing, uint64(time.Now().UnixNano()), 0, m, reason)
}

// Count returns how many dead letters there are. The error is job.ErrUnavailable.
func (ls DeadLetters) Count(ctx context.Context) (uint64, error) {
	stream, err := ls.conn.JS.Stream(ctx, bus.StreamDead)
	if err != nil {
		return 0, fmt.Errorf("look up stream %s: %w", bus.StreamDead, jet.Unavailable(err))
	}
	return stream.CachedInfo().State.Msgs, nil
}

// Page returns at most limit dead letters that are older than the one at the
// sequence before, or the newest if that is 0, the newest first. The error is
// job.ErrUnavailable.
func (ls DeadLetters) Page(ctx context.Context, before uint64, limit int) (page []DeadLetter, err error) {
	err = ls.conn.Read(ctx, jet.Reading{Stream: bus.StreamDead, Filter: subjectsDead, NewestFirst: true, Before: before}, func(s *jet.Stored) bool {
		page = append(page, deadLetter(s))
		return len(page) < limit
	})
	return page, err
}

// From calls yield for the dead letters from a sequence on, the oldest first,
// until it returns false. The error is job.ErrUnavailable.
func (ls DeadLetters) From(ctx context.Context, seq uint64, yield func(*DeadLetter) bool) error {
	return ls.conn.Read(ctx, jet.Reading{Stream: bus.StreamDead, Filter: subjectsDead, From: seq}, func(s *jet.Stored) bool {
		l := deadLetter(s)
		return yield(&l)
	})
}

// Group returns the executor group that published the message, by its subject, which NATS
// has checked, or the group of the job whose ping it was; nothing for other messages.
func (l *DeadLetter) Group() string {
	parts := strings.Split(l.Subject, ".")
	switch {
	case kindOf(l.Stream) == bus.StreamEvt && len(parts) == 3: // evt.<shard>.<group>
		return parts[2]
	case (l.Stream == bus.StreamLog || l.Stream == streamPing) && len(parts) >= 2: // log.<group>, ping.<group>.<name>
		return parts[1]
	}
	return ""
}

// Get returns the dead letter at a sequence. Errors: job.ErrNotFound,
// job.ErrUnavailable.
func (ls DeadLetters) Get(ctx context.Context, seq uint64) (*DeadLetter, error) {
	s, err := ls.conn.At(ctx, bus.StreamDead, seq)
	if errors.Is(err, jet.ErrNoMessage) {
		return nil, fmt.Errorf("%w: dead letter %d", job.ErrNotFound, seq)
	}
	if err != nil {
		return nil, err
	}
	l := deadLetter(s)
	return &l, nil
}

// Delete deletes a dead letter. One that is gone already is no error.
func (ls DeadLetters) Delete(ctx context.Context, seq uint64) error {
	return ls.conn.Remove(ctx, bus.StreamDead, seq)
}

// Replay publishes the message that a dead letter was where it was published,
// and deletes the letter. It is signed as the word of a server, by the right of whoever
// replays it. Whoever still cannot use it buries it again. What is said twice changes nothing, so it may be repeated. Errors: job.ErrConflict for a letter that does
// not have all of the message, or is of a stream that takes none again; job.ErrUnavailable.
func (ls DeadLetters) Replay(ctx context.Context, l *DeadLetter) error {
	switch {
	case kindOf(l.Stream) == "":
		return fmt.Errorf("%w: dead letter %d is of %s, which takes nothing again: what it tells may be out of date", job.ErrConflict, l.Sequence, l.Stream)
	case !l.Whole:
		return fmt.Errorf("%w: dead letter %d has %d of the message's %d bytes only", job.ErrConflict, l.Sequence, len(l.Data), l.Size)
	}
	m := &nats.Msg{Subject: l.Subject, Header: nats.Header{}, Data: l.Data}
	if l.Stream == bus.StreamLog { // which keeps lines without the run that they were published under
		m.Subject += ".replayed"
	}
	for key, values := range l.header {
		if !strings.HasPrefix(key, "Nats-") && !strings.HasPrefix(key, "Carillon-Dead-") {
			m.Header[key] = values
		}
	}
	if kind := kindOf(l.Stream); kind == bus.StreamEvt || kind == bus.StreamLog { // its own token is not kept
		ls.conn.tokens.Vouch(m, time.Now())
	}
	if _, err := ls.conn.JS.PublishMsg(ctx, m, jetstream.WithExpectStream(l.Stream)); err != nil {
		return fmt.Errorf("replay dead letter %d: %w", l.Sequence, jet.Unavailable(err))
	}
	return ls.Delete(ctx, l.Sequence)
}

func deadLetter(s *jet.Stored) DeadLetter {
	size, _ := strconv.Atoi(s.Header.Get(HeaderDeadSize)) // we have written it
	return DeadLetter{DeadLetter: fleet.DeadLetter{
		Sequence: s.Seq, At: s.At.UTC().Truncate(time.Millisecond), Stream: strings.TrimPrefix(s.Subject, prefixDead), Subject: s.Header.Get(HeaderDeadSubject),
		Message: s.Header.Get(bus.HeaderMessage), Reason: s.Header.Get(HeaderDeadReason), Size: size, Whole: size == len(s.Data),
	}, Data: s.Data, header: s.Header}
}
