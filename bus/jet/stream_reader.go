package jet

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/job"
)

// streamReader reads one stream.
type streamReader struct {
	conn *Conn
	name string
}

// get asks the stream's leader for one message.
func (s streamReader) get(ctx context.Context, request string) (*Stored, error) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(s.conn.wait, BatchTimeout))
	defer cancel()
	m, err := s.conn.NC.RequestWithContext(ctx, "$JS.API.STREAM.MSG.GET."+s.name, []byte(request))
	if err != nil {
		return nil, fmt.Errorf("%w: read message %s of %s: %w", job.ErrUnavailable, request, s.name, err)
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
		return nil, fmt.Errorf("decode message %s of %s: %w", request, s.name, err)
	}
	switch {
	case r.Error != nil && r.Error.ErrCode == 10037:
		return nil, fmt.Errorf("%w: %s of %s", ErrNoMessage, request, s.name)
	case r.Error != nil:
		return nil, fmt.Errorf("%w: read message %s of %s: %s (%d)", job.ErrUnavailable, request, s.name, r.Error.Description, r.Error.ErrCode)
	case r.Message == nil:
		return nil, fmt.Errorf("%w: read message %s of %s: empty answer", job.ErrUnavailable, request, s.name)
	}
	found := &Stored{Subject: r.Message.Subject, Seq: r.Message.Seq, Data: r.Message.Data, At: r.Message.Time}
	if len(r.Message.Header) > 0 {
		if found.Header, err = nats.DecodeHeadersMsg(r.Message.Header); err != nil {
			return nil, fmt.Errorf("decode header of message %s of %s: %w", request, s.name, err)
		}
	}
	return found, nil
}

// scan yields the messages from a sequence on, as the leader has them.
func (s streamReader) scan(ctx context.Context, filter string, from uint64, yield func(*Stored) bool) error {
	// The first is asked of the leader alone: mostly, who scans often finds nothing.
	from, more, err := s.next(ctx, filter, from, yield)
	if err != nil || !more {
		return err
	}
	info, err := s.conn.JS.Stream(ctx, s.name)
	if err != nil {
		return fmt.Errorf("look up stream %s: %w", s.name, Unavailable(err))
	}
	read := s.page
	if info.CachedInfo().Config.Replicas > 1 {
		read = s.next
	}
	for more {
		if from, more, err = read(ctx, filter, from, yield); err != nil {
			return err
		}
	}
	return nil
}

// near is scan of any replica.
func (s streamReader) near(ctx context.Context, filter string, from uint64, yield func(*Stored) bool) error {
	for more := true; more; {
		var err error
		if from, more, err = s.page(ctx, filter, from, yield); err != nil {
			return err
		}
	}
	return nil
}

// since yields the messages on a subject that were stored at or after an instant.
func (s streamReader) since(ctx context.Context, subject string, since time.Time, yield func(*Stored) bool) error {
	last, err := s.conn.Last(ctx, s.name, subject)
	if errors.Is(err, ErrNoMessage) {
		return nil
	}
	if err != nil {
		return err
	}
	at := since.UTC().Format(time.RFC3339Nano)
	first, err := s.get(ctx, fmt.Sprintf(`{"start_time":%q,"next_by_subj":%q}`, at, subject))
	if errors.Is(err, ErrNoMessage) {
		return nil
	}
	if err != nil {
		return err
	}
	seen, on := first.Seq, yield(first)
	for from, more := first.Seq+1, true; on && more && seen < last.Seq; {
		from, more, err = s.page(ctx, subject, from, func(m *Stored) bool {
			seen, on = m.Seq, yield(m)
			return on && seen < last.Seq
		})
		if err != nil {
			return err
		}
	}
	if on && seen < last.Seq {
		return fmt.Errorf("%w: %s of %s: a replica that lags behind has answered", job.ErrUnavailable, subject, s.name)
	}
	return nil
}

// backPage is how many sequences back looks at in one go.
const backPage = 500

// back yields the messages before a sequence, the newest first.
func (s streamReader) back(ctx context.Context, filter string, before uint64, yield func(*Stored) bool) error {
	last, err := s.conn.LastSeq(ctx, s.name)
	if err != nil {
		return err
	}
	if before == 0 || before > last+1 {
		before = last + 1
	}
	for before > 1 {
		from := uint64(1)
		if before > backPage {
			from = before - backPage
		}
		page, err := s.between(ctx, filter, from, before)
		if err != nil {
			return err
		}
		for _, m := range slices.Backward(page) {
			if !yield(m) {
				return nil
			}
		}
		before = from
	}
	return nil
}

// between returns the messages with sequences in [from, before).
func (s streamReader) between(ctx context.Context, filter string, from, before uint64) (list []*Stored, err error) {
	for more := true; more && from < before; {
		from, more, err = s.page(ctx, filter, from, func(m *Stored) bool {
			if m.Seq < before {
				list = append(list, m)
			}
			return m.Seq+1 < before
		})
		if err != nil {
			return nil, err
		}
		if len(list) > 0 && list[len(list)-1].Seq+1 >= before {
			break
		}
	}
	return list, nil
}

// knows returns job.ErrUnavailable if the server that answers as the leader of a stream does not have
// a sequence.
func (s streamReader) knows(ctx context.Context, known uint64) error {
	last, err := s.conn.LastSeq(ctx, s.name)
	if err != nil {
		return err
	}
	return behind(s.name, last, known)
}

func behind(stream string, last, known uint64) error {
	if last >= known {
		return nil
	}
	return fmt.Errorf("%w: the leader of stream %s is at message %d and does not know of message %d", job.ErrUnavailable, stream, last, known)
}

// all calls yield for every message of a stream on subjects that match filter, from a
// sequence on, in order, until the stream's leader has no more: pages come from any replica,
// and what one that lags behind does not have is asked of the leader. known is as with
// [Conn.NextSeq]. It may yield messages that the leader has no longer.
func (s streamReader) all(ctx context.Context, filter string, from, known uint64, yield func(*Stored)) error {
	each := func(m *Stored) bool { yield(m); return true }
	for {
		next, err := s.conn.NextSeq(ctx, s.name, []string{filter}, from, known)
		if err != nil || next == 0 {
			return err
		}
		for more := true; more; {
			if from, more, err = s.page(ctx, filter, from, each); err != nil {
				return err
			}
		}
		if from <= next {
			if from, _, err = s.next(ctx, filter, from, each); err != nil {
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

// page yields a page of messages from sequence from on. It returns where
// the next page begins, and whether there is one.
func (s streamReader) page(ctx context.Context, filter string, from uint64, yield func(*Stored) bool) (next uint64, more bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	inbox := s.conn.NC.NewRespInbox()
	in, sub, err := listen(s.conn.NC, inbox, pageMessages)
	if err != nil {
		return 0, false, err
	}
	defer func() { _ = sub.Unsubscribe() }()
	// Bounded, so that a page of large messages does not flood the subscription.
	request := fmt.Appendf(nil, `{"seq":%d,"next_by_subj":%q,"batch":%d,"max_bytes":%d}`, from, filter, pageMessages, pageBytes)
	if err := s.conn.NC.PublishRequest("$JS.API.DIRECT.GET."+s.name, inbox, request); err != nil {
		return 0, false, fmt.Errorf("%w: read %s of %s: %w", job.ErrUnavailable, filter, s.name, err)
	}
	for last := uint64(0); ; {
		m, err := in.next(ctx)
		if err != nil {
			return 0, false, fmt.Errorf("%w: read %s of %s: %w", job.ErrUnavailable, filter, s.name, err)
		}
		switch status := statusOf(m); status {
		case "", "204": // a message, or the end of the page
		case "404": // nothing on the subject from here on
			return from, false, nil
		default:
			return 0, false, fmt.Errorf("%w: read %s of %s: %s %s", job.ErrUnavailable, filter, s.name, status, m.Header.Get("Description"))
		}
		// Each message, and the end, names the one before it.
		if headerUint(m, "Nats-Last-Sequence") != last {
			return 0, false, fmt.Errorf("%w: read %s of %s: a message was lost on the way", job.ErrUnavailable, filter, s.name)
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

// next is page for one message, asked of the leader.
func (s streamReader) next(ctx context.Context, filter string, from uint64, yield func(*Stored) bool) (next uint64, more bool, err error) {
	found, err := s.get(ctx, fmt.Sprintf(`{"seq":%d,"next_by_subj":%q}`, from, filter))
	if errors.Is(err, ErrNoMessage) {
		return from, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	return found.Seq + 1, yield(found), nil
}
