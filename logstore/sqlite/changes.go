package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/sqlite/file"
)

// change is a row of the table of changes. It holds what does not follow from the
// run's row: that a run was queued or held, that it was started (again, perhaps), how it
// came along, and ends that came too late.
type change struct {
	id       []byte
	attempt  int
	piece    runlog.Piece
	kind     runlog.Kind
	slot     int64
	at       int64
	status   int64
	instance string
	delivery int
	percent  float64
	detail   string
}

var insertChanges = file.NewBulk("INSERT INTO changes (run_id, attempt, piece, kind, slot, at, status, instance, delivery, percent, detail)", 11, "ON CONFLICT DO NOTHING")

func (c *change) values(args []any) []any {
	return append(args, c.id, int64(c.attempt), int64(c.piece), kindCodes[c.kind], c.slot, c.at, c.status, c.instance, int64(c.delivery), c.percent, c.detail)
}

// change returns the change that r makes, if it is one to be stored.
func (r *row) change() (change, bool) {
	switch {
	case r.Kind == runlog.KindHeld, r.Kind == runlog.KindStarted && r.Instance != "", r.Kind == runlog.KindProgress, r.Kind.TimelineOnly():
		return changeOf(r, r.Kind), true
	case r.Kind == runlog.KindRecorded && r.Status == job.StatusQueued:
		return changeOf(r, r.Kind), true
	}
	return change{}, false
}

func changeOf(r *row, kind runlog.Kind) change {
	c := change{id: r.id, attempt: r.Attempt, piece: r.Piece, kind: kind, at: r.At.UnixMilli(), status: r.status, instance: r.Instance, delivery: r.Delivery}
	switch kind {
	case runlog.KindRecorded:
		c.slot, c.detail, c.instance, c.delivery = r.status, r.Reason, "", 0
	case runlog.KindHeld:
		c.slot, c.detail = logstore.HeldSlot(r.Instance, r.Delivery), r.Reason
	case runlog.KindStarted:
		c.slot, c.detail = int64(r.Delivery), r.Reason
		if !r.StartedAt.IsZero() {
			c.at = r.StartedAt.UnixMilli()
		}
	case runlog.KindProgress:
		c.slot, c.percent, c.detail = c.at/progressStep.Milliseconds(), r.Progress, r.ProgressText
	case runlog.KindLate:
		// Two ends of one instant differ in their status.
		c.at = cmp.Or(r.endedAt(), c.at)
		c.slot, c.detail = c.at<<5|r.status, r.Message
	case runlog.KindMarked, runlog.KindOnHold, runlog.KindResumed:
		c.slot, c.instance, c.delivery, c.detail = c.at, r.By, int(markCodes[r.Mark]), r.Reason
	case runlog.KindFinished: // follows from the run
	}
	return c
}

// Changes implements [logstore.Store].
func (h *runHistory) Changes(ctx context.Context, id job.RunID, piece runlog.Piece) ([]runlog.Change, error) {
	if _, err := job.ParseRunID(string(id)); err != nil {
		return nil, err
	}
	var entries []entry
	var err error
	if piece == runlog.Whole {
		entries, err = h.whole(ctx, id)
	} else {
		entries, err = h.attempts(ctx, id, "SELECT "+pieceColumns+", '' FROM pieces WHERE run_id = ? AND piece = ?", file.PackID(id), int(piece))
	}
	if err != nil {
		return nil, err
	}
	rows, err := h.reads.QueryContext(ctx,
		"SELECT attempt, kind, at, status, instance, delivery, percent, detail FROM changes WHERE run_id = ? AND piece = ?", file.PackID(id), int(piece))
	if err != nil {
		return nil, fmt.Errorf("read changes of run %s: %w", id, err)
	}
	defer func() { _ = rows.Close() }()
	var all []runlog.Change
	for rows.Next() {
		c := runlog.Change{RunID: id, Job: entries[0].Job, Piece: piece}
		var kind, at, status int64
		if err := rows.Scan(&c.Attempt, &kind, &at, &status, &c.Instance, &c.Delivery, &c.Progress, &c.Detail); err != nil {
			return nil, fmt.Errorf("read changes of run %s: %w", id, err)
		}
		c.Kind, c.At, c.Status = kindOf[kind], file.Instant(at), statusOf[status]
		if c.Kind.TimelineOnly() {
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
	return logstore.Timeline(all), nil
}

// changes returns the points of the timeline that follow from e, without those that
// are stored.
func (e *entry) changes(stored []runlog.Change) []runlog.Change {
	var derived []runlog.Change
	add := func(at time.Time, c runlog.Change) {
		if !at.IsZero() {
			c.RunID, c.Job, c.Attempt, c.Piece, c.At = e.RunID, e.Job, e.Attempt, e.Piece, at
			derived = append(derived, c)
		}
	}
	committedAt, ruledAt := e.CommittedAt, file.Instant(e.ruledAt)
	if e.ruled == 0 || committedAt.Before(ruledAt) {
		pending := runlog.Change{Kind: runlog.KindRecorded, Status: job.StatusPending}
		if e.reasonOf == statusCodes[job.StatusPending] {
			pending.Detail = reason.Text(e.reason)
		}
		add(committedAt, pending)
	}
	add(ruledAt, runlog.Change{Kind: runlog.KindRecorded, Status: statusOf[e.ruled], Detail: reason.Text(e.endedByReason)})
	if !slices.ContainsFunc(stored, func(c runlog.Change) bool {
		return c.Kind == runlog.KindStarted && c.Attempt == e.Attempt && c.Delivery == e.Delivery
	}) {
		add(e.StartedAt, runlog.Change{Kind: runlog.KindStarted, Status: job.StatusRunning, Instance: e.Instance, Delivery: e.Delivery})
	}
	if e.reported != 0 {
		end := runlog.Change{Kind: runlog.KindFinished, Status: statusOf[e.reported], Instance: e.Instance, Delivery: e.Delivery, Detail: e.Message}
		if e.ruled != 0 && e.ruled != e.reported {
			end.Kind = runlog.KindLate
		}
		add(file.Instant(e.reportedAt), end)
	}
	return derived
}
