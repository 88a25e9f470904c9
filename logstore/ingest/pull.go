package ingest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"carillon/bus/jet"
	"carillon/job"
)

// message is a message of a stream with what its delivery tells.
type message struct {
	subject     string
	header      nats.Header
	data        []byte
	seq         uint64 // in the stream
	delivery    uint64 // counts the deliveries of the consumer
	pending     uint64 // messages that the consumer had left
	redelivered bool
	at          time.Time // when the stream took it
	reply       string    // takes the acknowledgement
}

// pullRequest asks a consumer for messages. It bounds their size, which the
// client's own fetch does only without a bound of their number; and a batch of log
// messages may be hundreds of times as large as one of events.
type pullRequest struct {
	Batch    int           `json:"batch"`
	MaxBytes int           `json:"max_bytes,omitempty"`
	NoWait   bool          `json:"no_wait,omitempty"`
	Expires  time.Duration `json:"expires,omitempty"` // nanoseconds
}

// pullGrace is how much longer than a request lasts its end is awaited.
const pullGrace = 5 * time.Second

// pull returns the messages that a consumer hands out for one request, in order.
// Having none is no error.
func pull(ctx context.Context, nc *nats.Conn, stream, consumer string, r pullRequest) ([]*message, error) {
	request, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode pull request: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, r.Expires+pullGrace, errors.New("the pull request found no end"))
	defer cancel()
	inbox := nc.NewInbox() // not one of its requests': messages keep their subject, and would be taken for answers
	sub, err := nc.SubscribeSync(inbox)
	if err != nil {
		return nil, fmt.Errorf("%w: subscribe: %w", job.ErrUnavailable, err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	if err := nc.PublishRequest("$JS.API.CONSUMER.MSG.NEXT."+stream+"."+consumer, inbox, request); err != nil {
		return nil, fmt.Errorf("pull from %s on %s: %w", consumer, stream, jet.Unavailable(err))
	}
	var messages []*message
	for len(messages) < r.Batch {
		m, err := sub.NextMsgWithContext(ctx)
		if err != nil && len(messages) > 0 {
			return messages, nil // what has come has come
		}
		if err != nil {
			return nil, fmt.Errorf("%w: pull from %s on %s: %w", job.ErrUnavailable, consumer, stream, err)
		}
		if status := m.Header.Get("Status"); status != "" && m.Reply == "" {
			return messages, statusError(status, m, len(messages))
		}
		meta, err := m.Metadata()
		if err != nil {
			return nil, fmt.Errorf("pull from %s on %s: reply subject %q: %w", consumer, stream, m.Reply, err)
		}
		messages = append(messages, &message{
			subject: m.Subject, header: m.Header, data: m.Data, reply: m.Reply,
			seq: meta.Sequence.Stream, delivery: meta.Sequence.Consumer, pending: meta.NumPending, redelivered: meta.NumDelivered > 1, at: meta.Timestamp,
		})
	}
	return messages, nil
}

// statusError tells the end of a batch from trouble.
func statusError(status string, m *nats.Msg, received int) error {
	switch status {
	case "404", "408": // no more; or the request has lasted its time
		return nil
	}
	if received > 0 { // the batch is as large as it may be; else the next request will tell
		return nil
	}
	return fmt.Errorf("%w: pull: %s %s", job.ErrUnavailable, status, m.Header.Get("Description"))
}
