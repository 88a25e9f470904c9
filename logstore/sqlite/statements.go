package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"sync"
)

// maxStatements is how many statements are kept prepared: lists are asked for in a few
// shapes, again and again.
const maxStatements = 64

// statements keeps those prepared that were used last: to parse the text of a list takes
// a tenth of the time of a page. It is safe for concurrent use.
type statements struct {
	db *sql.DB

	mu     sync.Mutex // guards what is below
	kept   map[string]*statement
	clock  int64 // counts uses
	closed bool
}

type statement struct {
	prepared *sql.Stmt
	used     int64 // when it was last
	users    int   // who are about to begin to read
	dropped  bool  // the last user closes it
}

func newStatements(db *sql.DB) *statements {
	return &statements{db: db, kept: map[string]*statement{}}
}

// query is [sql.DB.QueryContext].
func (s *statements) query(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	stmt, err := s.take(ctx, text)
	if err != nil {
		return nil, err
	}
	rows, err := stmt.prepared.QueryContext(ctx, args...) //nolint:sqlclosecheck // the caller closes them, which may be after the statement was
	return rows, errors.Join(err, s.release(stmt))
}

// take returns the statement for a text. The caller releases it.
func (s *statements) take(ctx context.Context, text string) (*statement, error) {
	if stmt := s.find(text); stmt != nil {
		return stmt, nil
	}
	prepared, err := s.db.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	stmt, dropped := s.keep(text, prepared)
	if dropped != nil {
		err = dropped.Close()
	}
	if err != nil {
		return nil, errors.Join(err, s.release(stmt))
	}
	return stmt, nil
}

func (s *statements) find(text string) *statement {
	s.mu.Lock()
	defer s.mu.Unlock()
	stmt := s.kept[text]
	if stmt != nil {
		s.clock++
		stmt.used = s.clock
		stmt.users++
	}
	return stmt
}

// keep puts a statement in the place of the one that was not used for longest, and
// returns that for the caller to close, unless somebody is about to use it.
func (s *statements) keep(text string, prepared *sql.Stmt) (_ *statement, drop *sql.Stmt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock++
	stmt := &statement{prepared: prepared, used: s.clock, users: 1}
	if s.closed || s.kept[text] != nil { // another has prepared the same meanwhile
		stmt.dropped = true
		return stmt, nil
	}
	if len(s.kept) >= maxStatements {
		drop = s.dropOldestLocked()
	}
	s.kept[text] = stmt
	return stmt, drop
}

// dropOldestLocked forgets the statement that was not used for longest, and returns it if
// nobody is about to use it.
func (s *statements) dropOldestLocked() *sql.Stmt {
	oldest := ""
	for text, stmt := range s.kept {
		if oldest == "" || stmt.used < s.kept[oldest].used {
			oldest = text
		}
	}
	stmt := s.kept[oldest]
	delete(s.kept, oldest)
	if stmt.dropped = true; stmt.users > 0 {
		return nil
	}
	return stmt.prepared
}

func (s *statements) release(stmt *statement) error {
	s.mu.Lock()
	stmt.users--
	last := stmt.dropped && stmt.users == 0
	s.mu.Unlock()
	if last {
		return stmt.prepared.Close()
	}
	return nil
}

// close closes all statements, those in use when they are not any more.
func (s *statements) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	var errs []error
	for _, stmt := range s.kept {
		if stmt.dropped = true; stmt.users == 0 {
			errs = append(errs, stmt.prepared.Close())
		}
	}
	clear(s.kept)
	return errors.Join(errs...)
}
