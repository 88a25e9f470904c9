package jet

import (
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
// [Conn.ScanKnown].
func (c *Conn) Last(ctx context.Context, stream, subject string) (*Stored, error) {
	return c.getMessage(ctx, stream, fmt.Sprintf(`{"last_by_subj":%q}`, subject))
}

// At returns the message at a sequence of a stream, as its leader knows it. Errors as Last.
func (c *Conn) At(ctx context.Context, stream string, seq uint64) (*Stored, error) {
	return c.getMessage(ctx, stream, fmt.Sprintf(`{"seq":%d}`, seq))
}

// Next returns the first message of a stream at or after a sequence on a subject, which may have
// wildcards, as the leader knows it. Errors as Last.
func (c *Conn) Next(ctx context.Context, stream, subject string, from uint64) (*Stored, error) {
	return c.getMessage(ctx, stream, fmt.Sprintf(`{"seq":%d,"next_by_subj":%q}`, from, subject))
}

// Has reports whether a stream has the message at a sequence, as its leader knows.
func (c *Conn) Has(ctx context.Context, stream string, seq uint64) (bool, error) {
	_, err := c.getMessage(ctx, stream, fmt.Sprintf(`{"seq":%d}`, seq))
	if errors.Is(err, ErrNoMessage) {
		return false, nil
	}
	return err == nil, err
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
	ctx, cancel := context.WithTimeout(ctx, BatchTimeout)
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
		m, err := c.getMessage(ctx, stream, fmt.Sprintf(`{"seq":%d,"next_by_subj":%q}`, max(from, 1), filter))
		switch {
		case errors.Is(err, ErrNoMessage):
		case err != nil:
			return 0, err
		case next == 0 || m.Seq < next:
			next = m.Seq
		}
	}
	if next == 0 { // or one has answered that was cut off and returns just now
		return 0, c.knows(ctx, stream, known)
	}
	return next, nil
}

// getMessage asks the stream's leader for one message.
func (c *Conn) getMessage(ctx context.Context, stream, request string) (*Stored, error) {
	ctx, cancel := context.WithTimeout(ctx, BatchTimeout)
	defer cancel()
	m, err := c.NC.RequestWithContext(ctx, "$JS.API.STREAM.MSG.GET."+stream, []byte(request))
	if err != nil {
		return nil, fmt.Errorf("%w: read message %s of %s: %w", job.ErrUnavailable, request, stream, err)
	}
	var r struct {
		Message *struct {
			Subject string    `json:"subject"`
			Seq     uint64    `json:"seq"`
			Header  []byte    `json:"hdrs"`
			Data    []byte    `json:"data"`
			Time    time.Time `json:"time"`
		} `json:"message"`
		Error *struct {
			ErrCode     int    `json:"err_code"`
			Description string `json:"description"`
		} `json:"error"`
	}
	if err := json.Unmarshal(m.Data, &r); err != nil {
		return nil, fmt.Errorf("decode message %s of %s: %w", request, stream, err)
	}
	switch {
	case r.Error != nil && r.Error.ErrCode == 10037:
		return nil, fmt.Errorf("%w: %s of %s", ErrNoMessage, request, stream)
	case r.Error != nil:
		return nil, fmt.Errorf("%w: read message %s of %s: %s (%d)", job.ErrUnavailable, request, stream, r.Error.Description, r.Error.ErrCode)
	case r.Message == nil:
		return nil, fmt.Errorf("%w: read message %s of %s: empty answer", job.ErrUnavailable, request, stream)
	}
	s := &Stored{Subject: r.Message.Subject, Seq: r.Message.Seq, Data: r.Message.Data, At: r.Message.Time}
	if len(r.Message.Header) > 0 {
		if s.Header, err = nats.DecodeHeadersMsg(r.Message.Header); err != nil {
			return nil, fmt.Errorf("decode header of message %s of %s: %w", request, stream, err)
		}
	}
	return s, nil
}

// Scan calls yield for every message of a stream on subjects that match filter, in
// order, until yield returns false. It sees at least all that was stored before the
// call: on a replicated stream it asks the leader, message by message, as a page
// read directly may come from a replica that lags behind.
func (c *Conn) Scan(ctx context.Context, stream, filter string, yield func(*Stored) bool) error {
	return c.ScanFrom(ctx, stream, filter, 1, yield)
}

// ScanFrom is Scan for the messages from a sequence on.
func (c *Conn) ScanFrom(ctx context.Context, stream, filter string, from uint64, yield func(*Stored) bool) error {
	// The first is asked of the leader alone: mostly, who scans often finds nothing.
	from, more, err := c.readNext(ctx, stream, filter, from, yield)
	if err != nil || !more {
		return err
	}
	s, err := c.JS.Stream(ctx, stream)
	if err != nil {
		return fmt.Errorf("look up stream %s: %w", stream, Unavailable(err))
	}
	read := c.readPage
	if s.CachedInfo().Config.Replicas > 1 {
		read = c.readNext
	}
	for more {
		if from, more, err = read(ctx, stream, filter, from, yield); err != nil {
			return err
		}
	}
	return nil
}

// ScanKnown is [Conn.Scan] for decisions that cannot be undone: it trusts only a leader that has the
// sequence known, as [Conn.NextSeq] does. It checks this before and after the scan, because a server
// that was cut off and has just returned may answer some of the requests, and the leader the others.
// After an error, forget what was yielded.
func (c *Conn) ScanKnown(ctx context.Context, stream, filter string, known uint64, yield func(*Stored) bool) error {
	if err := c.knows(ctx, stream, known); err != nil {
		return err
	}
	if err := c.Scan(ctx, stream, filter, yield); err != nil {
		return err
	}
	return c.knows(ctx, stream, known)
}

// knows returns job.ErrUnavailable if the server that answers as the leader of a stream does not have
// a sequence.
func (c *Conn) knows(ctx context.Context, stream string, known uint64) error {
	last, err := c.LastSeq(ctx, stream)
	if err != nil {
		return err
	}
	return behind(stream, last, known)
}

func behind(stream string, last, known uint64) error {
	if last >= known {
		return nil
	}
	return fmt.Errorf("%w: the leader of stream %s is at message %d and does not know of message %d", job.ErrUnavailable, stream, last, known)
}

// ScanNear is Scan of any replica, which may lag behind: it may leave out what was stored
// last, and have what is gone. It costs a hundredth of Scan on a replicated stream.
func (c *Conn) ScanNear(ctx context.Context, stream, filter string, yield func(*Stored) bool) error {
	return c.ScanNearFrom(ctx, stream, filter, 1, yield)
}

// ScanNearFrom is [Conn.ScanNear] for the messages from a sequence on. It needs no other permission than
// to read the stream directly.
func (c *Conn) ScanNearFrom(ctx context.Context, stream, filter string, from uint64, yield func(*Stored) bool) error {
	for more := true; more; {
		var err error
		if from, more, err = c.readPage(ctx, stream, filter, from, yield); err != nil {
			return err
		}
	}
	return nil
}

// readAll calls yield for every message of a stream on subjects that match filter, from a
// sequence on, in order, until the stream's leader has no more: pages come from any replica,
// and what one that lags behind does not have is asked of the leader. known is as with
// [Conn.NextSeq]. It may yield messages that the leader has no longer.
func (c *Conn) readAll(ctx context.Context, stream, filter string, from, known uint64, yield func(*Stored)) error {
	each := func(m *Stored) bool { yield(m); return true }
	for {
		next, err := c.NextSeq(ctx, stream, []string{filter}, from, known)
		if err != nil || next == 0 {
			return err
		}
		for more := true; more; {
			if from, more, err = c.readPage(ctx, stream, filter, from, each); err != nil {
				return err
			}
		}
		if from <= next {
			if from, _, err = c.readNext(ctx, stream, filter, from, each); err != nil {
				return err
			}
		}
	}
}

// How much is read at once.
const (
	pageMessages = 1000
	pageBytes    = 8 << 20
)

// readPage yields a page of messages from sequence from on. It returns where
// the next page begins, and whether there is one.
func (c *Conn) readPage(ctx context.Context, stream, filter string, from uint64, yield func(*Stored) bool) (next uint64, more bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	inbox := c.NC.NewRespInbox()
	in, sub, err := c.listen(inbox, pageMessages)
	if err != nil {
		return 0, false, err
	}
	defer func() { _ = sub.Unsubscribe() }()
	// Bounded, so that a page of large messages does not flood the subscription.
	request := fmt.Appendf(nil, `{"seq":%d,"next_by_subj":%q,"batch":%d,"max_bytes":%d}`, from, filter, pageMessages, pageBytes)
	if err := c.NC.PublishRequest("$JS.API.DIRECT.GET."+stream, inbox, request); err != nil {
		return 0, false, fmt.Errorf("%w: read %s of %s: %w", job.ErrUnavailable, filter, stream, err)
	}
	for last := uint64(0); ; {
		m, err := in.next(ctx)
		if err != nil {
			return 0, false, fmt.Errorf("%w: read %s of %s: %w", job.ErrUnavailable, filter, stream, err)
		}
		switch status := statusOf(m); status {
		case "", "204": // a message, or the end of the page
		case "404": // nothing on the subject from here on
			return from, false, nil
		default:
			return 0, false, fmt.Errorf("%w: read %s of %s: %s %s", job.ErrUnavailable, filter, stream, status, m.Header.Get("Description"))
		}
		// Each message, and the end, names the one before it.
		if headerUint(m, "Nats-Last-Sequence") != last {
			return 0, false, fmt.Errorf("%w: read %s of %s: a message was lost on the way", job.ErrUnavailable, filter, stream)
		}
		if statusOf(m) == "204" {
			return from, headerUint(m, "Nats-Num-Pending") > 0, nil
		}
		at, _ := time.Parse(time.RFC3339Nano, lastHeader(m, "Nats-Time-Stamp"))
		found := &Stored{Subject: lastHeader(m, "Nats-Subject"), Seq: headerUint(m, "Nats-Sequence"), Header: m.Header, Data: m.Data, At: at}
		last, from = found.Seq, found.Seq+1
		if !yield(found) {
			return from, false, nil
		}
	}
}

// readNext is readPage for one message, asked of the leader.
func (c *Conn) readNext(ctx context.Context, stream, filter string, from uint64, yield func(*Stored) bool) (next uint64, more bool, err error) {
	found, err := c.getMessage(ctx, stream, fmt.Sprintf(`{"seq":%d,"next_by_subj":%q}`, from, filter))
	if errors.Is(err, ErrNoMessage) {
		return from, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	return found.Seq + 1, yield(found), nil
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
	ctx, cancel := context.WithTimeout(ctx, BatchTimeout)
	defer cancel()
	inbox := c.NC.NewRespInbox()
	in, sub, err := c.listen(inbox, 1)
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
	code, err := c.change(ctx, "$JS.API.STREAM.MSG.DELETE."+stream, fmt.Appendf(nil, `{"seq":%d,"no_erase":true}`, seq))
	if err != nil && code != 10043 && code != 10057 { // message or sequence not found
		return fmt.Errorf("delete message %d of %s: %w", seq, stream, err)
	}
	return nil
}

// PurgeOldest deletes the messages of a stream on subjects that match filter, but for the newest ones.
func (c *Conn) PurgeOldest(ctx context.Context, stream, filter string, keep int) error {
	if _, err := c.change(ctx, "$JS.API.STREAM.PURGE."+stream, fmt.Appendf(nil, `{"filter":%q,"keep":%d}`, filter, keep)); err != nil {
		return fmt.Errorf("purge %s of %s: %w", filter, stream, err)
	}
	return nil
}

// Purge deletes the messages of a stream on a subject. Unlike the KV client's purge of a key, it
// leaves no marker, so watchers are not told.
func (c *Conn) Purge(ctx context.Context, stream, subject string) error {
	if _, err := c.change(ctx, "$JS.API.STREAM.PURGE."+stream, fmt.Appendf(nil, `{"filter":%q}`, subject)); err != nil {
		return fmt.Errorf("purge %s of %s: %w", subject, stream, err)
	}
	return nil
}

// change makes a request that answers whether it was done. code is JetStream's, if that refuses.
func (c *Conn) change(ctx context.Context, request string, body []byte) (code int, err error) {
	ctx, cancel := context.WithTimeout(ctx, BatchTimeout)
	defer cancel()
	m, err := c.NC.RequestWithContext(ctx, request, body)
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
