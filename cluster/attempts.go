package cluster

import (
	"context"
	"errors"
	"fmt"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
)

// Attempts are what is kept of attempts: who has claimed one, and which executors died with it.
type Attempts struct{ conn *Conn }

// Attempts returns what is kept of attempts.
func (c *Conn) Attempts() Attempts { return Attempts{c} }

// Claim returns the claim of t's attempt; nil if none has begun.
func (as Attempts) Claim(ctx context.Context, t *bus.Trigger) (*bus.Claim, error) {
	m, err := as.conn.Last(ctx, "KV_"+bus.BucketClaim, bus.SubjectClaim(t))
	if errors.Is(err, jet.ErrNoMessage) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if len(m.Data) == 0 {
		return nil, nil // the mark of one whose time was over
	}
	return bus.DecodeClaim(m.Subject, m.Data)
}

// Deaths returns the recorded deaths of executors with t's attempt, and their revision for
// [Attempts.PutDeaths]. They are empty if there are none.
func (as Attempts) Deaths(ctx context.Context, t *bus.Trigger) (*bus.Deaths, uint64, error) {
	m, err := as.conn.Last(ctx, "KV_"+bus.BucketClaim, bus.SubjectDeaths(t))
	if errors.Is(err, jet.ErrNoMessage) {
		return &bus.Deaths{}, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	if len(m.Data) == 0 {
		return &bus.Deaths{}, m.Seq, nil // the mark of one whose time was over
	}
	d, err := bus.DecodeDeaths(m.Subject, m.Data)
	return d, m.Seq, err
}

// PutDeaths replaces what is kept at a revision, and returns the new revision. If another server
// was faster, the error is job.ErrConflict.
func (as Attempts) PutDeaths(ctx context.Context, t *bus.Trigger, d *bus.Deaths, revision uint64) (uint64, error) {
	m, err := d.Msg(t, revision)
	if err != nil {
		return 0, err
	}
	ack, err := as.conn.JS.PublishMsg(ctx, m)
	switch {
	case jet.WrongLast(err):
		return 0, fmt.Errorf("%w: another server has noted who died with run %s", job.ErrConflict, t.RunID)
	case err != nil:
		return 0, fmt.Errorf("note who died with run %s: %w", t.RunID, jet.Unavailable(err))
	}
	return ack.Sequence, nil
}
