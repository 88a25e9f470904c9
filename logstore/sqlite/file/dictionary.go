package file

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/logstore"
)

// Dictionary knows the numbers of all jobs that a file has, in memory: there are far
// fewer of them than runs, and lists need their names.
type Dictionary struct {
	mu    sync.RWMutex // guards all below
	ids   map[job.Name]int64
	names map[int64]job.Name
	most  int64 // of the numbers
}

// NewDictionary returns one without jobs.
func NewDictionary() *Dictionary {
	return &Dictionary{ids: map[job.Name]int64{}, names: map[int64]job.Name{}}
}

// Load adds the jobs that a file has.
func (d *Dictionary) Load(ctx context.Context, conn *sql.Conn) error {
	rows, err := conn.QueryContext(ctx, "SELECT id, name FROM jobs")
	if err != nil {
		return fmt.Errorf("read jobs: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id int64
		var name job.Name
		if err := rows.Scan(&id, &name); err != nil {
			return fmt.Errorf("read jobs: %w", err)
		}
		d.Add(name, id)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read jobs: %w", err)
	}
	return nil
}

// ID returns the number of a job, if it has one.
func (d *Dictionary) ID(name job.Name) (id int64, ok bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	id, ok = d.ids[name]
	return id, ok
}

// Name returns the job that has a number.
func (d *Dictionary) Name(id int64) job.Name {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.names[id]
}

// where returns the numbers of the jobs that fit.
func (d *Dictionary) where(fits func(job.Name) bool) []int64 {
	d.mu.RLock()
	defer d.mu.RUnlock()
	var ids []int64
	for name, id := range d.ids {
		if fits(name) {
			ids = append(ids, id)
		}
	}
	return ids
}

// Add gives a job its number.
func (d *Dictionary) Add(name job.Name, id int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ids[name], d.names[id], d.most = id, name, max(d.most, id)
}

// All returns a copy of it.
func (d *Dictionary) All() map[job.Name]int64 {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return maps.Clone(d.ids)
}

// last returns the highest number that a job has.
func (d *Dictionary) last() int64 {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.most
}

// Select returns the numbers of the jobs that f allows. limited is false when
// it allows all of them.
func (d *Dictionary) Select(f logstore.RunFilter) (ids []int64, limited bool) {
	if len(f.Jobs) == 0 && f.Group == "" && f.Groups == nil {
		return nil, false
	}
	covers := func(group string) bool {
		return slices.ContainsFunc(f.Groups, func(pattern string) bool { return job.InGroups(pattern, group) })
	}
	allowed := func(name job.Name) bool {
		group := name.Group()
		return (f.Group == "" || group == f.Group) && (f.Groups == nil || covers(group))
	}
	if len(f.Jobs) == 0 {
		return d.where(allowed), true
	}
	for _, name := range f.Jobs {
		if id, ok := d.ID(name); ok && allowed(name) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), true
}

// Join returns numbers as a list in SQL.
func Join(numbers []int64) string {
	var b []byte
	for i, n := range numbers {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, n, 10)
	}
	return string(b)
}
