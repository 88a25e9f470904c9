package sqlite

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
)

// againStep is how many runs are looked up at once.
const againStep = 64

// supersede gives up the state of attempts that are not the newest of their run any
// more, among the runs of a batch. Attempts arrive in any order; but most batches have
// first attempts only, of runs without others, and one look at an index tells so.
func (w *writer) supersede(ctx context.Context, b *batch) error {
	if !b.again {
		first, last := bounds(b.ids)
		var again bool
		stmt, err := w.Stmt(ctx, "SELECT EXISTS (SELECT 1 FROM runs INDEXED BY runs_again WHERE attempt > 1 AND run_id BETWEEN ? AND ?)")
		if err != nil {
			return err
		}
		if err := stmt.QueryRowContext(ctx, first, last).Scan(&again); err != nil {
			return fmt.Errorf("look for further attempts: %w", err)
		}
		if !again {
			return nil
		}
	}
	const update = "UPDATE runs SET state = 0 WHERE state <> 0 AND attempt < (SELECT max(newest.attempt) FROM runs AS newest WHERE newest.run_id = runs.run_id) " +
		"AND run_id IN (SELECT run_id FROM runs INDEXED BY runs_again WHERE attempt > 1 AND run_id IN "
	query := update + "(?" + strings.Repeat(",?", againStep-1) + "))"
	args := make([]any, 0, againStep)
	for ids := range slices.Chunk(b.ids, againStep*16) {
		args = args[:0]
		for i := range againStep {
			at := min(i*16, len(ids)-16) // the last is repeated where there are fewer
			args = append(args, ids[at:at+16])
		}
		if _, err := w.Exec(ctx, query, args...); err != nil {
			return fmt.Errorf("supersede attempts: %w", err)
		}
	}
	return nil
}

// bounds returns the lowest and the highest of packed ids.
func bounds(ids []byte) (lowest, highest []byte) {
	for id := range slices.Chunk(ids, 16) {
		if lowest == nil || bytes.Compare(id, lowest) < 0 {
			lowest = id
		}
		if bytes.Compare(id, highest) > 0 {
			highest = id
		}
	}
	return lowest, highest
}
