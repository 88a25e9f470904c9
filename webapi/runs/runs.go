package runs

import (
	"log/slog"

	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/ledger"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/catalog"
	"github.com/carillon-scheduler/carillon/webapi/nodes"
)

// pageSize is how many runs a page has by default; the contract states it.
const pageSize = 100

// Runs is safe for concurrent use. Who calls is in the context, see package access.
type Runs struct {
	conn    *cluster.Conn
	store   logstore.Store // as access.VisibleStore has it
	history logstore.Store // the same with all that there is, for what no caller is shown unchecked
	recent  *recent
	ledger  *ledger.Ledger
	catalog *catalog.Catalog
	view    *nodes.View
	log     *slog.Logger
}

// New returns the runs of a cluster and of a log store.
func New(conn *cluster.Conn, store logstore.Store, fires *ledger.Ledger, jobs *catalog.Catalog, view *nodes.View, log *slog.Logger) *Runs {
	recent := newRecent(store)
	return &Runs{conn: conn, store: access.VisibleStore{Store: recent}, history: recent, recent: recent, ledger: fires, catalog: jobs, view: view, log: log}
}
