package clickhouse

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore/clickhouse/database"
)

// Held implements [logstore.Store].
func (h *runHistory) Held(ctx context.Context, ids []job.RunID) (map[job.RunID]runlog.Change, error) {
	last := map[job.RunID]runlog.Change{}
	if len(ids) == 0 {
		return last, nil
	}
	if err := h.Prepare(ctx); err != nil {
		return nil, err
	}
	wanted := map[place]bool{}
	for _, id := range ids {
		if _, err := job.ParseRunID(string(id)); err != nil {
			return nil, err
		}
		wanted[placeOf(id, runlog.Whole)] = true
	}
	if err := h.addHeld(ctx, wanted, last); err != nil {
		return nil, fmt.Errorf("read why runs are held: %w", database.Explain(err))
	}
	return last, nil
}

func (h *runHistory) addHeld(ctx context.Context, wanted map[place]bool, last map[job.RunID]runlog.Change) error {
	ctx, err := withPlaces(ctx, wanted)
	if err != nil {
		return err
	}
	rows, err := h.conn.Query(ctx, "SELECT run_id, attempt, at, toString(instance), delivery, detail FROM run_events WHERE "+byPlaces+
		" AND kind = 'held' ORDER BY attempt, at, delivery, precedence")
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		c := runlog.Change{Piece: runlog.Whole, Kind: runlog.KindHeld, Status: job.StatusPending}
		var id uuid.UUID
		var attempt, delivery uint32
		if err := rows.Scan(&id, &attempt, &c.At, &c.Instance, &delivery, (*string)(&c.Detail)); err != nil {
			return err
		}
		c.RunID, c.Attempt, c.Delivery, c.At = unpackID(id), int(attempt), int(delivery), c.At.UTC()
		last[c.RunID] = c
	}
	return rows.Err()
}
