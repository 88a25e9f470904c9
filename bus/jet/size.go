package jet

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

// Size returns the bytes of a stream's messages that match filter, from a sequence on, and the sequence
// after the last of them. It reads their headers only. The error is job.ErrUnavailable.
func (c *Conn) Size(ctx context.Context, stream, filter string, from uint64) (size int64, next uint64, err error) {
	cfg := jetstream.ConsumerConfig{
		Name: nuid.Next(), FilterSubject: filter, DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: max(from, 1),
		AckPolicy: jetstream.AckNonePolicy, HeadersOnly: true, MemoryStorage: true, Replicas: 1, InactiveThreshold: time.Minute,
	}
	if _, err := c.JS.CreateConsumer(ctx, stream, cfg); err != nil {
		return 0, 0, fmt.Errorf("add up messages of %s: %w", stream, Unavailable(err))
	}
	// Nobody waits for an answer: else the consumer ends after a minute.
	defer func() { _ = c.NC.Publish("$JS.API.CONSUMER.DELETE."+stream+"."+cfg.Name, nil) }()
	for next = max(from, 1); ; {
		page, err := c.Pull(ctx, stream, cfg.Name, PullRequest{Batch: pageMessages, MaxBytes: pageBytes, NoWait: true})
		if err != nil {
			return 0, 0, err
		}
		if len(page) == 0 {
			return size, next, nil
		}
		for _, m := range page {
			meta, err := m.Metadata()
			if err != nil {
				return 0, 0, fmt.Errorf("add up messages of %s: %w", stream, err)
			}
			data, _ := strconv.ParseInt(lastHeader(m, "Nats-Msg-Size"), 10, 64)
			size += data + int64(m.Size())
			next = meta.Sequence.Stream + 1
		}
	}
}
