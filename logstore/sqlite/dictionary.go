package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"sync"

	"carillon/job"
)

// dictionary knows the numbers of all jobs that ever had a run, in memory: there
// are far fewer of them than runs, and lists need their names.
type dictionary struct {
	mu    sync.RWMutex // guards all below
	ids   map[job.Name]int64
	names map[int64]job.Name
	most  int64 // of the numbers
}

func newDictionary() *dictionary {
	return &dictionary{ids: map[job.Name]int64{}, names: map[int64]job.Name{}}
}

func (d *dictionary) load(ctx context.Context, conn *sql.Conn) error {
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
		d.add(name, id)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read jobs: %w", err)
	}
	return nil
}

func (d *dictionary) id(name job.Name) (id int64, ok bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	id, ok = d.ids[name]
	return id, ok
}

func (d *dictionary) name(id int64) job.Name {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.names[id]
}

// where returns the numbers of the jobs that fit.
func (d *dictionary) where(fits func(job.Name) bool) []int64 {
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

func (d *dictionary) add(name job.Name, id int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ids[name], d.names[id], d.most = id, name, max(d.most, id)
}

// all returns a copy of it.
func (d *dictionary) all() map[job.Name]int64 {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return maps.Clone(d.ids)
}

// last returns the highest number that a job has.
func (d *dictionary) last() int64 {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.most
}
