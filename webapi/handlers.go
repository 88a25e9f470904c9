package webapi

import (
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"carillon/alert"
	"carillon/auth"
	"carillon/auth/oidc"
	"carillon/bus"
	"carillon/internal/seal"
	"carillon/job"
	"carillon/ledger"
	"carillon/logstore"
	"carillon/webapi/alerts"
	"carillon/webapi/auditlog"
	"carillon/webapi/bulk"
	"carillon/webapi/catalog"
	"carillon/webapi/cluster"
	"carillon/webapi/runs"
)

// handlers implements the operations of the contract, a file for each resource. An
// operation gets a checked request and returns a typed response or an error. It is
// safe for concurrent use.
type handlers struct {
	conn    *bus.Conn
	store   logstore.Store // as access.VisibleStore has it
	ledger  *ledger.Ledger
	view    *cluster.View
	catalog *catalog.Catalog
	runs    *runs.Runs
	bulk    *bulk.Bulk
	users   *auth.Directory
	audit   *auditlog.Recorder
	book    *alert.Book
	alerts  *alerts.Alerts
	version string
	master  *seal.Master // seals secrets; nil without one
	stoodIn StoodIn      // tells of who answers for the store; nil if nobody does ever
	// retention holds while nobody has said otherwise.
	retention job.Retention
	log       *slog.Logger

	executors bool // NATS asks who may connect as one

	metrics  *metrics
	settings map[string]string   // of the process, without secrets
	profiles bool                // stacks of goroutines may be told
	gatherer prometheus.Gatherer // of the process's metrics

	cookie func(secret string) string     // what Set-Cookie says
	link   func(invitation string) string // where an invitation is accepted

	provider   *oidc.Provider // signs people in besides us; nil without one
	flowCookie func(flow string) string
	public     func() string // where people reach us
}

var _ StrictServerInterface = (*handlers)(nil)

// nameOf returns the job that a path names.
func nameOf(group, short string) (job.Name, error) { return job.ParseName(group + "/" + short) }

// valueOr returns what v points to, or otherwise where a parameter is absent.
func valueOr(v *int, otherwise int) int {
	if v == nil {
		return otherwise
	}
	return *v
}
