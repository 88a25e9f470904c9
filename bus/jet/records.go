package jet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// Kind describes a kind of record: documents in a bucket, at keys that share a prefix.
type Kind[T any] struct {
	// Bucket has the records.
	Bucket string
	// Prefix begins the keys of the records. Methods take and return keys without it.
	Prefix string
	// TTL is how long a record is kept after it was written last. Defaults to for ever.
	TTL time.Duration
	// Name returns what errors call the record at a key, such as "user ann".
	Name func(key string) string
	// Decode reads a record. Defaults to JSON.
	Decode func(key string, data []byte) (T, error)
}

// Record is a stored record.
type Record[T any] struct {
	Key      string
	Value    T
	Revision uint64
}

// Records reads and writes the records of one kind. It is safe for concurrent use.
//
// What replaces a record, or marks it as deleted, is kept for no shorter than the record: after a
// crash, NATS would otherwise bring the record back.
//
// Every method returns job.ErrUnavailable while JetStream does not answer.
type Records[T any] struct {
	conn *Conn
	kind *Kind[T]
}

// On returns the records of a kind that conn reads and writes.
func (k *Kind[T]) On(conn *Conn) Records[T] { return Records[T]{conn, k} }

func (k *Kind[T]) decode(key string, data []byte) (value T, err error) {
	if k.Decode != nil {
		return k.Decode(key, data)
	}
	if err := json.Unmarshal(data, &value); err != nil {
		return value, fmt.Errorf("decode %s: %w", k.Name(key), err)
	}
	return value, nil
}

// Name returns what errors call the record at a key.
func (r Records[T]) Name(key string) string { return r.kind.Name(key) }

// Read returns a record and its revision, as the leader of the bucket knows it. The error is
// job.ErrNotFound if there is none.
func (r Records[T]) Read(ctx context.Context, key string) (value T, revision uint64, err error) {
	entry, err := r.entry(ctx, key)
	if err != nil {
		return value, 0, err
	}
	if value, err = r.kind.decode(key, entry.Value()); err != nil {
		return value, 0, err
	}
	return value, entry.Revision(), nil
}

// Revision is Read of the revision alone. The record may be one that cannot be decoded.
func (r Records[T]) Revision(ctx context.Context, key string) (uint64, error) {
	entry, err := r.entry(ctx, key)
	if err != nil {
		return 0, err
	}
	return entry.Revision(), nil
}

func (r Records[T]) entry(ctx context.Context, key string) (jetstream.KeyValueEntry, error) {
	entry, err := r.conn.Entry(ctx, r.kind.Bucket, r.kind.Prefix+key)
	switch {
	case errors.Is(err, jetstream.ErrKeyNotFound):
		return nil, fmt.Errorf("%w: %s", job.ErrNotFound, r.kind.Name(key))
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", r.kind.Name(key), err)
	}
	return entry, nil
}

// List returns all records that can be decoded, in order of key.
func (r Records[T]) List(ctx context.Context) ([]Record[T], error) { return r.Match(ctx, ">") }

// Match is List for the keys that match a filter.
func (r Records[T]) Match(ctx context.Context, filter string) (list []Record[T], err error) {
	found := map[string]Record[T]{} // a key that is written meanwhile comes again
	err = r.conn.Entries(ctx, r.kind.Bucket, r.kind.Prefix+filter, false, func(e jetstream.KeyValueEntry) error {
		key := e.Key()[len(r.kind.Prefix):]
		delete(found, key)
		if e.Operation() != jetstream.KeyValuePut {
			return nil
		}
		if value, err := r.kind.decode(key, e.Value()); err == nil {
			found[key] = Record[T]{key, value, e.Revision()}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, key := range slices.Sorted(maps.Keys(found)) {
		list = append(list, found[key])
	}
	return list, nil
}

// Write stores a record in the place of the one at a revision, 0 for none, and returns its revision.
// The error is job.ErrConflict if there is another. It is stored then, not merely in flight.
func (r Records[T]) Write(ctx context.Context, key string, value T, revision uint64) (next uint64, err error) {
	data, err := json.Marshal(value)
	if err != nil {
		return 0, fmt.Errorf("encode %s: %w", r.kind.Name(key), err)
	}
	kv, err := r.conn.Bucket(ctx, r.kind.Bucket)
	if err != nil {
		return 0, err
	}
	err = AfterOthers(ctx, func(ctx context.Context) (err error) {
		if revision != 0 {
			next, err = r.publish(ctx, key, data, &revision)
			return err
		}
		var options []jetstream.KVCreateOpt
		if r.kind.TTL > 0 {
			options = append(options, jetstream.KeyTTL(r.kind.TTL))
		}
		next, err = kv.Create(ctx, r.kind.Prefix+key, data, options...)
		return err
	})
	return next, r.written("write", key, err, revision == 0)
}

// Put stores a record whatever there was, and returns its revision.
func (r Records[T]) Put(ctx context.Context, key string, value T) (revision uint64, err error) {
	data, err := json.Marshal(value)
	if err != nil {
		return 0, fmt.Errorf("encode %s: %w", r.kind.Name(key), err)
	}
	revision, err = r.publish(ctx, key, data, nil)
	return revision, r.written("write", key, err, false)
}

// Edit stores what change makes of a record, and returns its revision. change gets the record and its
// revision, or the zero value and 0 if there is none. It returns false to keep the record as it is.
// If somebody else is faster, Edit calls it again. An error of change ends Edit.
func (r Records[T]) Edit(ctx context.Context, key string, change func(value *T, revision uint64) (write bool, err error)) (revision uint64, err error) {
	for {
		value, revision, err := r.Read(ctx, key)
		if err != nil && !errors.Is(err, job.ErrNotFound) {
			return 0, err
		}
		if write, err := change(&value, revision); err != nil || !write {
			return revision, err
		}
		revision, err = r.Write(ctx, key, value, revision)
		if !errors.Is(err, job.ErrConflict) {
			return revision, err
		}
	}
}

// Remove deletes a record, if it is at a revision; 0 is any. The error is job.ErrConflict if it is at
// another. That there is none is no error.
func (r Records[T]) Remove(ctx context.Context, key string, revision uint64) error {
	kv, err := r.conn.Bucket(ctx, r.kind.Bucket)
	if err != nil {
		return err
	}
	var options []jetstream.KVDeleteOpt
	if revision != 0 {
		options = append(options, jetstream.LastRevision(revision))
	}
	if r.kind.TTL > 0 {
		options = append(options, jetstream.PurgeTTL(r.kind.TTL))
	}
	return r.written("delete", key, kv.Purge(ctx, r.kind.Prefix+key, options...), false)
}

// publish stores a value at a key on the condition that the key is at a revision, nil for any. The KV
// client would drop the TTL.
func (r Records[T]) publish(ctx context.Context, key string, data []byte, revision *uint64) (uint64, error) {
	m := nats.NewMsg("$KV." + r.kind.Bucket + "." + r.kind.Prefix + key)
	m.Data = data
	if r.kind.TTL > 0 {
		m.Header.Set(jetstream.MsgTTLHeader, r.kind.TTL.String())
	}
	if revision != nil {
		m.Header.Set(jetstream.ExpectedLastSubjSeqHeader, strconv.FormatUint(*revision, 10))
	}
	ack, err := r.conn.JS.PublishMsg(ctx, m)
	if err != nil {
		return 0, err
	}
	return ack.Sequence, nil
}

// written returns the error of a method for that of a write.
func (r Records[T]) written(verb, key string, err error, created bool) error {
	switch name := r.kind.Name(key); {
	case err == nil:
		return nil
	case LostRace(err) && created:
		return fmt.Errorf("%w: %s", job.ErrConflict, reason.ExistsAlready.With(name))
	case LostRace(err):
		return fmt.Errorf("%w: %s", job.ErrConflict, reason.ChangedJustNow.With(name))
	default:
		return fmt.Errorf("%s %s: %w", verb, name, Unavailable(err))
	}
}
