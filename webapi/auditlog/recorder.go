package auditlog

import (
	"context"
	"log/slog"

	"github.com/carillon-scheduler/carillon/audit"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/logstore"
)

// Recorder writes and finds entries. It is safe for concurrent use.
type Recorder struct {
	audit *audit.Log
	conn  *cluster.Conn
	store logstore.Store // as access.VisibleStore has it
	log   *slog.Logger
}

// New returns a recorder. Run must run for changes to be made.
func New(conn *cluster.Conn, store logstore.Store, log *slog.Logger) *Recorder {
	return &Recorder{audit: audit.New(conn, log), conn: conn, store: store, log: log}
}

// Run writes the ends of changes until ctx is done.
func (r *Recorder) Run(ctx context.Context) error { return r.audit.Run(ctx) }
