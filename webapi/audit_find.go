package webapi

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

	"carillon/audit"
	"carillon/job"
	"carillon/job/trail"
	"carillon/logstore"
	"carillon/webapi/problem"
)

// maxTail is how many entries of the audit log are read from the stream besides those of
// the log store. Where more wait, because the store was away for long, all is read from
// the stream.
const maxTail = 2000

// tailTimeout is the part of a request's time that the bus gets: there is an answer without it.
const tailTimeout = 2 * time.Second

// auditFound is a page of the audit log, the newest first.
type auditFound struct {
	entries []trail.Entry
	next    string // where the next page begins; empty behind the last
	// What was changed before since, and from asOf on, may be missing: where the log store is
	// away, or the bus. Zero is nothing.
	since, asOf time.Time
}

// findAudit returns a page of the audit log. It comes from the log store, and from the
// stream as far as the store does not have it yet; from the stream alone while the store is
// away or far behind, and from the store alone while the bus is away.
func (h *handlers) findAudit(ctx context.Context, f audit.Filter, cursor string, limit int) (auditFound, error) {
	var at *logstore.FactCursor
	var before uint64 // where a page of the stream ended
	var err error
	switch {
	case cursor == "":
	case strings.Contains(cursor, "."):
		c, err := logstore.ParseFactCursor(cursor)
		if err != nil {
			return auditFound{}, err
		}
		at = &c
	default:
		if before, err = strconv.ParseUint(cursor, 10, 64); err != nil || before == 0 {
			return auditFound{}, problem.Invalid("cursor", "must be the text that came as next with the page before")
		}
	}
	if before == 0 {
		found, err := h.auditOfStore(ctx, f, at, limit)
		if err == nil || ctx.Err() != nil {
			return found, err
		}
		if !errors.Is(err, errFarBehind) {
			h.log.DebugContext(ctx, "log store does not answer", "error", err)
		}
	}
	page, next, err := h.audit.Find(ctx, f, before, limit)
	if err != nil {
		return auditFound{}, err
	}
	since, err := h.conn.AuditSince(ctx)
	if err != nil {
		return auditFound{}, err
	}
	if at != nil {
		page = slices.DeleteFunc(page, func(e trail.Entry) bool { return !at.After(e.At, e.ID) })
	}
	found := auditFound{entries: page, since: since}
	if next != 0 {
		found.next = strconv.FormatUint(next, 10)
	}
	return found, nil
}

var errFarBehind = errors.New("the log store is far behind")

// auditOfStore returns the page after a cursor from the log store, with what it does not
// have yet.
func (h *handlers) auditOfStore(ctx context.Context, f audit.Filter, after *logstore.FactCursor, limit int) (found auditFound, err error) {
	filter := logstore.FactFilter{
		Kind: logstore.FactAudit, Who: f.User, What: f.Operation, Object: f.Object, Group: f.Group, State: string(f.Result), From: f.From, To: f.To, Limit: limit,
	}
	if after != nil {
		filter.Cursor = after.String()
	}
	tail, err := h.auditTail(ctx, f)
	if errors.Is(err, job.ErrUnavailable) {
		h.log.DebugContext(ctx, "audit log read from the log store alone", "error", err)
		found.asOf, err = h.auditStoredTo(ctx)
	}
	if err != nil {
		return found, err
	}
	stored, err := h.store.Facts(ctx, filter)
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
	found.entries, found.next = joinPages(tail, kept, stored.Next != "", after, limit, place)
	return found, nil
}

// auditStoredTo returns when the newest change was made that the log store has: entries
// come to it in the order of the stream.
func (h *handlers) auditStoredTo(ctx context.Context) (time.Time, error) {
	newest, err := h.store.Facts(ctx, logstore.FactFilter{Kind: logstore.FactAudit, Limit: 1})
	if err != nil || len(newest.Facts) == 0 {
		return time.Time{}, problem.StoreAway(err)
	}
	return newest.Facts[0].At, nil
}

// auditTail returns the entries that match and that the log store may not have yet. The
// error is job.ErrUnavailable while the bus is away.
func (h *handlers) auditTail(ctx context.Context, f audit.Filter) ([]trail.Entry, error) {
	ctx, cancel := context.WithTimeout(ctx, tailTimeout)
	defer cancel()
	upTo, waiting, err := h.conn.AuditMoved(ctx)
	if err == nil && waiting > maxTail || errors.Is(err, jetstream.ErrConsumerNotFound) {
		return nil, errFarBehind
	}
	if err != nil || waiting == 0 {
		return nil, err
	}
	return h.audit.Since(ctx, f, upTo)
}

// joinPages returns a page of at most limit things after a cursor, the newest first: of
// what is known now, and of a page of what is kept, whose version gives way. more says
// that the page is not the last.
func joinPages[T any](now, kept []T, more bool, after *logstore.FactCursor, limit int, place func(*T) logstore.FactCursor) (page []T, next string) {
	seen := map[string]bool{}
	for i := range now {
		at := place(&now[i])
		seen[at.ID] = true
		if after == nil || after.After(at.At, at.ID) {
			page = append(page, now[i])
		}
	}
	var last *logstore.FactCursor // what is kept is known as far as here
	for i := range kept {
		at := place(&kept[i])
		if last = &at; !seen[at.ID] {
			page = append(page, kept[i])
		}
	}
	slices.SortFunc(page, func(a, b T) int {
		x, y := place(&a), place(&b)
		switch {
		case x.After(y.At, y.ID):
			return -1
		case y.After(x.At, x.ID):
			return 1
		}
		return 0
	})
	if more && last != nil { // what comes after it may have others in between
		page = slices.DeleteFunc(page, func(t T) bool { at := place(&t); return last.After(at.At, at.ID) })
	}
	if len(page) > limit {
		page, more = page[:limit], true
	}
	if !more {
		return page, ""
	}
	if len(page) == limit || last == nil {
		return page, place(&page[len(page)-1]).String()
	}
	return page, last.String() // some of what is kept has given way
}
