package jet

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/job"
)

// ErrNoMessage means that a subject has no message.
var ErrNoMessage = errors.New("no message on the subject")

// Stored is a message as a stream holds it.
type Stored struct {
	Subject string
	Seq     uint64
	Header  nats.Header
	Data    []byte
	At      time.Time
}

// Last returns the last message on a subject of a stream, as the stream's leader
// knows it: a direct read may be answered by a replica that lags behind. The error
// is [ErrNoMessage] when there is none.
//
// For up to 20 s, a server that was cut off from the others believes that it still leads. So nothing
// may be lost for good because a leader is asked and has no message: see [Conn.NextSeq] and
// [Reading].
func (c *Conn) Last(ctx context.Context, stream, subject string) (*Stored, error) {
	return streamReader{c, stream}.get(ctx, fmt.Sprintf(`{"last_by_subj":%q}`, subject))
}

// At returns the message at a sequence of a stream, as its leader knows it. Errors as Last.
func (c *Conn) At(ctx context.Context, stream string, seq uint64) (*Stored, error) {
	return streamReader{c, stream}.get(ctx, fmt.Sprintf(`{"seq":%d}`, seq))
}

// Next returns the first message of a stream at or after a sequence on a subject, which may have
// wildcards, as the leader knows it. Errors as Last.
func (c *Conn) Next(ctx context.Context, stream, subject string, from uint64) (*Stored, error) {
	return streamReader{c, stream}.get(ctx, fmt.Sprintf(`{"seq":%d,"next_by_subj":%q}`, from, subject))
}

// NextSeq returns the sequence of a stream's first message at or after a sequence, on one
// of filters, or on any subject without filters; 0 if there is none. known is a sequence
// that the stream has given out. If the answer comes from a server that takes itself for
// the leader but lacks known, since it was cut off from the others, the error is
// job.ErrUnavailable.
//
// A consumer or a direct read that finds nothing proves nothing: its replica may lag
// behind. Call NextSeq before you treat a message as gone.
func (c *Conn) NextSeq(ctx context.Context, stream string, filters []string, from, known uint64) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.wait, BatchTimeout))
	defer cancel()
	s, err := c.JS.Stream(ctx, stream)
	if err != nil {
		return 0, fmt.Errorf("look up stream %s: %w", stream, Unavailable(err))
	}
	state := s.CachedInfo().State
	if err := behind(stream, state.LastSeq, known); err != nil {
		return 0, err
	}
	if state.Msgs == 0 || state.LastSeq < from {
		return 0, nil
	}
	if len(filters) == 0 {
		filters = []string{">"}
	}
	next := uint64(0)
	for _, filter := range filters {
		m, err := streamReader{c, stream}.get(ctx, fmt.Sprintf(`{"seq":%d,"next_by_subj":%q}`, max(from, 1), filter))
		switch {
		case errors.Is(err, ErrNoMessage):
		case err != nil:
			return 0, err
		case next == 0 || m.Seq < next:
			next = m.Seq
		}
	}
	if next == 0 { // or one has answered that was cut off and returns just now
		return 0, streamReader{c, stream}.knows(ctx, known)
	}
	return next, nil
}

// lastHeader returns the last value of a header of a direct read. The server adds its own after
// those that the message was stored with, which may have the same names.
func lastHeader(m *nats.Msg, key string) string {
	values := m.Header[key]
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
}

// statusOf returns the status that a direct read was answered with, "" for a message. A message,
// which may have been stored with such a header, has its sequence.
func statusOf(m *nats.Msg) string {
	if lastHeader(m, "Nats-Sequence") != "" {
		return ""
	}
	return m.Header.Get("Status")
}

func headerUint(m *nats.Msg, key string) uint64 {
	n, _ := strconv.ParseUint(lastHeader(m, key), 10, 64)
	return n
}

// Count returns the number of messages of a stream on subjects that match filter. A lagging replica may
// answer. The error is job.ErrUnavailable.
func (c *Conn) Count(ctx context.Context, stream, filter string) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.wait, BatchTimeout))
	defer cancel()
	inbox := c.NC.NewRespInbox()
	in, sub, err := listen(c.NC, inbox, 1)
	if err != nil {
		return 0, err
	}
	defer func() { _ = sub.Unsubscribe() }()
	// The end of a page says how many messages come after it. Of one message, it is all but that.
	request := fmt.Appendf(nil, `{"seq":1,"next_by_subj":%q,"batch":1}`, filter)
	if err := c.NC.PublishRequest("$JS.API.DIRECT.GET."+stream, inbox, request); err != nil {
		return 0, fmt.Errorf("%w: count %s of %s: %w", job.ErrUnavailable, filter, stream, err)
	}
	for {
		m, err := in.next(ctx)
		if err != nil {
			return 0, fmt.Errorf("%w: count %s of %s: %w", job.ErrUnavailable, filter, stream, err)
		}
		switch status := statusOf(m); status {
		case "":
		case "204":
			return headerUint(m, "Nats-Num-Pending") + 1, nil
		case "404":
			return 0, nil
		default:
			return 0, fmt.Errorf("%w: count %s of %s: %s %s", job.ErrUnavailable, filter, stream, status, m.Header.Get("Description"))
		}
	}
}

// Remove deletes one message of a stream. Deleting one that is gone already is no
// error.
func (c *Conn) Remove(ctx context.Context, stream string, seq uint64) error {
	code, err := change(ctx, c.NC, "$JS.API.STREAM.MSG.DELETE."+stream, fmt.Appendf(nil, `{"seq":%d,"no_erase":true}`, seq))
	if err != nil && code != 10043 && code != 10057 { // message or sequence not found
		return fmt.Errorf("delete message %d of %s: %w", seq, stream, err)
	}
	return nil
}

// PurgeOldest deletes the messages of a stream on subjects that match filter, but for the newest ones.
func (c *Conn) PurgeOldest(ctx context.Context, stream, filter string, keep int) error {
	if _, err := change(ctx, c.NC, "$JS.API.STREAM.PURGE."+stream, fmt.Appendf(nil, `{"filter":%q,"keep":%d}`, filter, keep)); err != nil {
		return fmt.Errorf("purge %s of %s: %w", filter, stream, err)
	}
	return nil
}

// Purge deletes the messages of a stream on a subject. Unlike the KV client's purge of a key, it
// leaves no marker, so watchers are not told.
func (c *Conn) Purge(ctx context.Context, stream, subject string) error {
	if _, err := change(ctx, c.NC, "$JS.API.STREAM.PURGE."+stream, fmt.Appendf(nil, `{"filter":%q}`, subject)); err != nil {
		return fmt.Errorf("purge %s of %s: %w", subject, stream, err)
	}
	return nil
}

// change makes a request that answers whether it was done. code is JetStream's, if that refuses.
func change(ctx context.Context, nc *nats.Conn, request string, body []byte) (code int, err error) {
	ctx, cancel := context.WithTimeout(ctx, BatchTimeout)
	defer cancel()
	m, err := nc.RequestWithContext(ctx, request, body)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", job.ErrUnavailable, err)
	}
	var r struct {
		Error *struct {
			ErrCode     int    `json:"err_code"`
			Description string `json:"description"`
		} `json:"error"`
	}
	switch err := json.Unmarshal(m.Data, &r); {
	case err != nil:
		return 0, err
	case r.Error != nil:
		return r.Error.ErrCode, fmt.Errorf("%w: %s (%d)", job.ErrUnavailable, r.Error.Description, r.Error.ErrCode)
	}
	return 0, nil
}
