package ledger

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
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
	MaxSteps     = 2000 // with the fire that exceeds it
	pageWithin   = 10 * time.Second
)

// JobRequest asks for the ledger of a job: its fires in [From, To).
type JobRequest struct {
	From, To time.Time
	Outcomes []outcome.Outcome // only these; none is all
	Cursor   string            // before which instant the page ends: where the one before began
	Limit    int               // from 1 to MaxLimit; defaults to DefaultLimit
	// Steps asks for the steps of workflows' runs, and for the runs that no schedule asked for. Then a page ends
	// after [MaxSteps] steps. Runs that pings report are there in any case.
	Steps bool

	left int // steps for which there is room on the page
}

// CheckRange returns an *InvalidError unless a ledger can show the fires in [from, to).
func CheckRange(from, to time.Time) error {
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
	return CheckRange(r.From, r.To)
}

// Job returns a page of the ledger of a job, newest fires first. Errors: job.ErrInvalid, job.ErrNotFound,
// job.ErrUnavailable.
func (l *Ledger) Job(ctx context.Context, name job.Name, r JobRequest) (*outcome.JobPage, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	if r.Cursor != "" {
		ms, err := strconv.ParseInt(r.Cursor, 10, 64)
		if err != nil {
			return nil, badCursor
		}
		r.To = instant(min(ms, r.To.UnixMilli()))
	}
	if r.left = MaxSteps; r.Limit == 0 {
		r.Limit = DefaultLimit
	}
	shard := name.Shard(l.conn.Cluster().Shards)
	ends := time.Now().Add(pageWithin)
	p, err := l.readPosition(ctx, shard, ingestWait)
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
	// Fires are judged forwards, so the range is read in spans from its end.
	span := firstSpan
	if v.workflow() {
		span = firstOfSteps
	}
	for to := r.To; to.After(r.From); {
		from := to.Add(-span)
		if from.Before(r.From) {
			from = r.From
		}
		var entries []outcome.Entry
		if _, err := v.Judge(ctx, from, to, func(e *outcome.Entry) bool {
			entries = append(entries, *e)
			return true
		}); err != nil {
			return nil, err
		}
		if end, full := r.add(page, entries); full {
			from = end
		}
		if to = from; to.After(r.From) && (len(page.Items) >= r.Limit || r.left <= 0 || time.Now().After(ends)) {
			page.Next = strconv.FormatInt(to.UnixMilli(), 10)
			break
		}
		if len(entries) < windowFires/8 {
			span *= 4
		}
	}
	return page, v.tellLate(ctx, page.Items)
}

// firstSpan is how much of a range is judged first; where it has few fires, more and more is.
// Of a workflow it is less, since each fire takes queries.
const (
	firstSpan    = 15 * time.Minute
	firstOfSteps = time.Minute
)

// add puts entries of a span, oldest first, on a page, newest first. When the page is full it returns
// the fire time of the oldest that it took: entries of one fire are on one page.
func (r *JobRequest) add(page *outcome.JobPage, entries []outcome.Entry) (end time.Time, full bool) {
	for _, e := range slices.Backward(entries) {
		if (len(page.Items) >= r.Limit || r.left <= 0) && !e.FireTime.Equal(end) {
			return end, true
		}
		end = e.FireTime
		page.Counts.Add(&e)
		if e.Cause != "" && e.Cause != job.CausePing && e.Outcome != outcome.Discrepancy && !r.Steps {
			continue
		}
		if !r.Steps {
			e.Steps = nil
		}
		if len(r.Outcomes) == 0 || slices.Contains(r.Outcomes, e.Outcome) {
			r.left -= len(e.Steps)
			page.Items = append(page.Items, e)
		}
	}
	return end, false
}

var badCursor = &job.InvalidError{Field: "cursor", Reason: "must be the value of next from the previous page"}

// evidence returns what a job is judged by at a position that was read before.
func (l *Ledger) evidence(ctx context.Context, p *position, name job.Name) (Evidence, error) {
	versions, err := l.conn.Jobs().Versions(ctx, name)
	return l.evidenceOf(p, name, versions), err
}

func (l *Ledger) evidenceOf(p *position, name job.Name, versions []*bus.JobEntry) Evidence {
	shard := name.Shard(l.conn.Cluster().Shards)
	return Evidence{
		Job: name, Versions: versions, Cursor: p.cursors[shard], Store: l.store, Since: p.since(name), Ingested: p.ingested,
		Waits: func(ctx context.Context, id job.RunID) (bool, error) { return l.waits(ctx, p.waiting, shard, id) },
	}
}
