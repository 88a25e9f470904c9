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
	kindCredential = jet.Kind[Credential]{Bucket: bus.BucketAccess, Prefix: "credential.", Name: func(key string) string { return "credential " + key }}
	kindInvitation = jet.Kind[Invitation]{Bucket: bus.BucketAccess, Prefix: "invitation.", Name: func(string) string { return "the invitation" }}
	kindLinks      = jet.Kind[administratorLinks]{Bucket: bus.BucketAccess, Prefix: "invitation.", Name: kindInvitation.Name} // at administratorKey
	kindSession    = jet.Kind[Session]{Bucket: bus.BucketSession, Prefix: "session.", TTL: sessionIdle, Name: func(string) string { return "the session" }}
	kindFailures   = jet.Kind[failures]{Bucket: bus.BucketSession, Prefix: "failed.", TTL: failWindow, Name: func(string) string { return "the count of failed sign-ins" }}
)

// records are those of all kinds.
type records struct {
	users       jet.Records[User]
	tokens      jet.Records[Token]
	credentials jet.Records[Credential]
	invitations jet.Records[Invitation]
	links       jet.Records[administratorLinks]
	sessions    jet.Records[Session]
	failures    jet.Records[failures]
}

func recordsOn(conn *jet.Conn) records {
	return records{
		kindUser.On(conn), kindToken.On(conn), kindCredential.On(conn), kindInvitation.On(conn), kindLinks.On(conn),
		kindSession.On(conn), kindFailures.On(conn),
	}
}

// loaded waits until a mirror is loaded.
func loaded[T any](ctx context.Context, m *jet.Mirror[T]) error {
	select {
	case <-m.Loaded():
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: users are not loaded yet", job.ErrUnavailable)
	}
}

// isLoaded reports whether loaded would return at once.
func isLoaded[T any](m *jet.Mirror[T]) bool {
	select {
	case <-m.Loaded():
		return true
	default:
		return false
	}
}
