package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/clickhouse/ask"
	"github.com/carillon-scheduler/carillon/logstore/clickhouse/database"
)

// Config says how to use a database. The zero value works.
type Config struct {
	// Lock is called before the schema is changed, so that one program does it. What it
	// returns is called afterwards. Defaults to no lock.
	Lock func(context.Context) (unlock func(), err error)
	// SQL is the address for [Store.Ask], with a user who may only read, and within
	// limits. Defaults to none: Ask is refused.
	SQL string
}

// Store is a log store in ClickHouse. It is safe for concurrent use, but only one
// program at a time may write.
type Store struct {
	*server
	runHistory
	logLines
	statistics
	writer
	trimmer
	asked *ask.User // for people's SQL; nil without a user for it
}

// Identity implements [logstore.Store].
func (s *Store) Identity(ctx context.Context) (string, error) {
	if err := s.Prepare(ctx); err != nil {
		return "", err
	}
	return s.db.Identity(ctx)
}

// Origin returns the identity of the store that this one is a copy of, or nothing.
func (s *Store) Origin(ctx context.Context) (string, error) {
	if err := s.Prepare(ctx); err != nil {
		return "", err
	}
	return s.db.Origin(ctx)
}

// SetOrigin notes that this store is a copy of another one.
func (s *Store) SetOrigin(ctx context.Context, identity string) error {
	if err := s.Prepare(ctx); err != nil {
		return err
	}
	return s.db.SetOrigin(ctx, identity)
}

var (
	_ logstore.Store = (*Store)(nil)
	_ logstore.Asked = (*Store)(nil)
)

// Open returns the store in the database that an address names. It does not connect:
// the first call that needs the server does, creates the database if there is none,
// and brings its schema up to date. Until that has worked, calls return what
// [Store.Prepare] does. The address is
//
//	clickhouse://USER:PASSWORD@HOST:PORT,HOST:PORT/DATABASE?OPTION=VALUE
//
// whose options are those of the driver (secure=true, dial_timeout=5s, any setting of
// the server), and
//
//	cluster=NAME     tables are replicated, on the servers of this cluster
//	sharded=true     and each shard of it holds a share of the rows
//	text_index=false log lines are not indexed by their words, for half the disk and
//	                 searches that read all lines; may be changed at any time
//
// The error is job.ErrInvalid for an address that is wrong.
func Open(address string, cfg Config) (*Store, error) {
	db, err := database.Open(address)
	if err != nil {
		return nil, err
	}
	if cfg.Lock == nil {
		cfg.Lock = func(context.Context) (func(), error) { return func() {}, nil }
	}
	server := &server{db: db, conn: db.Conn, cfg: cfg}
	s := &Store{
		server: server, runHistory: runHistory{server: server}, logLines: logLines{server}, statistics: statistics{server},
		writer: writer{server: server}, trimmer: trimmer{server},
	}
	s.SetRetention(logstore.DefaultRetention())
	if cfg.SQL != "" {
		if s.asked, err = ask.Open(cfg.SQL, auditTable); err != nil {
			return nil, errors.Join(err, s.conn.Close())
		}
	}
	return s, nil
}

// SetRetention implements [logstore.Store].
func (s *Store) SetRetention(r job.Retention) { s.keep.Store(&r) }

// Close implements [logstore.Store].
func (s *Store) Close() error {
	err := s.conn.Close()
	if s.asked != nil {
		err = errors.Join(err, s.asked.Close())
	}
	if err != nil {
		return fmt.Errorf("close log store %s: %w", s.db.Name, err)
	}
	return nil
}

// Stats implements [logstore.Store]. Bytes are those on the server that answers.
func (s *Store) Stats(ctx context.Context) (logstore.Stats, error) {
	if err := s.Prepare(ctx); err != nil {
		return logstore.Stats{}, err
	}
	var bytes uint64
	var oldest time.Time
	err := s.conn.QueryRow(ctx, "SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database = ?", s.db.Layout.Database).Scan(&bytes)
	if err != nil {
		return logstore.Stats{}, fmt.Errorf("measure log store: %w", database.Explain(err))
	}
	err = s.conn.QueryRow(ctx, "SELECT min(fire_time) FROM (SELECT fire_time FROM runs ORDER BY fire_time LIMIT 1)").Scan(&oldest)
	if err != nil {
		return logstore.Stats{}, fmt.Errorf("read oldest run: %w", database.Explain(err))
	}
	disk, err := s.disk(ctx)
	return logstore.Stats{Bytes: int64(bytes), OldestRun: instant(oldest), Disk: disk}, err
}

// Ask implements [logstore.Asked].
func (s *Store) Ask(ctx context.Context, statement string, audit bool) (logstore.Answer, error) {
	if s.asked == nil {
		return nil, fmt.Errorf("%w: no user of ClickHouse is known whom people may ask as; give the server --sql", job.ErrConflict)
	}
	if err := s.Prepare(ctx); err != nil {
		return nil, err
	}
	return s.asked.Ask(ctx, statement, audit)
}
