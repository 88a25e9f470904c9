package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
)

// RetentionEntry is how long history is kept, as the bucket CLUSTER holds it. Without
// Revision nobody has said so yet.
type RetentionEntry struct {
	job.Retention
	Author    string    `json:"author,omitempty"`
	Note      string    `json:"note,omitempty"`
	ChangedAt time.Time `json:"changed_at"`
	Revision  uint64    `json:"-"`
}

const keyRetention = "retention"

// Retention is how long history is kept, now and before.
type Retention struct{ conn *Conn }

// Retention returns how long history is kept.
func (c *Conn) Retention() Retention { return Retention{c} }

// Put says how long history is kept from now on. Errors: an *InvalidError,
// job.ErrConflict when e's condition does not hold, job.ErrUnavailable.
func (rs Retention) Put(ctx context.Context, r job.Retention, e Edit) (*RetentionEntry, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	kv, err := rs.conn.Bucket(ctx, bus.BucketCluster)
	if err != nil {
		return nil, err
	}
	next := &RetentionEntry{Retention: r, Author: e.Author, Note: e.Note, ChangedAt: e.At.UTC().Truncate(time.Millisecond)}
	data, err := json.Marshal(next)
	if err != nil {
		return nil, fmt.Errorf("encode retention: %w", err)
	}
	switch {
	case e.IfAbsent:
		next.Revision, err = kv.Create(ctx, keyRetention, data)
	case e.IfRevision != 0:
		next.Revision, err = kv.Update(ctx, keyRetention, data, e.IfRevision)
	default:
		next.Revision, err = kv.Put(ctx, keyRetention, data)
	}
	switch {
	case jet.LostRace(err):
		return nil, fmt.Errorf("%w: the retention was changed by somebody else", job.ErrConflict)
	case err != nil:
		return nil, fmt.Errorf("write retention: %w", jet.Unavailable(err))
	}
	return next, nil
}

// Get returns what [Retention.Put] has said, or otherwise if it never did.
func (rs Retention) Get(ctx context.Context, otherwise job.Retention) (*RetentionEntry, error) {
	stored, err := rs.conn.Entry(ctx, bus.BucketCluster, keyRetention)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return &RetentionEntry{Retention: otherwise}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read retention: %w", err)
	}
	return decodeRetention(stored.Value(), stored.Revision())
}

// Retentions is how long history has been kept, one after the other; the last one holds.
type Retentions []RetentionEntry

// Since returns from which fire time on all of a job's history is there at an instant:
// what is older may be gone, by the rule that holds or by one that kept it for less.
func (r Retentions) Since(name job.Name, now time.Time) time.Time {
	var since time.Time
	for i := range r {
		until := now
		if i+1 < len(r) {
			until = r[i+1].ChangedAt
		}
		if from := until.Add(-time.Duration(r[i].Of(name).Runs)); from.After(since) {
			since = from
		}
	}
	return since
}

// History returns otherwise, which held before anybody had said anything, and what
// [Retention.Put] has said since, as far back as that is kept. The error is
// job.ErrUnavailable.
func (rs Retention) History(ctx context.Context, otherwise job.Retention) (Retentions, error) {
	kv, err := rs.conn.Bucket(ctx, bus.BucketCluster)
	if err != nil {
		return nil, err
	}
	all := Retentions{{Retention: otherwise}}
	entries, err := kv.History(ctx, keyRetention)
	if err != nil && !errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, fmt.Errorf("read retentions: %w", jet.Unavailable(err))
	}
	for _, stored := range entries {
		if e, err := decodeRetention(stored.Value(), stored.Revision()); err == nil { // else nothing was deleted by it
			all = append(all, *e)
		}
	}
	return all, nil
}

// Follow calls f with what was said last, and with each change, until ctx is
// done; or with why it cannot be read. The error is job.ErrUnavailable when it cannot
// begin.
func (rs Retention) Follow(ctx context.Context, f func(*RetentionEntry, error)) error {
	w, err := rs.conn.Watch(ctx, bus.BucketCluster, []string{keyRetention}, false, 0)
	if err != nil {
		return err
	}
	defer func() { _ = w.Stop() }()
	for e := range w.Updates() {
		if e != nil { // nil is that all there was has come
			f(decodeRetention(e.Value(), e.Revision()))
		}
	}
	return nil
}

func decodeRetention(data []byte, revision uint64) (*RetentionEntry, error) {
	e := &RetentionEntry{Revision: revision}
	err := json.Unmarshal(data, e)
	if err == nil {
		err = e.Validate()
	}
	if err != nil {
		return nil, &job.InvalidError{Field: "retention", Reason: fmt.Sprintf("is damaged: %v", err)}
	}
	return e, nil
}
