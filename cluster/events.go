package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// Events are the events of runs: those that servers write, and the floor of their streams.
type Events struct{ conn *Conn }

// Events returns the events of runs.
func (c *Conn) Events() Events { return Events{c} }

// PutBarrier stores a barrier and returns its sequence. The error is job.ErrUnavailable.
func (es Events) PutBarrier(ctx context.Context, shard int) (uint64, error) {
	ack, err := es.conn.JS.Publish(ctx, bus.SubjectBarrier(shard), nil)
	if err != nil {
		return 0, fmt.Errorf("write barrier of shard %d: %w", shard, jet.Unavailable(err))
	}
	return ack.Sequence, nil
}

// Orphaned is the message of a run that is ended as lost because its trigger has gone.
var Orphaned = reason.Orphaned.String()

// EndRun stores the end of an attempt, or of a piece of one, that no executor will report:
// nobody has it any more, or nobody is to have it. If an end is stored already, that one
// stands. The error is job.ErrUnavailable.
func (es Events) EndRun(ctx context.Context, t *bus.Trigger, status job.Status, message string) error {
	event := bus.EventOf(t, bus.EventFinished, time.Now())
	event.Status, event.FinishedAt, event.Message = status, event.At, message
	m, err := es.Message(event)
	if err != nil {
		return err
	}
	if _, err := es.conn.JS.PublishMsg(ctx, m); err != nil {
		return fmt.Errorf("record the end of run %s: %w", t.RunID, jet.Unavailable(err))
	}
	return nil
}

// Mark stores m. Repeats within the window of duplicates are stored once; readers must
// stand later ones. Errors: an *InvalidError, job.ErrUnavailable.
func (es Events) Mark(ctx context.Context, m *bus.Mark) error {
	msg, err := m.Msg(es.conn.cluster.Shards)
	if err != nil {
		return err
	}
	if _, err := es.conn.JS.PublishMsg(ctx, msg); err != nil {
		return fmt.Errorf("mark run %s: %w", m.RunID, jet.Unavailable(err))
	}
	return nil
}

// Decode is [bus.Tokens.DecodeEvents] with the cluster's partitions and shards.
func (es Events) Decode(subject string, header nats.Header, data []byte, stored time.Time) iter.Seq2[*bus.Event, error] {
	return es.conn.tokens.DecodeEvents(subject, header, data, stored, es.conn.cluster.Partitions, es.conn.cluster.Shards)
}

// DecodeAbout is [bus.Tokens.DecodeAbout] with the cluster's partitions and shards.
func (es Events) DecodeAbout(m *jet.Stored, about func(run []byte) bool) iter.Seq2[*bus.Event, error] {
	return es.conn.tokens.DecodeAbout(m.Subject, m.Header, m.Data, m.At, es.conn.cluster.Partitions, es.conn.cluster.Shards, about)
}

// DecodeLog is [bus.Tokens.DecodeLog].
func (es Events) DecodeLog(subject string, header nats.Header, data []byte) (*bus.Log, error) {
	return es.conn.tokens.DecodeLog(subject, header, data)
}

// Message is [bus.Tokens.ServerEvent] now.
func (es Events) Message(e *bus.Event) (*nats.Msg, error) {
	return es.conn.tokens.ServerEvent(e, time.Now())
}

// KeyAlertPosition is the key in ALERT of how far the alerter has come.
const KeyAlertPosition = "position"

// AlertPosition is how far the alerter has come with each stream of events.
type AlertPosition struct {
	Events uint64 `json:"events"` // of the first partition
	// Others are the positions on the streams of the other partitions, by name.
	Others map[string]uint64 `json:"other_events,omitempty"`
}

// Of returns up to which sequence of a stream the alerter has read events.
func (p *AlertPosition) Of(stream string) uint64 {
	if stream == bus.StreamEvt {
		return p.Events
	}
	return p.Others[stream]
}

// Set is the inverse of Of.
func (p *AlertPosition) Set(stream string, seq uint64) {
	if stream == bus.StreamEvt {
		p.Events = seq
		return
	}
	if p.Others == nil {
		p.Others = map[string]uint64{}
	}
	p.Others[stream] = seq
}

// Alerted returns up to which sequence of a stream the alerter has read events. If
// no alerter has read any yet, none counts: that is the greatest number. The error is
// job.ErrUnavailable.
func (es Events) Alerted(ctx context.Context, stream string) (upTo uint64, err error) {
	e, err := es.conn.Entry(ctx, bus.BucketAlert, KeyAlertPosition)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return math.MaxUint64, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read the position of the alerter: %w", err)
	}
	var at AlertPosition
	if err := json.Unmarshal(e.Value(), &at); err != nil {
		return 0, fmt.Errorf("%w: the position of the alerter is damaged: %w", job.ErrInvalid, err)
	}
	return at.Of(stream), nil
}

// Purge removes from a stream of events the messages up to a sequence, those on
// subjects that match filter only, unless that is empty. The error is job.ErrUnavailable.
func (es Events) Purge(ctx context.Context, stream, filter string, upTo uint64) error {
	s, err := es.conn.JS.Stream(ctx, stream)
	if err != nil {
		return fmt.Errorf("look up stream %s: %w", stream, jet.Unavailable(err))
	}
	options := []jetstream.StreamPurgeOpt{jetstream.WithPurgeSequence(upTo + 1)}
	if filter != "" {
		options = append(options, jetstream.WithPurgeSubject(filter))
	}
	if err := s.Purge(ctx, options...); err != nil {
		return fmt.Errorf("trim stream %s: %w", stream, jet.Unavailable(err))
	}
	return nil
}
