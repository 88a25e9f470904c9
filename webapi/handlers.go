package webapi

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"carillon/alert"
	"carillon/audit"
	"carillon/auth"
	"carillon/auth/oidc"
	"carillon/bus/cluster"
	"carillon/internal/seal"
	"carillon/job"
	"carillon/ledger"
	"carillon/logstore"
)

// handlers implements the operations of the contract, a file for each resource. An
// operation gets a checked request and returns a typed response or an error. It is
// safe for concurrent use.
type handlers struct {
	conn     *cluster.Conn
	store    logstore.Store // as visibleStore has it
	history  logstore.Store // the same with all that there is, for what no caller is shown unchecked
	ledger   *ledger.Ledger
	index    *index
	presence *presence
	week     *week
	news     *news
	users    *auth.Directory
	audit    *audit.Log
	alerts   *alert.Book
	version  string
	master   *seal.Master   // seals secrets; nil without one
	asked    logstore.Asked // answers people's SQL; nil if the store has none
	stoodIn  StoodIn        // tells of who answers for the store; nil if nobody does ever
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

// storeError marks what a log store says as unavailable, unless it is about the
// request.
func storeError(err error) error {
	if err == nil || errors.Is(err, job.ErrInvalid) || errors.Is(err, job.ErrNotFound) {
		return err
	}
	return explain(fmt.Errorf("%w: %w", job.ErrUnavailable, err), "the log store does not answer")
}

// orDefault returns v, or otherwise where a parameter that starts at 1 is absent.
func orDefault(v, otherwise int) int {
	if v == 0 {
		return otherwise
	}
	return v
}

// valueOr returns what v points to, or otherwise where a parameter is absent.
func valueOr(v *int, otherwise int) int {
	if v == nil {
		return otherwise
	}
	return *v
}
