package sqlite

import (
	"cmp"
	"context"
	"database/sql"
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
	kind     logstore.Kind
	slot     int64
	at       int64
	status   int64
	instance string
	delivery int
	percent  float64
	detail   string
}

var insertChanges = newBulk("INSERT INTO changes (run_id, attempt, kind, slot, at, status, instance, delivery, percent, detail)", 10, "ON CONFLICT DO NOTHING")

func (c *change) values(args []any) []any {
	return append(args, c.id, int64(c.attempt), kindCodes[c.kind], c.slot, c.at, c.status, c.instance, int64(c.delivery), c.percent, c.detail)
}

// change returns the change that r makes, if it is one to be stored.
func (r *row) change() (change, bool) {
	switch {
	case r.Kind == logstore.KindHeld, r.Kind == logstore.KindStarted, r.Kind == logstore.KindProgress:
		return changeOf(r, r.Kind), true
	case r.Kind == logstore.KindRecorded && r.Status == job.StatusQueued:
		return changeOf(r, r.Kind), true
	}
	return change{}, false
}

func changeOf(r *row, kind logstore.Kind) change {
	c := change{id: r.id, attempt: r.Attempt, kind: kind, at: r.At.UnixMilli(), status: r.status, instance: r.Instance, delivery: r.Delivery}
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
	case logstore.KindFinished: // follows from the run
	}
	return c
}

// Changes implements [logstore.Store].
func (s *Store) Changes(ctx context.Context, id job.RunID) ([]logstore.Change, error) {
	runs, err := s.Run(ctx, id)
	if err != nil {
		return nil, err
	}
	rows, err := s.reads.QueryContext(ctx,
		"SELECT attempt, kind, at, status, instance, delivery, percent, detail FROM changes WHERE run_id = ?", packID(id))
	if err != nil {
		return nil, fmt.Errorf("read changes of run %s: %w", id, err)
	}
	defer func() { _ = rows.Close() }()
	var all []logstore.Change
	for rows.Next() {
		c := logstore.Change{RunID: id, Job: runs[0].Job}
		var kind, at, status int64
		if err := rows.Scan(&c.Attempt, &kind, &at, &status, &c.Instance, &c.Delivery, &c.Progress, &c.Detail); err != nil {
			return nil, fmt.Errorf("read changes of run %s: %w", id, err)
		}
		c.Kind, c.At, c.Status = kindOf[kind], instant(at), statusOf[status]
		all = append(all, c)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read changes of run %s: %w", id, err)
	}
	for i := range runs {
		all = append(all, derive(&runs[i], all)...)
	}
	slices.SortStableFunc(all, func(a, b logstore.Change) int {
		return cmp.Or(cmp.Compare(a.Attempt, b.Attempt), a.At.Compare(b.At), cmp.Compare(kindCodes[a.Kind], kindCodes[b.Kind]), cmp.Compare(a.Delivery, b.Delivery))
	})
	return all, nil
}

// derive returns the points of r's timeline that follow from r, without those that
// are stored.
func derive(r *logstore.Run, stored []logstore.Change) []logstore.Change {
	var derived []logstore.Change
	add := func(at time.Time, c logstore.Change) {
		if !at.IsZero() {
			c.RunID, c.Job, c.Attempt, c.At = r.RunID, r.Job, r.Attempt, at
			derived = append(derived, c)
		}
	}
	recorded := job.StatusPending
	if r.Status == job.StatusSkipped || r.Status == job.StatusMissed {
		recorded = r.Status
	}
	add(r.CommittedAt, logstore.Change{Kind: logstore.KindRecorded, Status: recorded, Detail: r.Reason})
	if !slices.ContainsFunc(stored, func(c logstore.Change) bool {
		return c.Kind == logstore.KindStarted && c.Attempt == r.Attempt && c.Delivery == r.Delivery
	}) {
		add(r.StartedAt, logstore.Change{Kind: logstore.KindStarted, Status: job.StatusRunning, Instance: r.Instance, Delivery: r.Delivery})
	}
	if r.Status.Executed() {
		add(r.FinishedAt, logstore.Change{Kind: logstore.KindFinished, Status: r.Status, Instance: r.Instance, Delivery: r.Delivery, Detail: r.Message})
	}
	return derived
}

// scanID reads a run id.
type scanID job.RunID

var _ sql.Scanner = (*scanID)(nil)

// Scan implements [sql.Scanner].
func (id *scanID) Scan(value any) error {
	b, ok := value.([]byte)
	if !ok {
		return fmt.Errorf("a run id is stored as %T", value)
	}
	*id = scanID(unpackID(b))
	return nil
}
