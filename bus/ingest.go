package bus

import (
	"context"
	"fmt"
	"time"
)

// IngestBacklog is what waits on a stream to be moved into the log store.
type IngestBacklog struct {
	Stream   string    `json:"stream"`
	Messages uint64    `json:"messages"`
	Since    time.Time `json:"since,omitzero"` // when the oldest of them came
}

// IngestBacklogs returns what waits on each of the streams that history is made of. The error
// is job.ErrUnavailable.
func (c *Conn) IngestBacklogs(ctx context.Context) ([]IngestBacklog, error) {
	var all []IngestBacklog
	for _, feed := range []struct{ stream, consumer, filter string }{
		{StreamTrig, ConsumerLedger, SubjectRecords}, {StreamEvt, ConsumerEvents, "evt.>"}, {StreamLog, ConsumerLogs, "log.>"},
	} {
		consumer, err := c.JS.Consumer(ctx, feed.stream, feed.consumer)
		if err != nil {
			return nil, fmt.Errorf("look up consumer %s on %s: %w", feed.consumer, feed.stream, Unavailable(err))
		}
		info := consumer.CachedInfo()
		b := IngestBacklog{Stream: feed.stream, Messages: info.NumPending + uint64(max(info.NumAckPending, 0))}
		if b.Messages > 0 {
			err = c.ScanFrom(ctx, feed.stream, feed.filter, info.AckFloor.Stream+1, func(s *Stored) bool {
				b.Since = s.At.UTC().Truncate(time.Millisecond)
				return false
			})
			if err != nil {
				return nil, err
			}
		}
		all = append(all, b)
	}
	return all, nil
}
