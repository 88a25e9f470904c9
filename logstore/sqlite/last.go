package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"

	"carillon/job"
	"carillon/logstore"
)

// LastRuns implements [logstore.Store].
func (s *Store) LastRuns(ctx context.Context, jobs []job.Name, n int) (map[job.Name][]logstore.Run, error) {
	if n < 1 || n > logstore.MaxLastRuns {
		return nil, &job.InvalidError{Field: "n", Reason: fmt.Sprintf("must be from 1 to %d", logstore.MaxLastRuns)}
	}
	last := map[job.Name][]logstore.Run{}
	for _, name := range jobs {
		id, ok := s.jobs.id(name)
		if !ok {
			continue
		}
		rows, err := s.lastRuns.QueryContext(ctx, id, n)
		if err != nil {
			return nil, fmt.Errorf("read last runs of %s: %w", name, err)
		}
		entries, err := s.scan(rows, false)
		if err != nil {
			return nil, fmt.Errorf("read last runs of %s: %w", name, err)
		}
		if len(entries) > 0 {
			last[name] = asRuns(entries)
		}
	}
	return last, nil
}

// prepareLast prepares what is asked once for each job of a page: to parse it anew for each
// page took a tenth of the time of a list of jobs.
func (s *Store) prepareLast(ctx context.Context) (err error) {
	if s.lastRuns, err = s.reads.PrepareContext(ctx, "SELECT "+listColumns+newestOfJob); err == nil {
		s.lastStatus, err = s.reads.PrepareContext(ctx, "SELECT status"+newestOfJob)
	}
	if err != nil {
		return fmt.Errorf("prepare to read last runs: %w", err)
	}
	return nil
}

const newestOfJob = " FROM runs INDEXED BY runs_by_job WHERE job = ? AND state <> 0 ORDER BY run_id DESC, attempt DESC LIMIT ?"

// LastStatuses implements [logstore.Store]. To look at ten thousand jobs takes 150 ms, and
// a page of the console asks for all of them several times: what was read is remembered
// until the job has another run.
func (s *Store) LastStatuses(ctx context.Context, jobs []job.Name) (map[job.Name]job.Status, error) {
	last := make(map[job.Name]job.Status, len(jobs))
	since, missing := s.last.recall(s.jobs, jobs, last)
	if len(missing) == 0 {
		return last, nil
	}
	read := make(map[int64]int64, len(missing))
	for id, name := range missing {
		var status int64
		if err := s.lastStatus.QueryRowContext(ctx, id, 1).Scan(&status); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return nil, fmt.Errorf("read last status of %s: %w", name, err)
		}
		if read[id] = status; status != 0 {
			last[name] = statusOf[status]
		}
	}
	s.last.remember(since, read)
	return last, nil
}

// lastStatuses remembers the status of the newest run of jobs, by their numbers; 0 is that
// there is none.
type lastStatuses struct {
	mu      sync.Mutex // guards all below
	of      map[int64]int64
	clock   int64           // counts what was forgotten
	changed map[int64]int64 // when something was written of a job
	cleared int64           // when all was forgotten
}

func newLastStatuses() *lastStatuses {
	return &lastStatuses{of: map[int64]int64{}, changed: map[int64]int64{}}
}

// recall puts what is remembered into last, and returns the jobs of which nothing is, with
// the time from which on they are read.
func (l *lastStatuses) recall(numbers *dictionary, jobs []job.Name, last map[job.Name]job.Status) (since int64, missing map[int64]job.Name) {
	l.mu.Lock()
	defer l.mu.Unlock()
	missing = map[int64]job.Name{}
	for _, name := range jobs {
		id, ok := numbers.id(name)
		if !ok {
			continue
		}
		switch status, known := l.of[id]; {
		case !known:
			missing[id] = name
		case status != 0:
			last[name] = statusOf[status]
		}
	}
	return l.clock, missing
}

// remember takes in what was read since a time, but for jobs of which something has been
// written in the meantime: it may have been read too soon.
func (l *lastStatuses) remember(since int64, read map[int64]int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, status := range read {
		if max(l.cleared, l.changed[id]) <= since {
			l.of[id] = status
		}
	}
}

// forget is called after updates were written, or may have been.
func (l *lastStatuses) forget(numbers *dictionary, updates []logstore.Update) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clock++
	for i := range updates {
		if id, ok := numbers.id(updates[i].Job); ok {
			delete(l.of, id)
			l.changed[id] = l.clock
		}
	}
}

// clear is called after runs were deleted.
func (l *lastStatuses) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clock++
	l.cleared = l.clock
	clear(l.of)
	clear(l.changed)
}
