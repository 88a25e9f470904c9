package ingest

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus/jet"
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

// pull returns the messages that a consumer hands out for one request, in order.
// Having none is no error.
func pull(ctx context.Context, conn *jet.Conn, stream, consumer string, r jet.PullRequest) ([]*message, error) {
	found, err := conn.Pull(ctx, stream, consumer, r)
	if err != nil {
		return nil, err
	}
	messages := make([]*message, len(found))
	for i, m := range found {
		meta, err := m.Metadata()
		if err != nil {
			return nil, fmt.Errorf("pull from %s on %s: reply subject %q: %w", consumer, stream, m.Reply, err)
		}
		messages[i] = &message{
			subject: m.Subject, header: m.Header, data: m.Data, reply: m.Reply,
			seq: meta.Sequence.Stream, delivery: meta.Sequence.Consumer, pending: meta.NumPending, redelivered: meta.NumDelivered > 1, at: meta.Timestamp,
		}
	}
	return messages, nil
}
