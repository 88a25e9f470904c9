package catalog

import (
	"cmp"
	"context"
	"log/slog"

	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/nodes"
)

// pageSize is how many jobs a page has by default; the contract states it.
const pageSize = 100

// Catalog is safe for concurrent use. Who calls is in the context, see package access.
type Catalog struct {
	conn  *cluster.Conn
	store logstore.Store // as access.VisibleStore has it
	index *index
	week  *week
	view  *nodes.View
	log   *slog.Logger

	limits Limits
}

// New returns a catalog, which is empty until Run runs. changed hears of each job that has another
// version. Limits that are zero default to [DefaultLimits].
func New(conn *cluster.Conn, store logstore.Store, view *nodes.View, limits Limits, changed func(job.Name), log *slog.Logger) *Catalog {
	limits = Limits{Jobs: cmp.Or(limits.Jobs, DefaultLimits.Jobs), Bytes: cmp.Or(limits.Bytes, DefaultLimits.Bytes)}
	x := newIndex(conn, changed, log)
	return &Catalog{
		conn: conn, store: access.VisibleStore{Store: store}, index: x, week: &week{store: store, index: x, log: log}, view: view, log: log, limits: limits,
	}
}

// Search returns what finds and counts jobs.
func (c *Catalog) Search() *Search { return &Search{c.index, c.store, c.week, c.log} }

// Run keeps the catalog up to date until ctx is done.
func (c *Catalog) Run(ctx context.Context) error { return c.index.run(ctx) }

// Len returns how many jobs there are.
func (c *Catalog) Len() int { return c.index.len() }

// Ready returns a channel that is closed when all jobs are in that there were when Run began. From
// then on, every other version is told.
func (c *Catalog) Ready() <-chan struct{} { return c.index.loaded }

// Loaded reports whether all jobs are in that there were when Run began.
func (c *Catalog) Loaded() bool {
	select {
	case <-c.index.loaded:
		return true
	default:
		return false
	}
}
