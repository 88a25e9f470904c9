package ledger

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/outcome"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/finding"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/journal"
)

// elsewhere reports whether the runs of the job are done elsewhere, by a version that is kept.
func (v Evidence) elsewhere() bool {
	return slices.ContainsFunc(v.Versions, func(e *bus.JobEntry) bool { return e.Elsewhere() })
}

// lasts reports whether runs of the job are judged again: they have steps, or wait for pings.
func (v Evidence) lasts() bool { return v.workflow() || v.elsewhere() }

// judgeElsewhere contradicts a run that is done elsewhere if no end of it is recorded and its shard waits for
// none. No trigger is owed for such a run: the record decides.
func (v Evidence) judgeElsewhere(ctx context.Context, e *outcome.Entry) error {
	of := v.version(e.Version)
	if e.Outcome != outcome.Pending || of == nil || !of.Elsewhere() || v.Waits == nil || e.Due.After(v.Cursor.DoneFor(v.Job)) {
		return nil
	}
	waits, err := v.Waits(ctx, e.RunID)
	if err != nil || waits {
		return err
	}
	run, err := v.attempt(ctx, e.RunID) // its end may have come since
	if err != nil || run == nil {
		return err
	}
	if tell(e, run); e.Outcome == outcome.Pending {
		contradict(e, finding.NoPingAwaited.String())
	}
	return nil
}

// tellLate adds to missed fires how their runs ended, if a ping told of that later.
func (v Evidence) tellLate(ctx context.Context, entries []outcome.Entry) error {
	for i := range entries {
		e := &entries[i]
		if e.Outcome != outcome.Missed || e.Host == "" {
			continue
		}
		changes, err := v.Store.Changes(ctx, e.RunID, runlog.Whole)
		if err != nil {
			return fmt.Errorf("%w: read the timeline of run %s: %w", job.ErrUnavailable, e.RunID, err)
		}
		if k := slices.IndexFunc(changes, func(c runlog.Change) bool { return c.Kind == runlog.KindLate }); k >= 0 {
			late := job.Duration(changes[k].At.Sub(e.FireTime).Truncate(time.Second))
			e.Reason = reason.Text(reason.Join(string(e.Reason), finding.ReportedLate.With(changes[k].Status, late)))
		}
	}
	return nil
}

// waiting is the runs of each shard that have a deferred item, by one look at TRIG.
type waiting map[int]map[job.RunID]bool

// waits reports whether the owner of a shard waits for something of a run, or the history may lack records of
// what became of it.
func (l *Ledger) waits(ctx context.Context, known waiting, shard int, id job.RunID) (bool, error) {
	for again := range 2 { // what was found first may have been decided since
		if known[shard] == nil || again > 0 {
			found, err := l.readWaiting(ctx, shard)
			if err != nil {
				return false, err
			}
			known[shard] = found
		}
		if known[shard][id] || known[shard][anyRun] {
			return true, nil
		}
	}
	has, err := l.ingested(ctx, shard, ingestWait)
	return !has, err
}

// anyRun is among the runs that wait if an item cannot be read: it may be of any.
const anyRun job.RunID = ""

// readWaiting returns the runs that have a deferred item in a shard, by the word of the leader of its stream.
func (l *Ledger) readWaiting(ctx context.Context, shard int) (map[job.RunID]bool, error) {
	found := map[job.RunID]bool{}
	err := l.conn.Scan(ctx, l.conn.TrigOf(shard), bus.SubjectDeferred(shard), func(m *jet.Stored) bool {
		d, err := journal.DecodeDeferred(m.Header, m.Data)
		if err != nil {
			found[anyRun] = true
			return true
		}
		if d.RunID != "" {
			found[d.RunID] = true
		}
		if len(d.Trigger) > 0 {
			if t, err := bus.DecodeTrigger(nil, d.Trigger); err == nil {
				found[t.RunID] = true
			}
		}
		return true
	})
	if err != nil {
		return nil, fmt.Errorf("read what shard %d waits for: %w", shard, err)
	}
	return found, nil
}
