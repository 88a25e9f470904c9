package file

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/carillon-scheduler/carillon/job"
)

// Writer is the connection that writes. One goroutine uses it at a time.
type Writer struct {
	conn  *sql.Conn
	jobs  *Dictionary
	stmts map[string]*sql.Stmt
	bulks map[string]driver.Stmt
	args  []any
	named []driver.NamedValue // args as the driver takes them
	// fresh are jobs that the current transaction has numbered, onwards from the last
	// that are known. Others learn of them when it is committed.
	fresh    map[job.Name]int64
	numbered []job.Name // the same, in order
}

// NewWriter returns the writer on a connection, which it closes, to a file whose jobs are
// known.
func NewWriter(conn *sql.Conn, jobs *Dictionary) *Writer {
	return &Writer{conn: conn, jobs: jobs, stmts: map[string]*sql.Stmt{}, bulks: map[string]driver.Stmt{}}
}

// Close closes the connection.
func (w *Writer) Close() error {
	for _, stmt := range w.stmts {
		_ = stmt.Close()
	}
	_ = w.conn.Raw(func(any) error {
		for _, stmt := range w.bulks {
			_ = stmt.Close()
		}
		return nil
	})
	return w.conn.Close()
}

// Transact calls f in a transaction that is committed if f returns nil.
func (w *Writer) Transact(ctx context.Context, f func(context.Context) error) error {
	w.fresh, w.numbered = map[job.Name]int64{}, nil
	if _, err := w.Exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return fmt.Errorf("begin write: %w", err)
	}
	err := f(ctx)
	if err == nil {
		err = w.insertFresh(ctx)
	}
	if err == nil {
		if _, err = w.Exec(ctx, "COMMIT"); err != nil {
			err = fmt.Errorf("commit write: %w", err)
		}
	}
	if err != nil {
		_, undoErr := w.Exec(ctx, "ROLLBACK") // an error here means that SQLite had done so
		return errors.Join(err, ignoreNoTransaction(undoErr))
	}
	for name, id := range w.fresh {
		w.jobs.Add(name, id)
	}
	return nil
}

func ignoreNoTransaction(err error) error {
	if err != nil && strings.Contains(err.Error(), "no transaction is active") {
		return nil
	}
	return err
}

// Stmt returns the statement of a query, which is kept prepared.
func (w *Writer) Stmt(ctx context.Context, query string) (*sql.Stmt, error) {
	if stmt, ok := w.stmts[query]; ok {
		return stmt, nil
	}
	stmt, err := w.conn.PrepareContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("prepare statement: %w", err)
	}
	w.stmts[query] = stmt
	return stmt, nil
}

// Exec runs a statement and returns how many rows it changed.
func (w *Writer) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	stmt, err := w.Stmt(ctx, query)
	if err != nil {
		return 0, err
	}
	result, err := stmt.ExecContext(ctx, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// Job returns the number of a job, and gives it one if it has none.
func (w *Writer) Job(name job.Name) int64 {
	if id, ok := w.jobs.ID(name); ok {
		return id
	}
	if id, ok := w.fresh[name]; ok {
		return id
	}
	name = job.Name(strings.Clone(string(name))) // it stays in memory, and may be a part of a longer text
	id := w.jobs.last() + int64(len(w.numbered)) + 1
	w.fresh[name], w.numbered = id, append(w.numbered, name)
	return id
}

// NameOf returns the job that has a number, perhaps since this transaction.
func (w *Writer) NameOf(id int64) job.Name {
	if i := id - w.jobs.last() - 1; i >= 0 && i < int64(len(w.numbered)) {
		return w.numbered[i]
	}
	return w.jobs.Name(id)
}

var insertJobs = NewBulk("INSERT INTO jobs (id, name)", 2, "ON CONFLICT DO NOTHING")

// insertFresh stores the numbers that the transaction has given.
func (w *Writer) insertFresh(ctx context.Context) error {
	err := w.Insert(ctx, insertJobs, len(w.numbered), func(args []any, i int) []any {
		return append(args, w.fresh[w.numbered[i]], string(w.numbered[i]))
	}, nil)
	if err != nil {
		return fmt.Errorf("number jobs: %w", err)
	}
	return nil
}

// Bulk is an INSERT of many rows: head, one tuple of placeholders for each row, tail.
type Bulk struct {
	queries map[int]string // by number of rows
}

// NewBulk returns the INSERT with a head that names columns, and a tail.
func NewBulk(head string, columns int, tail string) *Bulk {
	b := &Bulk{queries: map[int]string{}}
	tuple := "(" + strings.Repeat("?,", columns-1) + "?)"
	for _, n := range bulkSizes {
		b.queries[n] = head + " VALUES " + strings.Repeat(tuple+",", n-1) + tuple + " " + tail
	}
	return b
}

// bulkSizes are the numbers of rows for which there are statements. Larger ones
// were not faster.
var bulkSizes = []int{64, 8, 1}

// Insert runs b for n rows whose arguments fill appends. check, if not nil, is called
// for each part that has not changed all its rows.
func (w *Writer) Insert(ctx context.Context, b *Bulk, n int, fill func(args []any, i int) []any, check func(from, to int) error) error {
	for from := 0; from < n; {
		size := bulkSizes[slices.IndexFunc(bulkSizes, func(size int) bool { return size <= n-from })]
		w.args = w.args[:0]
		for i := from; i < from+size; i++ {
			w.args = fill(w.args, i)
		}
		changed, err := w.execBulk(ctx, b.queries[size])
		if err != nil {
			return err
		}
		if check != nil && changed < int64(size) {
			if err := check(from, from+size); err != nil {
				return err
			}
		}
		from += size
	}
	return nil
}

// execBulk runs an INSERT with w.args, and returns how many rows it changed. It calls the driver
// itself: package sql makes a list of the arguments for each call, two kilobytes for a run.
func (w *Writer) execBulk(ctx context.Context, query string) (changed int64, err error) {
	for i := len(w.named); i < len(w.args); i++ {
		w.named = append(w.named, driver.NamedValue{Ordinal: i + 1})
	}
	for i, arg := range w.args {
		w.named[i].Value = arg
	}
	err = w.conn.Raw(func(conn any) error {
		stmt, ok := w.bulks[query]
		if !ok {
			var err error
			if stmt, err = conn.(driver.ConnPrepareContext).PrepareContext(ctx, query); err != nil { //nolint:forcetypeassert // it is SQLite's
				return fmt.Errorf("prepare statement: %w", err)
			}
			w.bulks[query] = stmt
		}
		result, err := stmt.(driver.StmtExecContext).ExecContext(ctx, w.named[:len(w.args)]) //nolint:forcetypeassert // it is SQLite's
		if err != nil {
			return err
		}
		changed, err = result.RowsAffected()
		return err
	})
	return changed, err
}
