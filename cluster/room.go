package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/job"
)

// NoRoomError says that NATS answers, and refuses what is to be stored.
type NoRoomError struct {
	// Disk says that it is the disk of a NATS server, or what that may use of it. Otherwise
	// it is the limit of a stream.
	Disk   bool
	Reason string // for people
}

func (e *NoRoomError) Error() string { return e.Reason }

// Unwrap lets callers see [job.ErrUnavailable].
func (e *NoRoomError) Unwrap() error { return job.ErrUnavailable }

// SilentError says that NATS answers, but some streams do not.
type SilentError struct {
	Streams []string
	// Partial is whether all streams of another partition answer, so that its jobs go on.
	Partial bool
}

func (e *SilentError) Error() string {
	if len(e.Streams) == 1 {
		return "stream " + e.Streams[0] + " does not answer"
	}
	return "streams " + strings.Join(e.Streams, ", ") + " do not answer"
}

// Unwrap lets callers see [job.ErrUnavailable].
func (e *SilentError) Unwrap() error { return job.ErrUnavailable }

// roomFor is for how long an answer of [Streams.CheckRoom] counts: anybody may ask for it. roomWait is how
// long it waits for the streams.
const (
	roomFor  = 5 * time.Second
	roomWait = time.Second
)

// room is the last answer of [Streams.CheckRoom].
type room struct {
	mu  sync.Mutex
	at  time.Time
	err error
}

// kindRoomCheck is written to see whether NATS stores.
var kindRoomCheck = figuresAt[time.Time]("room", "the time of the last check for room")

// CheckRoom returns a *NoRoomError when NATS refuses what is to be stored: a stream that
// drops nothing is full, or the disk is. Any other error means that this is not known: a
// *SilentError of some streams. The answer may be 5 s old.
func (ss Streams) CheckRoom(ctx context.Context) error {
	ss.conn.room.mu.Lock()
	defer ss.conn.room.mu.Unlock()
	if time.Since(ss.conn.room.at) < roomFor {
		return ss.conn.room.err
	}
	err := ss.checkRoom(ctx)
	if ctx.Err() == nil { // else the next one asks again
		ss.conn.room.at, ss.conn.room.err = time.Now(), err
	}
	return err
}

func (ss Streams) checkRoom(ctx context.Context) error {
	now := time.Now().UTC()
	err := writeThe(ctx, ss.conn, kindRoomCheck, &now)
	if reason := diskFull(err); reason != "" {
		return &NoRoomError{Disk: true, Reason: reason}
	}
	if err != nil {
		return err
	}
	names := append(ss.conn.Trigs(), ss.conn.Evts()...)
	infos, errs := make([]*jetstream.StreamInfo, len(names)), make([]error, len(names))
	ctx, cancel := context.WithTimeout(ctx, roomWait)
	defer cancel()
	var asking sync.WaitGroup
	for i, name := range names {
		asking.Go(func() { infos[i], errs[i] = ss.conn.Info(ctx, name) })
	}
	asking.Wait()
	silent := &SilentError{}
	for i, name := range names {
		if errors.Is(errs[i], job.ErrUnavailable) {
			silent.Streams, errs[i] = append(silent.Streams, name), nil
		}
		if infos[i] == nil {
			continue
		}
		if state := streamState(infos[i]); state.Full() {
			return &NoRoomError{Reason: fmt.Sprintf(
				"stream %s is full and refuses messages: it has %d of %d bytes; give it more (\"carillon get bus\"), or find out who fills it", name, state.Bytes, state.MaxBytes)}
		}
	}
	if len(silent.Streams) == 0 {
		return errors.Join(errs...)
	}
	for p := range ss.conn.Trigs() { // which are followed by as many of events
		silent.Partial = silent.Partial || infos[p] != nil && infos[p+len(ss.conn.Trigs())] != nil
	}
	return silent
}

// Codes of JetStream's errors that say that a server has no room.
const (
	codeInsufficientResources jetstream.ErrorCode = 10023
	codeStorageExceeded       jetstream.ErrorCode = 10047
	codeAccountExceeded       jetstream.ErrorCode = 10002
	codeStoreFailed           jetstream.ErrorCode = 10077
)

// diskFull returns what to do about an error by which a NATS server says that it has no room
// on its disk; "" if it says something else. A server whose disk was full goes on refusing,
// or switches JetStream off, until it is started again.
func diskFull(err error) string {
	const again = "; make room on it, and then restart nats-server, which does not recover by itself"
	api, ok := errors.AsType[*jetstream.APIError](err)
	if known, isKnown := errors.AsType[jetstream.JetStreamError](err); !ok && isKnown {
		api = known.APIError()
	}
	if api == nil {
		return ""
	}
	switch api.ErrorCode { //nolint:exhaustive // the others are about something else
	case codeStoreFailed:
		if !strings.Contains(api.Description, "no space left") {
			return ""
		}
		return "the disk of NATS is full (" + api.Description + ")" + again
	case codeInsufficientResources, codeStorageExceeded, codeAccountExceeded:
		return "NATS has used up what it may have of its disk (" + api.Description + "): raise max_file_store, or make room"
	case jetstream.JSErrCodeJetStreamNotEnabled, jetstream.JSErrCodeJetStreamNotEnabledForAccount:
		return "JetStream is switched off on the NATS server (" + api.Description + "), as it is when its disk was full" + again
	}
	return ""
}
