package waits

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/outcome"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/ledger"
	"github.com/carillon-scheduler/carillon/logstore"
)

// Reader reads what steps wait for from the ledger. It is safe for concurrent use. It costs about what a page of the
// ledger does.
type Reader struct {
	store  logstore.Store
	ledger *ledger.Ledger
}

// NewReader returns a reader. The store has the history of the whole cluster.
func NewReader(l *ledger.Ledger, store logstore.Store) *Reader {
	return &Reader{store: store, ledger: l}
}

// Read judges what a step waits for, of a run with that fire time. The error is job.ErrUnavailable.
func (r *Reader) Read(ctx context.Context, w *runlog.AwaitedRuns, fireTime time.Time) (Judgement, error) {
	of, err := r.of(ctx, w.Job)
	if err != nil {
		return Judgement{}, err
	}
	return of.judge(ctx, w, fireTime)
}

// awaited is a job for whose runs steps wait, as it is at one moment.
type awaited struct {
	*Reader
	ledger.Evidence
	known bool
}

// of reads what the fires of a job are judged by.
func (r *Reader) of(ctx context.Context, name job.Name) (*awaited, error) {
	v, err := r.ledger.Now(ctx, name)
	if errors.Is(err, job.ErrNotFound) {
		return &awaited{}, nil
	}
	if err != nil {
		return nil, err
	}
	return &awaited{r, v, true}, nil
}

// judge judges what a step waits for.
func (a *awaited) judge(ctx context.Context, w *runlog.AwaitedRuns, fireTime time.Time) (Judgement, error) {
	f := Fires{Known: a.known}
	if !a.known {
		return Judge(w, &f), nil
	}
	f.Deleted, f.Decided = a.Versions[len(a.Versions)-1].Deleted, a.Cursor.DoneFor(a.Job)
	from := w.From
	var err error
	if f.Until = w.To; w.Last > 0 {
		f.Until = fireTime
		from, err = a.readLast(ctx, &f, w.Last)
	} else {
		err = a.read(ctx, &f, from)
	}
	if err == nil {
		err = a.readRepeats(ctx, &f, from)
	}
	return Judge(w, &f), err
}

// read reads the fires of a range.
func (a *awaited) read(ctx context.Context, f *Fires, from time.Time) error {
	f.All, f.TooMany = nil, false
	_, err := a.Owed(ctx, from, f.Until, func(e *outcome.Entry) bool {
		if f.TooMany = len(f.All) == job.MaxAwaitedFires; !f.TooMany {
			f.All = append(f.All, *e)
		}
		return !f.TooMany
	})
	return err
}

// firstSpan is the range that is read first for the last fires; if they are not in it, a range is read that is four
// times as long, and so on.
const firstSpan = time.Minute

// readLast reads the last n fires that were owed, and others before these. It returns since when.
func (a *awaited) readLast(ctx context.Context, f *Fires, n int) (from time.Time, err error) {
	first := a.Versions[0].EffectiveFrom
	if a.Versions[0].Version.Version > 1 && !a.Since.IsZero() && a.Since.Before(first) { // by versions that are forgotten
		first = a.Since
	}
	for span := firstSpan; ; span *= 4 {
		if from = f.Until.Add(-span); from.Before(first) {
			from = first
		}
		err := a.read(ctx, f, from)
		if err != nil || f.TooMany || !from.After(first) || len(Owed(f.All)) >= n {
			return from, err
		}
	}
}

// readRepeats reads which of the fires were repeated, if any is not met by the schedule's run.
func (a *awaited) readRepeats(ctx context.Context, f *Fires, from time.Time) error {
	f.Repeats = map[int64]job.RunID{}
	unmet := false
	for i := range f.All {
		e := &f.All[i]
		unmet = unmet || e.Status != job.StatusSucceeded
		said := reason.Read(string(e.Reason))
		if said.Code != reason.AskedEarly.Code && said.Code != reason.AskedEarlyNote.Code {
			continue
		}
		run, err := a.store.Run(ctx, job.RunID(said.Params["run_id"]))
		switch {
		case errors.Is(err, job.ErrNotFound):
		case err != nil:
			return fmt.Errorf("%w: read a run of job %s: %w", job.ErrUnavailable, a.Job, err)
		case run[0].Job == a.Job && run[0].RunStatus() == job.StatusSucceeded:
			f.Repeats[e.FireTime.UnixMilli()] = run[0].RunID
		}
	}
	filter := logstore.RunFilter{
		Jobs: []job.Name{a.Job}, Causes: []job.Cause{job.CauseBackfill, job.CauseRerun}, Statuses: []job.Status{job.StatusSucceeded},
		From: from, To: f.Until, Limit: logstore.MaxRuns,
	}
	for unmet {
		page, err := a.store.Runs(ctx, filter)
		if err != nil {
			return fmt.Errorf("%w: read the history of job %s: %w", job.ErrUnavailable, a.Job, err)
		}
		for i := range page.Runs {
			f.Repeats[page.Runs[i].FireTime.UnixMilli()] = page.Runs[i].RunID
		}
		if filter.Cursor = page.Next; page.Next == "" {
			break
		}
	}
	return nil
}
