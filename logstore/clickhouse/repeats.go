package clickhouse

import (
	"context"
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// repeats writes what may be there in part from before.
//
// ClickHouse notes the token of a block before it has the block. If it is killed in between,
// it takes every repeat under that token for done, and lacks the rows for ever. Views may have
// got what their table has not, and the other way round. So a repeat is written under its old
// token first, which completes or waits for a write that is still at work. Then it is written
// under a new one, which adds what is still missing. And the reports of its days are counted again.
type repeats struct{ w *writer }

// Repeats implements [logstore.Repeater].
func (w *writer) Repeats() logstore.Writer { return repeats{w} }

// WriteRuns implements [logstore.Writer].
func (r repeats) WriteRuns(ctx context.Context, token string, updates []logstore.Update) error {
	return r.w.writeRuns(ctx, updates, func(foreign *logstore.ForeignError) error {
		days, err := r.w.mendable(ctx, updates)
		if err != nil {
			return err
		}
		if err := r.w.merge(ctx, token, updates, &logstore.ForeignError{}); err != nil {
			return err
		}
		if err := r.w.merge(ctx, r.newToken(token), updates, foreign); err != nil {
			return err
		}
		for day := range days {
			if err := r.w.recount(ctx, day); err != nil {
				return err
			}
		}
		return nil
	})
}

// WriteLines implements [logstore.Writer]. Of lines that are there twice the first stays.
func (r repeats) WriteLines(ctx context.Context, token string, lines []runlog.Line) error {
	return r.w.WriteLines(ctx, r.newToken(token), lines)
}

// WriteFacts implements [logstore.Writer].
func (r repeats) WriteFacts(ctx context.Context, token string, facts []logstore.Fact) error {
	return r.w.WriteFacts(ctx, r.newToken(token), facts)
}

// newToken returns a token that ClickHouse has not seen.
func (r repeats) newToken(token string) string {
	return fmt.Sprintf("%s again %d", token, -r.w.nextPrecedence())
}

// mendable returns the days of updates whose reports can be counted again. Where retention may have
// taken runs of a day, that is one whose reports do not outlive them: of runs that are gone
// nothing else knows. It must be asked before a write is repeated, which counts again what it
// has not lost.
func (w *writer) mendable(ctx context.Context, updates []logstore.Update) (map[time.Time]bool, error) {
	days := map[time.Time]bool{}
	for i := range updates {
		days[updates[i].RunID.Time().UTC().Truncate(logstore.Day)] = true
	}
	for day := range days {
		if time.Since(day.Add(logstore.Day)) < job.MinKeep {
			continue
		}
		outlive, err := w.reportsOutlive(ctx, day)
		if err != nil {
			return nil, err
		}
		if outlive {
			delete(days, day)
		}
	}
	return days, nil
}
