package bus

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"carillon/job/fleet"
)

// IngestBacklogs returns what waits on each of the streams that history is made of. The error
// is job.ErrUnavailable.
func (c *Conn) IngestBacklogs(ctx context.Context) ([]fleet.IngestBacklog, error) {
	feeds := []struct {
		stream, consumer string
		subjects         []string
	}{
		{StreamTrig, ConsumerLedger, []string{SubjectRecords}}, {StreamEvt, ConsumerEvents, []string{"evt.>"}}, {StreamLog, ConsumerLogs, []string{"log.>"}},
	}
	for _, s := range FactStreams {
		feeds = append(feeds, struct {
			stream, consumer string
			subjects         []string
		}{s.Stream, ConsumerFacts, s.Subjects})
	}
	var all []fleet.IngestBacklog
	for _, feed := range feeds {
		b, err := c.ingestBacklog(ctx, feed.stream, feed.consumer, feed.subjects)
		if err != nil {
			return nil, err
		}
		all = append(all, b)
	}
	return all, nil
}

func (c *Conn) ingestBacklog(ctx context.Context, stream, consumer string, subjects []string) (fleet.IngestBacklog, error) {
	b := fleet.IngestBacklog{Stream: stream}
	info, err := c.ingestInfo(ctx, stream, consumer)
	if err != nil {
		return b, err
	}
	if b.Messages = info.NumPending + uint64(max(info.NumAckPending, 0)); b.Messages == 0 {
		return b, nil
	}
	for _, subject := range subjects {
		err := c.ScanFrom(ctx, stream, subject, info.AckFloor.Stream+1, func(s *Stored) bool {
			if at := s.At.UTC().Truncate(time.Millisecond); b.Since.IsZero() || at.Before(b.Since) {
				b.Since = at
			}
			return false
		})
		if err != nil {
			return b, err
		}
	}
	return b, nil
}

func (c *Conn) ingestInfo(ctx context.Context, stream, consumer string) (*jetstream.ConsumerInfo, error) {
	on, err := c.JS.Consumer(ctx, stream, consumer)
	if err != nil {
		return nil, fmt.Errorf("look up consumer %s on %s: %w", consumer, stream, Unavailable(err))
	}
	return on.CachedInfo(), nil
}

// LinesWaiting returns how many messages on LOG the log store has not got. The error is
// job.ErrUnavailable.
func (c *Conn) LinesWaiting(ctx context.Context) (uint64, error) {
	info, err := c.ingestInfo(ctx, StreamLog, ConsumerLogs)
	if err != nil {
		return 0, err
	}
	return info.NumPending + uint64(max(info.NumAckPending, 0)), nil
}

// IngestMark is what the streams of runs end with at one moment.
type IngestMark struct{ trig, evt uint64 }

// IngestMark returns what the streams end with now. The error is job.ErrUnavailable.
func (c *Conn) IngestMark(ctx context.Context) (m IngestMark, err error) {
	if m.trig, err = c.LastSeq(ctx, StreamTrig); err == nil {
		m.evt, err = c.LastSeq(ctx, StreamEvt)
	}
	return m, err
}

// IngestPassed reports whether the log store has all that the streams had at a mark. The
// error is job.ErrUnavailable.
func (c *Conn) IngestPassed(ctx context.Context, m IngestMark) (bool, error) {
	for _, on := range []struct {
		stream, consumer string
		mark             uint64
	}{{StreamTrig, ConsumerLedger, m.trig}, {StreamEvt, ConsumerEvents, m.evt}} {
		info, err := c.ingestInfo(ctx, on.stream, on.consumer)
		if err != nil {
			return false, err
		}
		// Of a stream with other subjects the floor stays behind when nothing is left.
		if info.AckFloor.Stream < on.mark && info.NumPending+uint64(max(info.NumAckPending, 0)) > 0 {
			return false, nil
		}
	}
	return true, nil
}

// EventsMoved returns up to which sequence the log store has EVT. The error is
// job.ErrUnavailable.
func (c *Conn) EventsMoved(ctx context.Context) (upTo uint64, err error) {
	info, err := c.ingestInfo(ctx, StreamEvt, ConsumerEvents)
	if err != nil {
		return 0, err
	}
	return info.AckFloor.Stream, nil
}

// AuditMoved returns up to which sequence the log store has the stream of the audit log,
// and how many messages after it wait. The error is job.ErrUnavailable.
func (c *Conn) AuditMoved(ctx context.Context) (upTo, waiting uint64, err error) {
	info, err := c.ingestInfo(ctx, StreamAudit, ConsumerFacts)
	if err != nil {
		return 0, 0, err
	}
	return info.AckFloor.Stream, info.NumPending + uint64(max(info.NumAckPending, 0)), nil
}

// AuditSince returns since when the stream of the audit log has all entries; it is zero if
// none has had to go. The error is job.ErrUnavailable.
func (c *Conn) AuditSince(ctx context.Context) (time.Time, error) {
	stream, err := c.JS.Stream(ctx, StreamAudit)
	if err != nil {
		return time.Time{}, fmt.Errorf("look up stream %s: %w", StreamAudit, Unavailable(err))
	}
	if state := stream.CachedInfo().State; state.FirstSeq > 1 {
		return state.FirstTime.UTC().Truncate(time.Millisecond), nil
	}
	return time.Time{}, nil
}
