package bulk

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/auditlog"
	"github.com/carillon-scheduler/carillon/webapi/catalog"
	"github.com/carillon-scheduler/carillon/webapi/problem"
	"github.com/carillon-scheduler/carillon/webapi/runs"
)

// Bulk is safe for concurrent use. Who calls is in the context, see package access.
type Bulk struct {
	conn    *cluster.Conn
	store   logstore.Store // as access.VisibleStore has it
	catalog *catalog.Catalog
	runs    *runs.Runs
	audit   *auditlog.Recorder
	log     *slog.Logger
}

// New returns what changes many jobs and runs at a time.
func New(conn *cluster.Conn, store logstore.Store, jobs *catalog.Catalog, history *runs.Runs, audit *auditlog.Recorder, log *slog.Logger) *Bulk {
	return &Bulk{conn: conn, store: access.VisibleStore{Store: store}, catalog: jobs, runs: history, audit: audit, log: log}
}

const (
	// Most is how many things one request changes; the contract states it.
	Most = 1000
	// bulkAtOnce is how many of them are changed at a time: enough to wait for the bus
	// together, and few enough that others' requests get their turn.
	bulkAtOnce = 16
)

// errNotReached is why something was left as it was that a request had no time for.
var errNotReached = problem.Explain(job.ErrUnavailable, refusal.NotReached.String())

// bulkStep is what a request for many things does to one of them.
type bulkStep struct {
	operation string            // by which a request of its own would do it
	group     string            // of the stored thing
	names     map[string]string // what the path of that request would have
	// do makes the change, or with dryRun says whether it would change something.
	do func(ctx context.Context, dryRun bool) (changed bool, err error)
}

// each does one step after the other, some of them at a time, each as a request of its own
// would be: if the caller may, and with an entry in the audit log. step looks at thing i
// and says what to do to it. decided is told what became of each, at any time before bulk
// returns; it must only touch what belongs to i.
func (m *Bulk) each(ctx context.Context, n int, dryRun bool, step func(ctx context.Context, i int) (bulkStep, error), decided func(i int, outcome api.BulkOutcome, why *api.Problem)) {
	var g errgroup.Group
	g.SetLimit(bulkAtOnce)
	for i := range n {
		g.Go(func() error {
			changed, err := m.one(ctx, i, dryRun, step)
			switch {
			case err != nil:
				decided(i, api.BulkOutcomeRefused, m.problem(ctx, err))
			case changed:
				decided(i, api.BulkOutcomeChanged, nil)
			default:
				decided(i, api.BulkOutcomeUnchanged, nil)
			}
			return nil
		})
	}
	_ = g.Wait() // no step returns an error: each has its own outcome
}

// one does one step. A panic is its error.
func (m *Bulk) one(ctx context.Context, i int, dryRun bool, step func(context.Context, int) (bulkStep, error)) (changed bool, err error) {
	defer func() {
		if v := recover(); v != nil {
			changed, err = false, problem.CrashOf(v)
		}
	}()
	if ctx.Err() != nil {
		return false, errNotReached
	}
	s, err := step(ctx, i)
	if err != nil {
		return false, err
	}
	by, p := access.Of(ctx), access.Permits[s.operation]
	if err := p.AllowsIn(by.Who, s.group); err != nil {
		return false, err
	}
	if dryRun {
		return s.do(ctx, true)
	}
	e := auditlog.NewEntry(by, s.operation, auditlog.ObjectOf(p.Change, s.names), s.group)
	err = m.audit.Record(ctx, e, func(ctx context.Context) error {
		changed, err = s.do(ctx, false)
		return err
	})
	return changed, err
}

// problem returns what the caller is told of one thing that was refused.
func (m *Bulk) problem(ctx context.Context, err error) *api.Problem {
	p := problem.Of(err, access.Of(ctx).Request)
	if p.Status == http.StatusInternalServerError {
		attrs := []slog.Attr{slog.String("request_id", p.RequestID), slog.Any("error", err)}
		if panicked, ok := err.(*problem.Crash); ok { //nolint:errorlint // one returns it as it is
			attrs = append(attrs, slog.String("stack", string(panicked.Stack)))
		}
		m.log.LogAttrs(ctx, slog.LevelError, "request refused in part", attrs...)
	}
	return &p
}

// bulkPage returns how many things a page of a filter has at most, of a request that
// either names some or has a filter.
func bulkPage(named int, field string, filtered bool, cursor string, limit int) (int, error) {
	switch {
	case filtered == (named > 0):
		return 0, job.Invalid(field, "must be given, or filter, and not both")
	case !filtered && cursor != "":
		return 0, job.Invalid("cursor", "goes together with filter")
	case !filtered && limit != 0:
		return 0, job.Invalid("limit", "goes together with filter")
	case named > Most:
		return 0, job.Invalid(field, "has %d entries; at most %d are changed at once", named, Most)
	}
	return cmp.Or(limit, Most), nil
}

// onlyFor reports a field that belongs to another action than the one asked for.
func onlyFor(field string, given bool, action string) error {
	if !given {
		return nil
	}
	return job.Invalid(field, "goes together with action %s", action)
}

// once returns list without what is in it a second time.
func once[T comparable](list []T) []T {
	seen := make(map[T]bool, len(list))
	kept := make([]T, 0, len(list))
	for _, v := range list {
		if !seen[v] {
			seen[v] = true
			kept = append(kept, v)
		}
	}
	return kept
}
