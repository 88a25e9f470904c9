package transfer

import (
	"context"
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// copier writes to a store what another one has.
type copier struct {
	from, to Store
	id       string // the identity of from
	// goesOn says that an earlier copy may have ended in the midst of the next day that is copied.
	goesOn bool
}

// begin makes the target a copy of the source, unless it is one.
func (c *copier) begin(ctx context.Context, to Target) (err error) {
	if c.id, err = c.from.Identity(ctx); err != nil {
		return err
	}
	origin, err := to.Origin(ctx)
	if err != nil {
		return err
	}
	if c.goesOn = origin == c.id; c.goesOn {
		return nil
	}
	if origin != "" {
		return fmt.Errorf("%w: the target has a copy of another history, %s, and this one is %s; copy to another database", job.ErrConflict, origin, c.id)
	}
	empty, err := isEmpty(ctx, to)
	switch {
	case err != nil:
		return err
	case !empty:
		return fmt.Errorf("%w: the target has a history of its own; copy to another database, or drop this one if nobody needs it", job.ErrConflict)
	}
	return to.SetOrigin(ctx, c.id)
}

// facts copies all facts. A store has each version of one once, whatever was written before.
func (c *copier) facts(ctx context.Context) error {
	for _, kind := range logstore.FactKinds {
		err := eachFacts(ctx, c.from, kind, func(facts []logstore.Fact) error { return c.to.WriteFacts(ctx, "", facts) })
		if err != nil {
			return fmt.Errorf("copy facts: %w", err)
		}
	}
	return nil
}

// day copies the runs that fired on a day, unless they are there.
func (c *copier) day(ctx context.Context, at time.Time) error {
	day, err := compareRuns(ctx, c.from, c.to, at)
	if err != nil || day.Equal {
		return err
	}
	var to logstore.Writer = c.to
	if r, ok := c.to.(logstore.Repeater); ok && (c.goesOn || day.Runs.Target > 0) {
		to = r.Repeats()
	}
	c.goesOn = false
	filter := logstore.RunFilter{From: at, To: at.Add(logstore.Day), Limit: logstore.MaxRuns}
	w := writes{to: to}
	for {
		page, err := c.from.Runs(ctx, filter)
		if err != nil {
			return err
		}
		if len(w.updates) == 0 {
			w.token = fmt.Sprintf("copy %s %s %s", c.id, at.Format(time.DateOnly), filter.Cursor)
		}
		for i := range page.Runs {
			if err := c.run(ctx, page.Runs[i].RunID, &w); err != nil {
				return err
			}
		}
		if page.Next == "" {
			return w.end(ctx)
		}
		if len(w.updates) >= updatesAtOnce {
			if err := w.end(ctx); err != nil {
				return err
			}
		}
		filter.Cursor = page.Next
	}
}

// run copies all attempts of a run, each with its pieces.
func (c *copier) run(ctx context.Context, id job.RunID, w *writes) error {
	attempts, err := c.from.Run(ctx, id)
	if err != nil {
		return err
	}
	timeline, err := c.from.Changes(ctx, id, runlog.Whole)
	if err != nil {
		return err
	}
	for i := range attempts {
		if err := c.row(ctx, &attempts[i], timeline, w); err != nil {
			return err
		}
		if attempts[i].Total > 0 {
			if err := c.pieces(ctx, logstore.PieceFilter{RunID: id, Attempt: attempts[i].Attempt}, w); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *copier) pieces(ctx context.Context, filter logstore.PieceFilter, w *writes) error {
	for {
		page, err := c.from.Pieces(ctx, filter)
		if err != nil {
			return err
		}
		for i := range page.Pieces {
			p := &page.Pieces[i]
			timeline, err := c.from.Changes(ctx, p.RunID, p.Piece)
			if err != nil {
				return err
			}
			if err := c.row(ctx, p, timeline, w); err != nil {
				return err
			}
		}
		if page.Next == runlog.Whole {
			return nil
		}
		filter.From = page.Next
	}
}

// row copies an attempt, or a piece of one, and its log.
func (c *copier) row(ctx context.Context, r *runlog.Run, timeline []runlog.Change, w *writes) error {
	w.updates = append(w.updates, updatesOf(r, timeline)...)
	filter := logstore.LineFilter{RunID: r.RunID, Attempt: r.Attempt, Piece: r.Piece, Limit: logstore.MaxLines}
	for {
		lines, err := c.from.Lines(ctx, filter)
		if err != nil {
			return err
		}
		if err := w.add(ctx, lines); err != nil {
			return err
		}
		if len(lines) < filter.Limit {
			return nil
		}
		filter.FromSeq = lines[len(lines)-1].Seq + 1
	}
}

// How much is written together. Each write makes parts of several tables of ClickHouse, which costs
// it more than thousands of rows do.
const (
	updatesAtOnce = 20_000
	linesAtOnce   = 50_000
)

// writes are the writes for some pages of runs: the lines as they come, the runs at the end.
type writes struct {
	to      logstore.Writer
	token   string // of these pages
	updates []logstore.Update
	lines   []runlog.Line
	blocks  int // of lines that are written
}

func (w *writes) add(ctx context.Context, lines []runlog.Line) error {
	if w.lines = append(w.lines, lines...); len(w.lines) < linesAtOnce {
		return nil
	}
	return w.flush(ctx)
}

func (w *writes) flush(ctx context.Context) error {
	w.blocks++
	err := w.to.WriteLines(ctx, fmt.Sprintf("%s lines %d", w.token, w.blocks), w.lines)
	w.lines = w.lines[:0]
	return err
}

// end writes the rest.
func (w *writes) end(ctx context.Context) error {
	if err := w.flush(ctx); err != nil {
		return err
	}
	err := w.to.WriteRuns(ctx, w.token+" runs", w.updates)
	w.updates, w.blocks = w.updates[:0], 0
	return err
}
