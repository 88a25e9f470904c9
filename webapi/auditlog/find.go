package auditlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/audit"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/job/trail"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

// maxTail is how many entries of the audit log are read from the stream besides those of
// the log store. Where more wait, because the store was away for long, all is read from
// the stream.
const maxTail = 2000

// tailTimeout is the part of a request's time that the bus gets: there is an answer without it.
const tailTimeout = 2 * time.Second

// Found is a page of the audit log, the newest first.
type Found struct {
	Entries []trail.Entry
	Next    string // where the next page begins; empty behind the last
	// What was changed before since, and from AsOf on, may be missing: where the log store is
	// away, or the bus. Zero is nothing.
	Since, AsOf time.Time
}

// Find returns a page of the audit log. It comes from the log store, and from the
// stream as far as the store does not have it yet; from the stream alone while the store is
// away or far behind, and from the store alone while the bus is away.
func (r *Recorder) Find(ctx context.Context, f audit.Filter, cursor string, limit int) (Found, error) {
	var at *logstore.FactCursor
	var before uint64 // where a page of the stream ended
	var err error
	switch {
	case cursor == "":
	case strings.Contains(cursor, "."):
		c, err := logstore.ParseFactCursor(cursor)
		if err != nil {
			return Found{}, err
		}
		at = &c
	default:
		if before, err = strconv.ParseUint(cursor, 10, 64); err != nil || before == 0 {
			return Found{}, &job.InvalidError{Field: "cursor", Reason: refusal.CursorOfPage.String()}
		}
	}
	if before == 0 {
		found, err := r.ofStore(ctx, f, at, limit)
		if err == nil || ctx.Err() != nil {
			return found, err
		}
		if !errors.Is(err, errFarBehind) {
			r.log.DebugContext(ctx, "log store does not answer", "error", err)
		}
	}
	page, next, err := r.audit.Find(ctx, f, before, limit)
	if err != nil {
		return Found{}, err
	}
	since, err := r.conn.Ingest().AuditSince(ctx)
	if err != nil {
		return Found{}, err
	}
	if at != nil {
		page = slices.DeleteFunc(page, func(e trail.Entry) bool { return !at.After(e.At, e.ID) })
	}
	found := Found{Entries: page, Since: since}
	if next != 0 {
		found.Next = strconv.FormatUint(next, 10)
	}
	return found, nil
}

// Get returns the entry with an id, which the caller need not be allowed to see. The error is
// job.ErrNotFound if there is none.
func (r *Recorder) Get(ctx context.Context, id string) (*trail.Entry, error) {
	none := fmt.Errorf("%w: %s", job.ErrNotFound, refusal.NoSuchChange)
	at, ok := audit.TimeOf(id)
	if !ok {
		return nil, none
	}
	f := audit.Filter{From: at, To: at.Add(time.Millisecond)}
	for cursor := ""; ; {
		found, err := r.Find(access.Unlimited(ctx), f, cursor, maxTail)
		if err != nil {
			return nil, err
		}
		for i := range found.Entries {
			if found.Entries[i].ID == id {
				return &found.Entries[i], nil
			}
		}
		if cursor = found.Next; cursor == "" {
			return nil, none
		}
	}
}

var errFarBehind = errors.New("the log store is far behind")

// ofStore returns the page after a cursor from the log store, with what it does not
// have yet.
func (r *Recorder) ofStore(ctx context.Context, f audit.Filter, after *logstore.FactCursor, limit int) (found Found, err error) {
	filter := logstore.FactFilter{
		Kind: logstore.FactAudit, Who: f.User, What: f.Operation, Object: f.Object, Job: f.Job, Group: f.Group, State: string(f.Result), From: f.From, To: f.To, Limit: limit,
	}
	if after != nil {
		filter.Cursor = after.String()
	}
	tail, err := r.tail(ctx, f)
	if errors.Is(err, job.ErrUnavailable) {
		r.log.DebugContext(ctx, "audit log read from the log store alone", "error", err)
		found.AsOf, err = r.storedTo(ctx)
	}
	if err != nil {
		return found, err
	}
	stored, err := r.store.Facts(ctx, filter)
	if err != nil {
		return found, problem.StoreAway(err)
	}
	kept := make([]trail.Entry, len(stored.Facts))
	for i := range stored.Facts {
		if err := json.Unmarshal(stored.Facts[i].Doc, &kept[i]); err != nil {
			return found, fmt.Errorf("decode audit entry %s: %w", stored.Facts[i].ID, err)
		}
	}
	place := func(e *trail.Entry) logstore.FactCursor { return logstore.FactCursor{At: e.At, ID: e.ID} }
	found.Entries, found.Next = JoinPages(tail, kept, stored.Next != "", after, limit, place)
	return found, nil
}

// storedTo returns when the newest change was made that the log store has: entries
// come to it in the order of the stream.
func (r *Recorder) storedTo(ctx context.Context) (time.Time, error) {
	newest, err := r.store.Facts(ctx, logstore.FactFilter{Kind: logstore.FactAudit, Limit: 1})
	if err != nil || len(newest.Facts) == 0 {
		return time.Time{}, problem.StoreAway(err)
	}
	return newest.Facts[0].At, nil
}

// tail returns the entries that match and that the log store may not have yet. The
// error is job.ErrUnavailable while the bus is away.
func (r *Recorder) tail(ctx context.Context, f audit.Filter) ([]trail.Entry, error) {
	ctx, cancel := context.WithTimeout(ctx, tailTimeout)
	defer cancel()
	upTo, waiting, err := r.conn.Ingest().AuditMoved(ctx)
	if err == nil && waiting > maxTail || errors.Is(err, jetstream.ErrConsumerNotFound) {
		return nil, errFarBehind
	}
	if err != nil || waiting == 0 {
		return nil, err
	}
	return r.audit.Since(ctx, f, upTo)
}
