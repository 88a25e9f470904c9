package clickhouse

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/carillon-scheduler/carillon/logstore/clickhouse/database"
)

// server is the database that the parts of a store share. Each of their calls prepares it first.
type server struct {
	db   *database.Database
	conn driver.Conn // that of db
	cfg  Config

	prepared  atomic.Bool // the schema is as this program knows it
	preparing sync.Mutex  // guards what is below
	failed    error       // the last try to prepare, made at failedAt
	failedAt  time.Time
}

// retryAfter is how long a try to prepare that has failed answers for others.
const retryAfter = time.Second

// Prepare connects and brings the schema up to date, unless that is done. The error
// is job.ErrInvalid for a wrong password, a server that is too old and a database of a
// newer program; job.ErrUnavailable when the server cannot be reached.
func (s *server) Prepare(ctx context.Context) error {
	if s.prepared.Load() {
		return nil
	}
	s.preparing.Lock()
	defer s.preparing.Unlock()
	if s.prepared.Load() || time.Since(s.failedAt) < retryAfter {
		return s.failed
	}
	s.failed = s.db.Prepare(ctx, s.cfg.Lock)
	s.failedAt = time.Now()
	s.prepared.Store(s.failed == nil)
	return s.failed
}
