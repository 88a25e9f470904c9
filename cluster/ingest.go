package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// Ingest is how far the log store has read the streams.
type Ingest struct{ conn *Conn }

// Ingest returns how far the log store has read the streams.
func (c *Conn) Ingest() Ingest { return Ingest{c} }

// Backlogs returns what waits on each of the streams that history is made of. Of those that
// do not answer it says so, and the error, which is job.ErrUnavailable, says why.
func (in Ingest) Backlogs(ctx context.Context) ([]fleet.IngestBacklog, error) {
	type feed struct {
		stream, consumer string
		subjects         []string
	}
	var feeds []feed
	for _, stream := range in.conn.Trigs() {
		feeds = append(feeds, feed{stream, bus.ConsumerLedger, []string{bus.SubjectRecords}})
	}
	for _, stream := range in.conn.Evts() {
		feeds = append(feeds, feed{stream, bus.ConsumerEvents, []string{"evt.>"}})
	}
	feeds = append(feeds, feed{bus.StreamLog, bus.ConsumerLogs, []string{"log.>"}})
	for _, s := range FactStreams {
		feeds = append(feeds, feed{s.Stream, bus.ConsumerFacts, s.Subjects})
	}
	all, errs := make([]fleet.IngestBacklog, len(feeds)), make([]error, len(feeds))
	var asking errgroup.Group
	for i, feed := range feeds {
		asking.Go(func() error {
			if all[i], errs[i] = in.backlog(ctx, feed.stream, feed.consumer, feed.subjects); errs[i] != nil {
				all[i] = fleet.IngestBacklog{Stream: feed.stream, Unavailable: true}
			}
			return nil
		})
	}
	_ = asking.Wait() // they return none
	return all, errors.Join(errs...)
}

func (in Ingest) backlog(ctx context.Context, stream, consumer string, subjects []string) (fleet.IngestBacklog, error) {
	b := fleet.IngestBacklog{Stream: stream}
	info, err := in.conn.ConsumerInfo(ctx, stream, consumer)
	if err != nil {
		return b, err
	}
	if b.Messages = info.NumPending + uint64(max(info.NumAckPending, 0)); b.Messages == 0 {
		return b, nil
	}
	for _, subject := range subjects {
		err := in.conn.Read(ctx, jet.Reading{Stream: stream, Filter: subject, From: info.AckFloor.Stream + 1}, func(s *jet.Stored) bool {
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

// LinesWaiting returns how many messages on LOG the log store has not got. The error is
// job.ErrUnavailable.
func (in Ingest) LinesWaiting(ctx context.Context) (uint64, error) {
	info, err := in.conn.ConsumerInfo(ctx, bus.StreamLog, bus.ConsumerLogs)
	if err != nil {
		return 0, err
	}
	return info.NumPending + uint64(max(info.NumAckPending, 0)), nil
}

// StreamEnds is what the streams of runs end with at one moment.
type StreamEnds []bus.Position

// Ends returns what the streams end with now. The error is job.ErrUnavailable.
func (in Ingest) Ends(ctx context.Context) (m StreamEnds, err error) {
	for _, stream := range append(in.conn.Trigs(), in.conn.Evts()...) {
		last, err := in.conn.LastSeq(ctx, stream)
		if err != nil {
			return nil, err
		}
		m = append(m, bus.Position{Stream: stream, Seq: last})
	}
	return m, nil
}

// Passed reports whether the log store has all that the streams had at those ends. The
// error is job.ErrUnavailable.
func (in Ingest) Passed(ctx context.Context, m StreamEnds) (bool, error) {
	for _, mark := range m {
		consumer := bus.ConsumerEvents
		if kindOf(mark.Stream) == bus.StreamTrig {
			consumer = bus.ConsumerLedger
		}
		info, err := in.conn.ConsumerInfo(ctx, mark.Stream, consumer)
		if err != nil {
			return false, err
		}
		// Of a stream with other subjects the floor stays behind when nothing is left.
		if info.AckFloor.Stream < mark.Seq && info.NumPending+uint64(max(info.NumAckPending, 0)) > 0 {
			return false, nil
		}
	}
	return true, nil
}

// EventsMoved returns up to which sequence the log store has a stream of events. The error is
// job.ErrUnavailable.
func (in Ingest) EventsMoved(ctx context.Context, stream string) (upTo uint64, err error) {
	info, err := in.conn.ConsumerInfo(ctx, stream, bus.ConsumerEvents)
	if err != nil {
		return 0, err
	}
	return info.AckFloor.Stream, nil
}

// AuditMoved returns up to which sequence the log store has the stream of the audit log,
// and how many messages after it wait. The error is job.ErrUnavailable.
func (in Ingest) AuditMoved(ctx context.Context) (upTo, waiting uint64, err error) {
	info, err := in.conn.ConsumerInfo(ctx, bus.StreamAudit, bus.ConsumerFacts)
	if err != nil {
		return 0, 0, err
	}
	return info.AckFloor.Stream, info.NumPending + uint64(max(info.NumAckPending, 0)), nil
}

// AuditSince returns since when the stream of the audit log has all entries; it is zero if
// none has had to go. The error is job.ErrUnavailable.
func (in Ingest) AuditSince(ctx context.Context) (time.Time, error) {
	stream, err := in.conn.JS.Stream(ctx, bus.StreamAudit)
	if err != nil {
		return time.Time{}, fmt.Errorf("look up stream %s: %w", bus.StreamAudit, jet.Unavailable(err))
	}
	if state := stream.CachedInfo().State; state.FirstSeq > 1 {
		return state.FirstTime.UTC().Truncate(time.Millisecond), nil
	}
	return time.Time{}, nil
}

// StoreDisk is how full the disk of the log store is, as whoever writes to the store has
// measured it: of several disks the fullest. Sizes are in bytes.
type StoreDisk struct {
	Total int64     `json:"total"`
	Free  int64     `json:"free"`
	At    time.Time `json:"at"`
}

// Used returns how much is used up, in percent.
func (d *StoreDisk) Used() float64 {
	if d.Total <= 0 {
		return 0
	}
	return 100 * (1 - float64(d.Free)/float64(d.Total))
}

var kindStoreDisk = figuresAt[StoreDisk]("store-disk", "the figures of the disk of the log store")

// PutStoreDisk keeps the newest measurement. The error is job.ErrUnavailable.
func (in Ingest) PutStoreDisk(ctx context.Context, d *StoreDisk) error {
	return writeThe(ctx, in.conn, kindStoreDisk, d)
}

// StoreDisk returns the newest measurement. Errors: job.ErrNotFound when there is none,
// job.ErrUnavailable.
func (in Ingest) StoreDisk(ctx context.Context) (*StoreDisk, error) {
	return readThe(ctx, in.conn, kindStoreDisk)
}

// paceHolds is for how long a measurement of the pace tells something.
const paceHolds = time.Minute

// IngestPace is how fast the log store catches up with the streams, as whoever moves history
// there has measured it.
type IngestPace struct {
	At time.Time `json:"at"`
	// PerSecond is by how many messages fewer wait with each second, by stream. Streams of
	// which no fewer wait are absent.
	PerSecond map[string]float64 `json:"per_second"`
}

var kindPace = figuresAt[IngestPace]("ingest-pace", "the pace of the log store")

// PutPace keeps the newest measurement. The error is job.ErrUnavailable.
func (in Ingest) PutPace(ctx context.Context, p *IngestPace) error {
	return writeThe(ctx, in.conn, kindPace, p)
}

// Pace returns the newest measurement. Errors: job.ErrNotFound when there is none,
// job.ErrUnavailable.
func (in Ingest) Pace(ctx context.Context) (*IngestPace, error) {
	return readThe(ctx, in.conn, kindPace)
}

// Forecast notes in backlogs how fast those shrink that are behind, and returns when the log
// store will have caught up if it goes on so. That is zero when it is not behind, when one of
// them does not shrink or is not known, and when p is too old to tell.
func (p *IngestPace) Forecast(backlogs []fleet.IngestBacklog, now time.Time) time.Time {
	if now.Sub(p.At) > paceHolds {
		return time.Time{}
	}
	var end time.Time
	known := true
	for i := range backlogs {
		b := &backlogs[i]
		if b.Unavailable {
			known = false
		}
		if !b.Behind(now) {
			continue
		}
		if b.PerSecond = p.PerSecond[b.Stream]; b.PerSecond <= 0 {
			known = false
			continue
		}
		left := time.Duration(float64(b.Messages) / b.PerSecond * float64(time.Second))
		if at := now.Add(left); at.After(end) {
			end = at
		}
	}
	if !known {
		return time.Time{}
	}
	return end
}
