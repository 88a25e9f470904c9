package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
)

const (
	// apartKept is how many packs a shard's note lists at least. Those before them were removed long ago.
	apartKept = 256
	// apartTries is how often a pack is tried to be taken apart while others of its shard are.
	apartTries = 5
)

// apart is the note of a shard: which packs were taken apart last, by their sequences.
type apart struct {
	Packs []uint64 `json:"packs"`
}

// TakeApart replaces a pack of triggers on its stream by its triggers, each of which is then judged by itself
// before it is handed out: see [bus.PackedTrigger.TakenApart]. It does so once, even if
// several servers try at the same time, or one crashes in between: the triggers are stored in one batch with the note that they are,
// which replaces the note before it or is refused. Then the pack is removed. Repeats remove it only. back says
// that all who got the pack have given it back. The error is job.ErrUnavailable, or an *InvalidError.
func (as Attempts) TakeApart(ctx context.Context, at bus.Position, back bool) error {
	var err error
	for range apartTries {
		var refused *jet.BatchError
		if err = as.takeApart(ctx, at, back); !errors.As(err, &refused) || !refused.Stale() && !refused.Busy() {
			break
		}
	}
	if err != nil && !errors.Is(err, job.ErrInvalid) {
		return fmt.Errorf("take pack %d of %s apart: %w", at.Seq, at.Stream, jet.Unavailable(err))
	}
	return err
}

func (as Attempts) takeApart(ctx context.Context, at bus.Position, back bool) error {
	m, err := as.conn.At(ctx, at.Stream, at.Seq)
	switch {
	case errors.Is(err, jet.ErrNoMessage):
		return nil // its runs have ended, or somebody has taken it apart
	case err != nil:
		return err
	case !bus.IsPack(m.Header):
		return &job.InvalidError{Field: bus.HeaderMessage, Reason: fmt.Sprintf("%q is no pack of triggers", m.Header.Get(bus.HeaderMessage))}
	}
	shard, ok := bus.ShardOfTrigger(m.Subject)
	packed, err := bus.Unpack(m.Data)
	if !ok || err != nil {
		return errors.Join(err, &job.InvalidError{Field: "subject", Reason: fmt.Sprintf("%q of a pack must have a shard", m.Subject)})
	}
	note, last, err := as.apart(ctx, at.Stream, shard)
	if err != nil {
		return err
	}
	if !slices.Contains(note.Packs, at.Seq) {
		note.Packs = append(note.Packs, at.Seq)
		note.Packs = note.Packs[max(0, len(note.Packs)-apartKept):]
		batch, err := apartBatch(m, packed, shard, note, last, back)
		if err != nil {
			return err
		}
		if _, err := as.conn.PublishBatch(ctx, batch); err != nil {
			return err
		}
	}
	return as.conn.Remove(ctx, at.Stream, at.Seq)
}

// apart returns the note of a shard, and its sequence, which is 0 if there is none.
func (as Attempts) apart(ctx context.Context, stream string, shard int) (note apart, seq uint64, err error) {
	m, err := as.conn.Last(ctx, stream, bus.SubjectApart(shard))
	if errors.Is(err, jet.ErrNoMessage) {
		return note, 0, nil
	}
	if err != nil {
		return note, 0, err
	}
	return note, m.Seq, bus.Decode(m.Header, bus.MessageApart, m.Data, &note)
}

// apartBatch returns what takes the place of a pack: the note, if the one before it is the last, and the
// triggers.
func apartBatch(m *jet.Stored, packed []bus.PackedTrigger, shard int, note apart, last uint64, back bool) ([]*nats.Msg, error) {
	data, err := json.Marshal(note)
	if err != nil {
		return nil, fmt.Errorf("encode which packs were taken apart: %w", err)
	}
	first := bus.NewMessage(bus.SubjectApart(shard), bus.MessageApart, data)
	bus.Rollup(first)
	bus.ExpectLast(first, last)
	batch := []*nats.Msg{first}
	traced := m.Header.Get(bus.HeaderTrace) != ""
	for _, p := range packed {
		single := p.TakenApart(m.Subject, m.Seq, back)
		if t, err := bus.DecodeTrigger(nil, p.Data); err == nil && traced {
			single.Header[bus.HeaderTrace] = []string{bus.FireTrace(t.RunID, t.Attempt)}
		}
		batch = append(batch, single)
	}
	return batch, nil
}
