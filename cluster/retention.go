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

var kindRetention = jet.Kind[RetentionEntry]{
	Bucket: bus.BucketCluster, Prefix: keyRetention, Name: func(string) string { return "the retention" },
	Decode: func(_ string, data []byte) (RetentionEntry, error) { return decodeRetention(data) },
}

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
	next := &RetentionEntry{Retention: r, Author: e.Author, Note: e.Note, ChangedAt: e.At.UTC().Truncate(time.Millisecond)}
	revision, err := kindRetention.On(rs.conn.Conn).Edit(ctx, "", func(v *RetentionEntry, revision uint64) (bool, error) {
		*v = *next
		return true, e.Check(kindRetention.Name(""), revision != 0, revision)
	})
	if err != nil {
		return nil, err
	}
	next.Revision = revision
	return next, nil
}

// Get returns what [Retention.Put] has said, or otherwise if it never did.
func (rs Retention) Get(ctx context.Context, otherwise job.Retention) (*RetentionEntry, error) {
	v, revision, err := kindRetention.On(rs.conn.Conn).Read(ctx, "")
	switch {
	case errors.Is(err, job.ErrNotFound):
		return &RetentionEntry{Retention: otherwise}, nil
	case err != nil:
		return nil, err
	}
	v.Revision = revision
	return &v, nil
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
		if e, err := decodeRetention(stored.Value()); err == nil { // else nothing was deleted by it
			e.Revision = stored.Revision()
			all = append(all, e)
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
			v, err := decodeRetention(e.Value())
			v.Revision = e.Revision()
			f(&v, err)
		}
	}
	return nil
}

func decodeRetention(data []byte) (e RetentionEntry, err error) {
	if err = json.Unmarshal(data, &e); err == nil {
		err = e.Validate()
	}
	if err != nil {
		return RetentionEntry{}, &job.InvalidError{Field: "retention", Reason: fmt.Sprintf("is damaged: %v", err)}
	}
	return e, nil
}
