package ledger

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/carillon-scheduler/carillon/bus/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/outcome"
	"github.com/carillon-scheduler/carillon/logstore"
)

// Ledger reads ledgers of jobs. It is safe for concurrent use.
type Ledger struct {
	conn  *cluster.Conn
	store logstore.Store
	keep  job.Retention
}

// New returns the ledger of the cluster of conn, which must be open, with the history
// in store. keep is how long that is kept unless somebody has said otherwise.
func New(conn *cluster.Conn, store logstore.Store, keep job.Retention) *Ledger {
	return &Ledger{conn: conn, store: store, keep: keep}
}

// Bounds of a request.
const (
	MaxRange     = 92 * 24 * time.Hour
	DefaultLimit = 100  // entries of a job on a page
	MaxLimit     = 1000 // the same
	pageWithin   = 10 * time.Second
)

// JobRequest asks for the ledger of a job: its fires in [From, To).
type JobRequest struct {
	From, To time.Time
	Outcomes []outcome.Outcome // only these; none is all
	Cursor   string            // where the page before ended
	Limit    int               // from 1 to MaxLimit; defaults to DefaultLimit
}

func checkRange(from, to time.Time) error {
	switch {
	case !to.After(from):
		return &job.InvalidError{Field: "to", Reason: "must be after from"}
	case to.Sub(from) > MaxRange:
		return &job.InvalidError{Field: "to", Reason: "must be at most " + job.Duration(MaxRange).String() + " after from"}
	}
	return nil
}

// Validate returns an *InvalidError that names the field that is wrong.
func (r *JobRequest) Validate() error {
	for _, f := range r.Outcomes {
		if !slices.Contains(outcome.Outcomes, f) {
			return &job.InvalidError{Field: "outcome", Reason: fmt.Sprintf("%q must be one of %v", f, outcome.Outcomes)}
		}
	}
	if r.Limit < 0 || r.Limit > MaxLimit {
		return &job.InvalidError{Field: "limit", Reason: fmt.Sprintf("must be from 1 to %d", MaxLimit)}
	}
	return checkRange(r.From, r.To)
}

// Job returns a page of the ledger of a job. Errors: job.ErrInvalid, job.ErrNotFound,
// job.ErrUnavailable.
func (l *Ledger) Job(ctx context.Context, name job.Name, r JobRequest) (*outcome.JobPage, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	from := r.From
	if r.Cursor != "" {
		ms, err := strconv.ParseInt(r.Cursor, 10, 64)
		if err != nil {
			return nil, badCursor
		}
		from = instant(max(ms, from.UnixMilli()))
	}
	if r.Limit == 0 {
		r.Limit = DefaultLimit
	}
	shard := name.Shard(l.conn.Cluster().Shards)
	ends := time.Now().Add(pageWithin)
	p, err := l.look(ctx, shard)
	if err != nil {
		return nil, err
	}
	v, err := l.evidence(ctx, p, name)
	if err != nil {
		return nil, err
	}
	page := &outcome.JobPage{
		Items: []outcome.Entry{}, DecidedUntil: v.Cursor.DoneFor(name), HistorySince: v.Since, VersionsSince: v.Versions[0].EffectiveFrom,
	}
	_, err = v.Judge(ctx, from, r.To, func(e *outcome.Entry) bool {
		if len(page.Items) == r.Limit || page.Counts.Fires%looked == looked-1 && time.Now().After(ends) {
			page.Next = strconv.FormatInt(e.FireTime.UnixMilli(), 10)
			return false
		}
		page.Counts.Add(e)
		if len(r.Outcomes) == 0 || slices.Contains(r.Outcomes, e.Outcome) {
			page.Items = append(page.Items, *e)
		}
		return true
	})
	return page, err
}

// looked is after how many entries to see whether the time for a page is over.
const looked = 1000

var badCursor = &job.InvalidError{Field: "cursor", Reason: "must be the value of next from the previous page"}

// evidence returns what a job is judged by at a position that was read before.
func (l *Ledger) evidence(ctx context.Context, p *position, name job.Name) (Evidence, error) {
	versions, err := l.conn.JobVersions(ctx, name)
	return Evidence{
		Job: name, Versions: versions, Cursor: p.cursors[name.Shard(l.conn.Cluster().Shards)],
		Store: l.store, Since: p.since(name), Ingested: p.ingested,
	}, err
}
