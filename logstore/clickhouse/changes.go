package clickhouse

import (
	"context"
	"fmt"
	"slices"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/clickhouse/database"
)

// Changes implements [logstore.Store]. What a run's own row tells is not kept again
// as an event.
func (h *runHistory) Changes(ctx context.Context, id job.RunID, piece runlog.Piece) ([]runlog.Change, error) {
	if _, err := job.ParseRunID(string(id)); err != nil {
		return nil, err
	}
	if err := h.Prepare(ctx); err != nil {
		return nil, err
	}
	p := placeOf(id, piece)
	rows, err := h.attempts(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("read changes of run %s: %w", id, err)
	}
	all, err := h.readEvents(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("read changes of run %s: %w", id, err)
	}
	kept := all
	for i := range rows {
		all = append(all, rows[i].changes(kept)...)
	}
	return logstore.Timeline(all), nil
}

// changes returns the points of the timeline that follow from r, without those that
// are kept.
func (r *row) changes(kept []runlog.Change) []runlog.Change {
	var derived []runlog.Change
	add := func(at int64, c runlog.Change) {
		if at != 0 {
			c.RunID, c.Job, c.Attempt, c.Piece, c.At = unpackID(r.id), r.job, int(r.attempt), pieceOf(r.index), instantAt(at)
			derived = append(derived, c)
		}
	}
	if r.ruled == 0 || r.committedAt < r.ruledAt {
		pending := runlog.Change{Kind: runlog.KindRecorded, Status: job.StatusPending}
		if r.reasonOf == database.Statuses[job.StatusPending] {
			pending.Detail = reason.Text(r.reason)
		}
		add(r.committedAt, pending)
	}
	add(r.ruledAt, runlog.Change{Kind: runlog.KindRecorded, Status: statusOf[r.ruled], Detail: reason.Text(r.endReason)})
	if !slices.ContainsFunc(kept, func(c runlog.Change) bool {
		return c.Kind == runlog.KindStarted && c.Attempt == int(r.attempt) && c.Delivery == int(r.delivery)
	}) {
		add(r.startedAt, runlog.Change{Kind: runlog.KindStarted, Status: job.StatusRunning, Instance: r.instance, Delivery: int(r.delivery)})
	}
	if r.reported != 0 {
		end := runlog.Change{Kind: runlog.KindFinished, Status: statusOf[r.reported], Instance: r.instance, Delivery: int(r.delivery), Detail: reason.Text(r.message)}
		if r.ruled != 0 && r.ruled != r.reported {
			end.Kind = runlog.KindLate
		}
		add(r.reportedAt, end)
	}
	return derived
}
