package logfile

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/sqlite/file"
)

// Trim removes the files none of whose jobs keeps its lines any longer, and returns how
// many lines were in them.
func (l *Folder) Trim(ctx context.Context, now time.Time, r *job.Retention) (lines int64, err error) {
	due, err := l.due(ctx, now, r)
	if err != nil {
		return 0, err
	}
	for _, d := range due {
		if err := l.remove(d.file); err != nil {
			return lines, err
		}
		lines += d.lines
	}
	return lines, nil
}

// Preview adds what concerns lines to the effect that rules would have, and returns how
// many bytes all of them take.
func (l *Folder) Preview(ctx context.Context, now time.Time, r *job.Retention, rates *logstore.Rates, effect *runlog.Effect) (bytes int64, err error) {
	for _, f := range l.all() {
		byJob, err := f.written(ctx)
		if err != nil {
			return 0, fmt.Errorf("count lines of %s: %w", f.day.Format(time.DateOnly), err)
		}
		size, err := file.Size(f.path)
		if err != nil {
			return 0, err
		}
		bytes += size
		for name, w := range byJob {
			effect.Now.Lines += w.lines
			if !f.day.Before(dayOf(rates.From())) {
				rates.Add(name, 0, w.lines, f.day)
			}
		}
	}
	due, err := l.due(ctx, now, r)
	if err != nil {
		return 0, err
	}
	for _, d := range due {
		size, err := file.Size(d.file.path)
		if err != nil {
			return 0, err
		}
		effect.Frees.Lines += d.lines
		effect.Frees.Bytes += size
	}
	return bytes, nil
}

// Size returns what the files take on disk.
func (l *Folder) Size() (bytes int64, err error) {
	for _, f := range l.all() {
		size, err := file.Size(f.path)
		if err != nil {
			return 0, err
		}
		bytes += size
	}
	return bytes, nil
}

// dueFile is a file of log lines that is to go.
type dueFile struct {
	file  *dayFile
	lines int64
}

// due returns the files none of whose jobs keeps its lines any longer.
func (l *Folder) due(ctx context.Context, now time.Time, r *job.Retention) ([]dueFile, error) {
	shortest, _ := r.Bounds()
	var due []dueFile
	for _, f := range l.all() {
		if logstore.DropAt(f.day, f.day, f.class, time.Duration(shortest.Logs)).After(now) {
			continue
		}
		byJob, err := f.written(ctx)
		if err != nil {
			return nil, fmt.Errorf("count lines of %s: %w", f.day.Format(time.DateOnly), err)
		}
		old, lines := true, int64(0)
		for name, w := range byJob {
			old = old && !logstore.DropAt(f.day, w.at, f.class, time.Duration(r.Of(name).Logs)).After(now)
			lines += w.lines
		}
		if old {
			due = append(due, dueFile{f, lines})
		}
	}
	return due, nil
}

// written is what a job has in a file of log lines.
type written struct {
	lines int64
	at    time.Time // when the last of them was written
}

// written returns what each job has in the file.
func (f *dayFile) written(ctx context.Context) (map[job.Name]written, error) {
	byJob := map[job.Name]written{}
	err := f.read(ctx, func(db *sql.DB) error {
		rows, err := db.QueryContext(ctx, "SELECT name, lines, written_at FROM jobs")
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var name job.Name
			var w written
			var at int64
			if err := rows.Scan(&name, &w.lines, &at); err != nil {
				return err
			}
			w.at = file.Instant(at)
			byJob[name] = w
		}
		return rows.Err()
	})
	return byJob, err
}
