package jet

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/job"
)

// errNotConnected says what nats.go means by the errors with which it refuses to send while
// a connection is interrupted, the last of them being "outbound buffer limit exceeded".
type errNotConnected struct{ err error }

func (errNotConnected) Error() string   { return "not connected to NATS" }
func (e errNotConnected) Unwrap() error { return e.err }

// Unavailable marks err as [job.ErrUnavailable] when it means that JetStream could
// not be reached in time.
func Unavailable(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, nats.ErrReconnectBufExceeded), errors.Is(err, nats.ErrDisconnected):
		return fmt.Errorf("%w: %w", job.ErrUnavailable, errNotConnected{err})
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, nats.ErrTimeout), errors.Is(err, nats.ErrNoResponders), errors.Is(err, nats.ErrNoServers),
		errors.Is(err, nats.ErrConnectionClosed),
		errors.Is(err, jetstream.ErrNoStreamResponse), errors.Is(err, jetstream.ErrJetStreamNotEnabled):
		return fmt.Errorf("%w: %w", job.ErrUnavailable, err)
	}
	if api, ok := errors.AsType[*jetstream.APIError](err); ok && api.Code == 503 {
		return fmt.Errorf("%w: %w", job.ErrUnavailable, err) // an election, or the server is starting
	}
	return err
}

// LostRace reports whether a conditional write was refused because somebody else has written the
// key, or is about to: see [InFlight]. It is for those who then read the key again, or have a person
// do so.
func LostRace(err error) bool {
	return errors.Is(err, jetstream.ErrKeyExists) || WrongLast(err) || InFlight(err)
}

// WrongLast reports whether a message was refused because the last one on its subject is not
// the one that was expected.
func WrongLast(err error) bool {
	api, ok := errors.AsType[*jetstream.APIError](err)
	return ok && api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence
}

// InFlight reports whether a conditional write was refused because at that instant replicas had yet
// to confirm another one on its subject, or one with the same condition. This one is surely not
// stored, and whether its condition holds is not known: see [AfterOthers].
func InFlight(err error) bool {
	api, ok := errors.AsType[*jetstream.APIError](err)
	return ok && api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant
}
