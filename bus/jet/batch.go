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
	"github.com/nats-io/nuid"
)

// BatchTimeout is how long to wait for the answer to a batch before its outcome
// counts as unknown. Other requests to JetStream wait as long.
const BatchTimeout = 2 * time.Second

// ErrBatchUnknown means that no answer to a batch came: it may have been stored, or
// may yet be, or not.
var ErrBatchUnknown = errors.New("outcome of the batch is unknown")

// BatchError is JetStream's refusal of a batch. None of it was stored.
type BatchError struct {
	Status int // HTTP-like
	Code   int // JetStream's error code
	Text   string
}

func (e *BatchError) Error() string { return fmt.Sprintf("batch refused: %s (%d)", e.Text, e.Code) }

// Stale reports whether the batch was refused because a subject's last sequence
// was not the expected one.
func (e *BatchError) Stale() bool { return e.Code == 10071 }

// Busy reports whether the same batch may succeed if it is sent again soon:
// another one on the same subject is in flight (10164), messages of this one were
// lost on the way (10176), too many are in flight (10210), the stream has no
// leader (10008), or the server asks for patience (429).
func (e *BatchError) Busy() bool {
	switch e.Code {
	case 10164, codeIncomplete, 10210, 10008:
		return true
	}
	return e.Status == 429 || e.Status == 503
}

// Full reports whether the stream, or its account, has no room for the batch.
func (e *BatchError) Full() bool {
	switch e.Code {
	case codeStreamFull, 10023, 10047, 10002:
		return true
	}
	return false
}

// StreamFull reports whether the batch would exceed the limit of its stream. A smaller one may fit.
func (e *BatchError) StreamFull() bool { return e.Code == codeStreamFull }

// Permanent reports whether the same batch would be refused again, however often it is sent:
// what is wrong is in the batch, like a message that is larger than NATS takes.
func (e *BatchError) Permanent() bool {
	return e.Status >= 400 && e.Status < 500 && !e.Stale() && !e.Busy() && !e.Full()
}

// Incomplete reports whether messages of the batch did not reach the stream. They were lost
// on the way; or one is larger than the stream takes, which JetStream says nobody.
func (e *BatchError) Incomplete() bool { return e.Code == codeIncomplete }

// TooMany reports whether the batch has more messages than the server takes in one.
func (e *BatchError) TooMany() bool { return e.Code == codeTooMany }

// Codes of JetStream's errors.
const (
	codeTooLarge   = 10054 // a message
	codeStreamFull = 10077
	codeTooMany    = 10199 // messages in a batch
	// codeIncomplete is the code of a batch with missing messages.
	codeIncomplete = 10176
)

// publishError says why a message of a batch could not be sent.
func publishError(nc *nats.Conn, m *nats.Msg, err error) error {
	if errors.Is(err, nats.ErrMaxPayload) { // the client looks before it sends
		return &BatchError{Status: 400, Code: codeTooLarge, Text: fmt.Sprintf(
			"a message on %s has %d bytes and its headers, and max_payload of NATS is %d", m.Subject, len(m.Data), nc.MaxPayload())}
	}
	return fmt.Errorf("%w: %w", ErrBatchUnknown, err)
}

// PublishBatch stores msgs, all or none (ADR-50 of JetStream), and returns the
// sequence of the first; the others follow without gap. Messages must have a
// header, and there must be 1 to MaxBatch of them. The error is a *BatchError, or
// wraps ErrBatchUnknown. It sets headers of msgs, which may be published again
// afterwards; a repeat is a batch of its own.
func (c *Conn) PublishBatch(ctx context.Context, msgs []*nats.Msg) (first uint64, err error) {
	s, err := c.StageBatch(msgs)
	if err != nil {
		return 0, err
	}
	return s.Commit(ctx)
}

// Staged is a batch that the server has, or is about to get, but for its last message:
// it does the greater part of its work for a batch before that comes. Without it, it
// forgets the batch, after 10 s unless configured otherwise.
type Staged struct {
	c    *Conn
	last *nats.Msg
	n    int
}

// StageBatch is the first part of PublishBatch. None of msgs is stored before
// [Staged.Commit].
func (c *Conn) StageBatch(msgs []*nats.Msg) (*Staged, error) {
	id := []string{nuid.Next()}
	last := len(msgs) - 1
	for i, m := range msgs {
		m.Header["Nats-Batch-Id"] = id
		m.Header["Nats-Batch-Sequence"] = []string{strconv.Itoa(i + 1)}
		if i < last {
			delete(m.Header, "Nats-Batch-Commit") // it may have been last in an earlier batch
			if err := c.NC.PublishMsg(m); err != nil {
				return nil, publishError(c.NC, m, err)
			}
		}
	}
	msgs[last].Header["Nats-Batch-Commit"] = []string{"1"}
	return &Staged{c: c, last: msgs[last], n: len(msgs)}, nil
}

// Commit is the rest of PublishBatch. It must be called at most once.
func (s *Staged) Commit(ctx context.Context) (first uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(s.c.wait, BatchTimeout))
	defer cancel()
	answer, err := s.c.NC.RequestMsgWithContext(ctx, s.last)
	if err != nil {
		return 0, publishError(s.c.NC, s.last, err)
	}
	var ack struct {
		Seq   uint64 `json:"seq"`
		Count int    `json:"count"`
		Error *struct {
			Code        int    `json:"code"`
			ErrCode     int    `json:"err_code"`
			Description string `json:"description"`
		} `json:"error"`
	}
	if err := json.Unmarshal(answer.Data, &ack); err != nil {
		return 0, fmt.Errorf("%w: decode answer %q: %w", ErrBatchUnknown, answer.Data, err)
	}
	if ack.Error != nil {
		return 0, &BatchError{Status: ack.Error.Code, Code: ack.Error.ErrCode, Text: ack.Error.Description}
	}
	if ack.Count != s.n {
		return 0, fmt.Errorf("%w: the server counted %d messages of %d", ErrBatchUnknown, ack.Count, s.n)
	}
	return ack.Seq - uint64(s.n) + 1, nil //nolint:gosec // a count is positive
}

// The reasons of refusals in a word, for metrics.
const (
	kindStale     = "stale"
	kindFull      = "full"
	kindBusy      = "busy"
	kindPermanent = "permanent"
	kindOther     = "other"
)

// BatchErrorKinds are all that [BatchError.Kind] returns.
var BatchErrorKinds = []string{kindStale, kindFull, kindBusy, kindPermanent, kindOther}

// Kind names the reason of the refusal in a word, for metrics.
func (e *BatchError) Kind() string {
	switch {
	case e.Stale():
		return kindStale
	case e.Full():
		return kindFull
	case e.Busy():
		return kindBusy
	case e.Permanent():
		return kindPermanent
	default:
		return kindOther
	}
}
