package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/outcome"
)

// Bounds of an audit.
const (
	maxListed = 1000    // discrepancies on one page; beyond, the page ends
	maxJudged = 200_000 // fires looked at for one page
	looked    = 1000    // fires after which to see whether the time for a page is over
	MaxJobs   = 500     // on one page
)

// Request says what to audit: the fires in [From, To) of jobs, those deleted included.
type Request struct {
	From, To time.Time
	Group    string            // executor group; empty is all
	Jobs     []job.Name        // these only; empty is all
	Visible  func(string) bool // which groups; nil is all
	Cursor   string            // where the page before ended
	Limit    int               // jobs on a page; defaults to MaxJobs
	// Within ends a page early, after so long. Defaults to 10 s.
	Within time.Duration
}

// Validate returns an *InvalidError that names the field that is wrong.
func (r *Request) Validate() error {
	if r.Limit < 0 || r.Limit > MaxJobs {
		return &job.InvalidError{Field: "limit", Reason: fmt.Sprintf("must be from 1 to %d", MaxJobs)}
	}
	if r.Group != "" {
		if err := job.CheckSlug("group", r.Group); err != nil {
			return err
		}
	}
	return CheckRange(r.From, r.To)
}

// Audit judges a page of jobs. A page ends where a job does, or within one that has
// many fires. Errors: job.ErrInvalid, job.ErrUnavailable.
func (l *Ledger) Audit(ctx context.Context, r Request) (*outcome.Page, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	if r.Limit == 0 {
		r.Limit = MaxJobs
	}
	if r.Within == 0 {
		r.Within = pageWithin
	}
	at, err := parseCursor(r.Cursor)
	if err != nil {
		return nil, err
	}
	begun := time.Now()
	p, err := l.readPosition(ctx, -1, ingestWait)
	if err != nil {
		return nil, err
	}
	names, err := l.names(ctx, r)
	if err != nil {
		return nil, err
	}
	first, _ := slices.BinarySearch(names, at.name)
	a := &auditing{Page: outcome.Page{Days: []outcome.Day{}, Discrepancies: []outcome.JobEntry{}, DecidedUntil: p.behind()}, from: r.From, ends: begun.Add(r.Within)}
	for i, name := range names[first:] {
		from := r.From
		if name == at.name && at.from.After(from) {
			from = at.from
		}
		if i == r.Limit || a.full() {
			a.Next = cursor{name, from}.String()
			break
		}
		if err := l.auditJob(ctx, p, a, name, from, r.To); err != nil {
			return nil, err
		}
		if a.Next != "" {
			break
		}
	}
	return &a.Page, nil
}

// auditing is a page that is being made.
type auditing struct {
	outcome.Page
	from time.Time // of the range; a job that begins later was begun on the page before
	ends time.Time
}

// full reports whether there is enough on the page.
func (a *auditing) full() bool {
	return a.Total.Fires >= maxJudged || len(a.Discrepancies) >= maxListed || time.Now().After(a.ends)
}

func (l *Ledger) auditJob(ctx context.Context, p *position, a *auditing, name job.Name, from, to time.Time) error {
	v, err := l.evidence(ctx, p, name)
	if errors.Is(err, job.ErrNotFound) {
		return nil // no version of it is kept any more
	}
	if err != nil {
		return err
	}
	seen, last := 0, time.Time{}
	_, err = v.Judge(ctx, from, to, func(e *outcome.Entry) bool {
		// A page begins with a fire, and has one at least. Of steps, each fire takes queries.
		if seen++; seen > 1 && !e.FireTime.Equal(last) && (seen%looked == 0 || len(e.Steps) > 0) && a.full() {
			a.Next = cursor{name, e.FireTime}.String()
			return false
		}
		last = e.FireTime
		a.add(name, e)
		return true
	})
	return err
}

func (a *auditing) add(name job.Name, e *outcome.Entry) {
	if e.Cause != "" && e.Outcome != outcome.Discrepancy {
		return
	}
	day := e.FireTime.Truncate(24 * time.Hour)
	if n := len(a.Days); n == 0 || a.Days[n-1].Job != name || !a.Days[n-1].Date.Equal(day) {
		a.Days = append(a.Days, outcome.Day{Job: name, Date: day})
	}
	a.Days[len(a.Days)-1].Add(e)
	a.Total.Add(e)
	if e.Outcome == outcome.Discrepancy {
		found := outcome.JobEntry{Job: name, Entry: *e}
		found.Steps = nil // its reason names those that are wrong
		a.Discrepancies = append(a.Discrepancies, found)
	}
}

// names returns the jobs that are asked for, in order.
func (l *Ledger) names(ctx context.Context, r Request) ([]job.Name, error) {
	names, err := l.conn.Jobs().Names(ctx, r.Group)
	if err != nil {
		return nil, err
	}
	if r.Visible != nil {
		names = slices.DeleteFunc(names, func(n job.Name) bool { return !r.Visible(n.Group()) })
	}
	if len(r.Jobs) > 0 {
		wanted := map[job.Name]bool{}
		for _, name := range r.Jobs {
			wanted[name] = true
		}
		names = slices.DeleteFunc(names, func(n job.Name) bool { return !wanted[n] })
	}
	return names, nil
}

// behind returns the position of the shard that is furthest behind.
func (p *position) behind() time.Time {
	var least time.Time
	for _, c := range p.cursors {
		if least.IsZero() || c.Done.Before(least) {
			least = c.Done
		}
	}
	return least
}

// cursor is where a page begins: with a job, at an instant within the range.
type cursor struct {
	name job.Name
	from time.Time
}

func (c cursor) String() string {
	return string(c.name) + "@" + strconv.FormatInt(c.from.UnixMilli(), 10)
}

func parseCursor(s string) (cursor, error) {
	if s == "" {
		return cursor{}, nil
	}
	name, at, _ := strings.Cut(s, "@")
	ms, err := strconv.ParseInt(at, 10, 64)
	if _, bad := job.ParseName(name); bad != nil || err != nil {
		return cursor{}, badCursor
	}
	return cursor{job.Name(name), instant(ms)}, nil
}
