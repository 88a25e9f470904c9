package auth

import (
	"context"
	"fmt"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
)

// The kinds of record. Digests mean nothing to people, so the names of records without an id have none.
var (
	kindUser       = jet.Kind[User]{Bucket: bus.BucketAccess, Prefix: "user.", Name: func(key string) string { return "user " + userOfKey(key) }}
	kindToken      = jet.Kind[Token]{Bucket: bus.BucketAccess, Prefix: "token.", Name: func(key string) string { return "token " + key }}
	kindPingToken  = jet.Kind[PingToken]{Bucket: bus.BucketAccess, Prefix: "ping.", Name: func(key string) string { return "ping token " + key }}
	kindCredential = jet.Kind[Credential]{Bucket: bus.BucketAccess, Prefix: "credential.", Name: func(key string) string { return "credential " + key }}
	kindInvitation = jet.Kind[Invitation]{Bucket: bus.BucketAccess, Prefix: "invitation.", Name: func(string) string { return "the invitation" }}
	kindLinks      = jet.Kind[administratorLinks]{Bucket: bus.BucketAccess, Prefix: "invitation.", Name: kindInvitation.Name} // at administratorKey
	kindSession    = jet.Kind[Session]{Bucket: bus.BucketSession, Prefix: "session.", TTL: sessionIdle, Name: func(string) string { return "the session" }}
	kindFailures   = jet.Kind[failures]{Bucket: bus.BucketSession, Prefix: "failed.", TTL: failWindow, Name: func(string) string { return "the count of failed sign-ins" }}
)

// table is the records of one kind, which are in memory, too.
type table[T any] struct {
	records jet.Records[T]
	*jet.Mirror[T]
}

// tableOf returns an empty table. heard, unless it is nil, is called with each change, nil for a deletion.
func tableOf[T any](kind *jet.Kind[T], conn *jet.Conn, heard func(*T)) table[T] {
	return table[T]{kind.On(conn), kind.Mirror(heard)}
}

// write is [jet.Records.Write]. Reads that begin after it find the record.
func (t table[T]) write(ctx context.Context, key string, value T, revision uint64) (next uint64, err error) {
	if next, err = t.records.Write(ctx, key, value, revision); err == nil {
		t.Put(key, value, next)
	}
	return next, err
}

// remove is [jet.Records.Remove]. Reads that begin after it find no record.
func (t table[T]) remove(ctx context.Context, key string, revision uint64) error {
	if err := t.records.Remove(ctx, key, revision); err != nil {
		return err
	}
	t.Delete(key)
	return nil
}

// wait returns when the table is loaded, or job.ErrUnavailable when ctx is done first.
func (t table[T]) wait(ctx context.Context) error {
	select {
	case <-t.Loaded():
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: users are not loaded yet", job.ErrUnavailable)
	}
}

// loaded reports whether wait would return at once.
func (t table[T]) loaded() bool {
	select {
	case <-t.Loaded():
		return true
	default:
		return false
	}
}
