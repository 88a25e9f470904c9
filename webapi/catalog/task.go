package catalog

import (
	"context"
	"errors"
	"fmt"

	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
)

// Task returns the task of a job, from memory once the catalog is loaded. That of a job which this program is too old to
// read is a watch: whoever pings it must not be refused. Errors: job.ErrNotFound, job.ErrUnavailable.
func (s *Search) Task(ctx context.Context, name job.Name) (*job.Task, error) {
	j, known := s.index.get(name)
	select {
	case <-s.index.loaded:
	default: // it may be an old version
		known = false
	}
	switch {
	case known && j.deleted:
		return nil, fmt.Errorf("%w: job %s", job.ErrNotFound, name)
	case known:
		entry, err := j.entry()
		if err != nil {
			return nil, err
		}
		return &entry.Task, nil
	}
	entry, err := s.index.conn.Jobs().Get(ctx, name)
	if _, tooNew := errors.AsType[*cluster.FormatError](err); tooNew {
		return &job.Task{Watch: &job.Watch{}}, nil
	}
	if err != nil {
		return nil, err
	}
	return &entry.Task, nil
}

// get returns what the index has of a job; it may be a tombstone.
func (x *index) get(name job.Name) (indexed, bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	j := x.jobs[name]
	if j == nil {
		return indexed{}, false
	}
	return *j, true
}
