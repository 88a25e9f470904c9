package sqlite

import (
	"context"
	"fmt"
	"sync"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/sqlite/file"
)

const (
	// manyMissing is the number of jobs without a remembered standing from which on the
	// newest runs of all jobs are read at once. Finding the newest run of one job takes 60
	// µs if the file is not in memory yet; reading over the runs of a day or two takes 35 ms
	// in all.
	manyMissing = 1000
	// newestRead is how many runs of all jobs that is.
	newestRead = 60_000
)

// Standings implements [logstore.Store]. To look at ten thousand jobs takes 600 ms when
// nothing of the file is in memory, and a page of the console asks for all of them several
// times: what was read is remembered until the job has another run.
func (h *runHistory) Standings(ctx context.Context, jobs []job.Name) (map[job.Name]logstore.Standing, error) {
	known := make(map[job.Name]logstore.Standing, len(jobs))
	since, missing := h.stand.recall(h.jobs, jobs, known)
	if len(missing) == 0 {
		return known, nil
	}
	read := make(map[int64]logstore.Standing, len(missing))
	if len(missing) >= manyMissing {
		if err := h.readNewest(ctx, missing, read, newestRead); err != nil {
			return nil, err
		}
	}
	for id, name := range missing {
		standing, ok := read[id]
		if !ok {
			var err error
			if standing, err = h.readStanding(ctx, id); err != nil {
				return nil, fmt.Errorf("read how %s stands: %w", name, err)
			}
			read[id] = standing
		}
		if standing.Status != "" {
			known[name] = standing
		}
	}
	h.stand.remember(since, read)
	return known, nil
}

// readNewest reads the newest runs of all jobs, and puts into read how those of the wanted
// jobs stand that are told by them.
func (h *runHistory) readNewest(ctx context.Context, wanted map[int64]job.Name, read map[int64]logstore.Standing, most int) error {
	rows, err := h.reads.QueryContext(ctx, "SELECT job, status, started_at FROM runs WHERE state <> 0 AND cause < 9 ORDER BY run_id DESC, attempt DESC LIMIT ?", most)
	if err != nil {
		return fmt.Errorf("read the newest runs: %w", err)
	}
	defer func() { _ = rows.Close() }()
	looking := map[int64]*logstore.Lookback{}
	for len(read) < len(wanted) && rows.Next() {
		var id, status, started int64
		if err := rows.Scan(&id, &status, &started); err != nil {
			return fmt.Errorf("read the newest runs: %w", err)
		}
		if _, told := read[id]; told || wanted[id] == "" {
			continue
		}
		l := looking[id]
		if l == nil {
			l = &logstore.Lookback{}
			looking[id] = l
		}
		if !l.Add(statusOf[status], file.Instant(started)) {
			read[id] = l.Standing
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read the newest runs: %w", err)
	}
	return nil
}

// readStanding reads how a job stands; the status is empty when it has no runs.
func (h *runHistory) readStanding(ctx context.Context, id int64) (logstore.Standing, error) {
	rows, err := h.lastStatus.QueryContext(ctx, id, begunBy(), logstore.StandingRuns)
	if err != nil {
		return logstore.Standing{}, err
	}
	defer func() { _ = rows.Close() }()
	var l logstore.Lookback
	for more := true; more && rows.Next(); {
		var status, started int64
		if err := rows.Scan(&status, &started); err != nil {
			return logstore.Standing{}, err
		}
		more = l.Add(statusOf[status], file.Instant(started))
	}
	return l.Standing, rows.Err()
}

// standings remembers how jobs stand, by their numbers; one without a status has no runs.
type standings struct {
	mu      sync.Mutex // guards all below
	of      map[int64]logstore.Standing
	clock   int64           // counts what was forgotten
	changed map[int64]int64 // when something was written of a job
	cleared int64           // when all was forgotten
}

func newStandings() *standings {
	return &standings{of: map[int64]logstore.Standing{}, changed: map[int64]int64{}}
}

// recall puts what is remembered into known. It returns the jobs without a remembered
// standing, and the time from which on to read them.
func (s *standings) recall(numbers *file.Dictionary, jobs []job.Name, known map[job.Name]logstore.Standing) (since int64, missing map[int64]job.Name) {
	s.mu.Lock()
	defer s.mu.Unlock()
	missing = map[int64]job.Name{}
	for _, name := range jobs {
		id, ok := numbers.ID(name)
		if !ok {
			continue
		}
		switch standing, read := s.of[id]; {
		case !read:
			missing[id] = name
		case standing.Status != "":
			known[name] = standing
		}
	}
	return s.clock, missing
}

// remember stores what was read since a time, except for jobs with a write in the
// meantime: their standing may have been read before that write.
func (s *standings) remember(since int64, read map[int64]logstore.Standing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, standing := range read {
		if max(s.cleared, s.changed[id]) <= since {
			s.of[id] = standing
		}
	}
}

// forget is called after updates were written, or may have been.
func (s *standings) forget(numbers *file.Dictionary, updates []logstore.Update) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock++
	for i := range updates {
		if id, ok := numbers.ID(updates[i].Job); ok {
			delete(s.of, id)
			s.changed[id] = s.clock
		}
	}
}

// clear is called after runs were deleted.
func (s *standings) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock++
	s.cleared = s.clock
	clear(s.of)
	clear(s.changed)
}
