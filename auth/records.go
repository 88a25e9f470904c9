package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/cluster"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// The kinds of record, each the first part of its keys.
const (
	kindUser       = "user."
	kindToken      = "token."
	kindInvitation = "invitation."
	kindCredential = "credential." //nolint:gosec // a kind, no credential
	kindSession    = "session."
	kindFailed     = "failed."
)

// bucketOf says where records of a kind are.
func bucketOf(kind string) string {
	if kind == kindSession || kind == kindFailed {
		return bus.BucketSession
	}
	return bus.BucketAccess
}

// lifeOf returns how long a record of a kind is kept unless it is written again, zero
// for ever.
func lifeOf(kind string) time.Duration {
	switch kind {
	case kindSession:
		return sessionIdle
	case kindFailed:
		return failWindow
	}
	return 0
}

// read returns a record and its revision. The error is job.ErrNotFound when there is
// none.
func read[T any](ctx context.Context, conn *cluster.Conn, kind, key string) (value T, revision uint64, err error) {
	entry, err := conn.Entry(ctx, bucketOf(kind), kind+key)
	switch {
	case errors.Is(err, jetstream.ErrKeyNotFound):
		return value, 0, fmt.Errorf("%w: %s", job.ErrNotFound, named(kind, key))
	case err != nil:
		return value, 0, fmt.Errorf("read %s: %w", named(kind, key), err)
	}
	if err := json.Unmarshal(entry.Value(), &value); err != nil {
		return value, 0, fmt.Errorf("decode %s: %w", named(kind, key), err)
	}
	return value, entry.Revision(), nil
}

// write stores a record in the place of the given revision, 0 for none. The error is
// job.ErrConflict when there is another.
func write(ctx context.Context, conn *cluster.Conn, kind, key string, value any, revision uint64) (uint64, error) {
	kv, err := open(ctx, conn, kind)
	if err != nil {
		return 0, err
	}
	data, err := json.Marshal(value)
	if err != nil {
		return 0, fmt.Errorf("encode %s: %w", named(kind, key), err)
	}
	var next uint64
	switch life := lifeOf(kind); {
	case revision == 0 && life == 0:
		next, err = kv.Create(ctx, kind+key, data)
	case revision == 0:
		next, err = kv.Create(ctx, kind+key, data, jetstream.KeyTTL(life))
	case life == 0:
		next, err = kv.Update(ctx, kind+key, data, revision)
	default:
		next, err = renew(ctx, conn, kind, key, data, revision)
	}
	switch {
	case err == nil:
		return next, nil
	case jet.LostRace(err) && revision == 0:
		return 0, fmt.Errorf("%w: %s", job.ErrConflict, reason.ExistsAlready.With(named(kind, key)))
	case jet.LostRace(err):
		return 0, fmt.Errorf("%w: %s", job.ErrConflict, reason.ChangedJustNow.With(named(kind, key)))
	}
	return 0, fmt.Errorf("write %s: %w", named(kind, key), jet.Unavailable(err))
}

// renew is Update of the KV client, which would drop the TTL.
func renew(ctx context.Context, conn *cluster.Conn, kind, key string, data []byte, revision uint64) (uint64, error) {
	m := nats.NewMsg("$KV." + bucketOf(kind) + "." + kind + key)
	m.Data = data
	m.Header.Set("Nats-TTL", lifeOf(kind).String())
	m.Header.Set("Nats-Expected-Last-Subject-Sequence", strconv.FormatUint(revision, 10))
	ack, err := conn.JS.PublishMsg(ctx, m)
	if err != nil {
		return 0, err
	}
	return ack.Sequence, nil
}

// remove deletes a record, if it is at the given revision; 0 is any.
func remove(ctx context.Context, conn *cluster.Conn, kind, key string, revision uint64) error {
	kv, err := open(ctx, conn, kind)
	if err != nil {
		return err
	}
	var opts []jetstream.KVDeleteOpt
	if revision != 0 {
		opts = append(opts, jetstream.LastRevision(revision))
	}
	if lifeOf(kind) == 0 {
		err = kv.Delete(ctx, kind+key, opts...)
	} else { // what says that it is gone must outlive it (ADR 45)
		err = kv.Purge(ctx, kind+key, append(opts, jetstream.PurgeTTL(lifeOf(kind)))...)
	}
	switch {
	case err == nil:
		return nil
	case jet.LostRace(err):
		return fmt.Errorf("%w: %s", job.ErrConflict, reason.ChangedJustNow.With(named(kind, key)))
	}
	return fmt.Errorf("delete %s: %w", named(kind, key), jet.Unavailable(err))
}

func open(ctx context.Context, conn *cluster.Conn, kind string) (jetstream.KeyValue, error) {
	return conn.Bucket(ctx, bucketOf(kind))
}

// named says which record an error is about. Digests say nothing to people.
func named(kind, key string) string {
	switch kind {
	case kindUser:
		return "user " + userOfKey(key)
	case kindToken:
		return "token " + key
	case kindInvitation:
		return "the invitation"
	case kindCredential:
		return "credential " + key
	case kindSession:
		return "the session"
	}
	return "the count of failed sign-ins"
}
