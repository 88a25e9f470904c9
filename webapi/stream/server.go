package stream

import (
	"log/slog"

	"github.com/carillon-scheduler/carillon/auth"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/runs"
)

// Server serves streams. It is safe for concurrent use.
type Server struct {
	conn  *cluster.Conn
	store logstore.Store // as access.VisibleStore has it
	runs  *runs.Runs
	users *auth.Directory
	news  *News
	open  *Open
	log   *slog.Logger
}

// New returns a server of streams. open bounds how many there are at a time.
func New(conn *cluster.Conn, store logstore.Store, history *runs.Runs, users *auth.Directory, news *News, open *Open, log *slog.Logger) *Server {
	return &Server{conn: conn, store: access.VisibleStore{Store: store}, runs: history, users: users, news: news, open: open, log: log}
}

// JobChanged tells readers that a job has another version.
func (n *News) JobChanged(name job.Name) { n.note(topicJobs, name.Group(), string(name)) }
