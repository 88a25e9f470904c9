package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"carillon/job"
	"carillon/logstore"
)

// change is a row of the table of changes. It holds what does not follow from the
// run's row: that a run was queued or held, that it was started (again, perhaps), how it
// came along, and ends that came too late.
type change struct {
	id       []byte
	attempt  int
	piece    logstore.Piece
	kind     logstore.Kind
	slot     int64
	at       int64
	status   int64
	instance string
	delivery int
	percent  float64
	detail   string
}

var insertChanges = newBulk("INSERT INTO changes (run_id, attempt, piece, kind, slot, at, status, instance, delivery, percent, detail)", 11, "ON CONFLICT DO NOTHING")

func (c *change) values(args []any) []any {
	return append(args, c.id, int64(c.attempt), int64(c.piece), kindCodes[c.kind], c.slot, c.at, c.status, c.instance, int64(c.delivery), c.percent, c.detail)
}

// change returns the change that r makes, if it is one to be stored.
func (r *row) change() (change, bool) {
	switch {
	case r.Kind == logstore.KindHeld, r.Kind == logstore.KindStarted && r.Instance != "", r.Kind == logstore.KindProgress, r.Kind == logstore.KindMarked:
		return changeOf(r, r.Kind), true
	case r.Kind == logstore.KindRecorded && r.Status == job.StatusQueued:
		return changeOf(r, r.Kind), true
	}
	return change{}, false
}

func changeOf(r *row, kind logstore.Kind) change {
	c := change{id: r.id, attempt: r.Attempt, piece: r.Piece, kind: kind, at: r.At.UnixMilli(), status: r.status, instance: r.Instance, delivery: r.Delivery}
	switch kind {
	case logstore.KindRecorded:
		c.slot, c.detail, c.instance, c.delivery = r.status, r.Reason, "", 0
	case logstore.KindHeld:
		c.slot, c.detail = int64(r.Delivery), r.Reason
	case logstore.KindStarted:
		c.slot, c.detail = int64(r.Delivery), r.Reason
		if !r.StartedAt.IsZero() {
			c.at = r.StartedAt.UnixMilli()
		}
	case logstore.KindProgress:
		c.slot, c.percent, c.detail = c.at/progressStep.Milliseconds(), r.Progress, r.ProgressText
	case logstore.KindLate:
		// Two ends of one instant differ in their status.
		c.at = cmp.Or(r.endedAt(), c.at)
		c.slot, c.detail = c.at<<5|r.status, r.Message
	case logstore.KindMarked:
		c.slot, c.instance, c.delivery, c.detail = c.at, r.By, int(markCodes[r.Mark]), r.Reason
	case logstore.KindFinished: // follows from the run
	}
	return c
}

// Changes implements [logstore.Store].
func (s *Store) Changes(ctx context.Context, id job.RunID, piece logstore.Piece) ([]logstore.Change, error) {
	if _, err := job.ParseRunID(string(id)); err != nil {
		return nil, err
	}
	var entries []entry
	var err error
	if piece == logstore.Whole {
		entries, err = s.whole(ctx, id)
	} else {
		entries, err = s.attempts(ctx, id, "SELECT "+pieceColumns+", '' FROM pieces WHERE run_id = ? AND piece = ?", packID(id), int(piece))
	}
	if err != nil {
		return nil, err
	}
	rows, err := s.reads.QueryContext(ctx,
		"SELECT attempt, kind, at, status, instance, delivery, percent, detail FROM changes WHERE run_id = ? AND piece = ?", packID(id), int(piece))
	if err != nil {
		return nil, fmt.Errorf("read changes of run %s: %w", id, err)
	}
	defer func() { _ = rows.Close() }()
	var all []logstore.Change
	for rows.Next() {
		c := logstore.Change{RunID: id, Job: entries[0].Job, Piece: piece}
		var kind, at, status int64
		if err := rows.Scan(&c.Attempt, &kind, &at, &status, &c.Instance, &c.Delivery, &c.Progress, &c.Detail); err != nil {
			return nil, fmt.Errorf("read changes of run %s: %w", id, err)
		}
		c.Kind, c.At, c.Status = kindOf[kind], instant(at), statusOf[status]
		if c.Kind == logstore.KindMarked {
			c.Mark, c.By, c.Instance, c.Delivery = markOf[int64(c.Delivery)], c.Instance, "", 0
		}
		all = append(all, c)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read changes of run %s: %w", id, err)
	}
	for i := range entries {
		all = append(all, entries[i].changes(all)...)
	}
	slices.SortStableFunc(all, func(a, b logstore.Change) int {
		return cmp.Or(cmp.Compare(a.Attempt, b.Attempt), a.At.Compare(b.At), cmp.Compare(kindCodes[a.Kind], kindCodes[b.Kind]), cmp.Compare(a.Delivery, b.Delivery))
	})
	return all, nil
}

// changes returns the points of the timeline that follow from e, without those that
// are stored.
func (e *entry) changes(stored []logstore.Change) []logstore.Change {
	var derived []logstore.Change
	add := func(at time.Time, c logstore.Change) {
		if !at.IsZero() {
			c.RunID, c.Job, c.Attempt, c.Piece, c.At = e.RunID, e.Job, e.Attempt, e.Piece, at
			derived = append(derived, c)
		}
	}
	committedAt, ruledAt := e.CommittedAt, instant(e.ruledAt)
	if e.ruled == 0 || committedAt.Before(ruledAt) {
		pending := logstore.Change{Kind: logstore.KindRecorded, Status: job.StatusPending}
		if e.reasonOf == statusCodes[job.StatusPending] {
			pending.Detail = e.reason
		}
		add(committedAt, pending)
	}
	add(ruledAt, logstore.Change{Kind: logstore.KindRecorded, Status: statusOf[e.ruled], Detail: e.endedByReason})
	if !slices.ContainsFunc(stored, func(c logstore.Change) bool {
		return c.Kind == logstore.KindStarted && c.Attempt == e.Attempt && c.Delivery == e.Delivery
	}) {
		add(e.StartedAt, logstore.Change{Kind: logstore.KindStarted, Status: job.StatusRunning, Instance: e.Instance, Delivery: e.Delivery})
	}
	if e.reported != 0 {
		end := logstore.Change{Kind: logstore.KindFinished, Status: statusOf[e.reported], Instance: e.Instance, Delivery: e.Delivery, Detail: e.Message}
		if e.ruled != 0 && e.ruled != e.reported {
			end.Kind = logstore.KindLate
		}
		add(instant(e.reportedAt), end)
	}
	return derived
}
