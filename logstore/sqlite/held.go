package sqlite

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore/sqlite/file"
)

// heldAtOnce is of how many runs one query asks.
const heldAtOnce = 500

// Held implements [logstore.Store].
func (h *runHistory) Held(ctx context.Context, ids []job.RunID) (map[job.RunID]runlog.Change, error) {
	last := map[job.RunID]runlog.Change{}
	for chunk := range slices.Chunk(ids, heldAtOnce) {
		if err := h.addHeld(ctx, chunk, last); err != nil {
			return nil, fmt.Errorf("read why runs are held: %w", err)
		}
	}
	return last, nil
}

func (h *runHistory) addHeld(ctx context.Context, ids []job.RunID, last map[job.RunID]runlog.Change) error {
	args := []any{int(runlog.Whole), kindCodes[runlog.KindHeld]}
	for _, id := range ids {
		if _, err := job.ParseRunID(string(id)); err != nil {
			return err
		}
		args = append(args, file.PackID(id))
	}
	//nolint:gosec // only the number of places depends on what is asked
	rows, err := h.reads.QueryContext(ctx, "SELECT run_id, attempt, at, instance, delivery, detail FROM changes WHERE piece = ? AND kind = ? AND run_id IN (?"+
		strings.Repeat(", ?", len(ids)-1)+") ORDER BY attempt, at, delivery", args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		c := runlog.Change{Piece: runlog.Whole, Kind: runlog.KindHeld, Status: job.StatusPending}
		var id []byte
		var at int64
		if err := rows.Scan(&id, &c.Attempt, &at, &c.Instance, &c.Delivery, &c.Detail); err != nil {
			return err
		}
		c.RunID, c.At = file.UnpackID(id), file.Instant(at)
		last[c.RunID] = c
	}
	return rows.Err()
}
