package catalog

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

// Filter is what a request says of the jobs that it is about.
type Filter struct {
	Jobs   []job.Name // these only; empty is any
	Group  string
	Text   string
	Paused *bool
	Last   []api.Status
	Where  []string
}

// Page is a page of the jobs that match a filter.
type Page struct {
	Entries []*bus.JobEntry
	Total   int    // how many match in all
	Next    string // the cursor of what comes after; empty: nothing does
}

// Search finds and counts jobs. It is safe for concurrent use.
type Search struct {
	index *index
	store logstore.Store // as access.VisibleStore has it
	week  *week
	log   *slog.Logger
}

// Find returns the page after a cursor, in an order; the default is by name.
func (s *Search) Find(ctx context.Context, f Filter, order, cursor string, limit int) (page Page, err error) {
	q, conditions, err := splitFilter(f)
	if err != nil {
		return page, err
	}
	if order == orderName {
		order = ""
	}
	if len(conditions) > 0 || order != "" {
		return s.pick(ctx, q, conditions, order, cursor, limit)
	}
	if cursor != "" {
		if _, err := job.ParseName(cursor); err != nil {
			return page, &job.InvalidError{Field: "cursor", Reason: refusal.CursorOfPage.String()}
		}
	}
	q.after, q.limit = job.Name(cursor), limit
	var more bool
	if page.Entries, page.Total, more, err = s.index.find(ctx, q); err != nil {
		return page, problem.Explain(err, refusal.JobsNotLoaded.String())
	}
	if more {
		page.Next = string(page.Entries[len(page.Entries)-1].Job.Job)
	}
	return page, nil
}

// splitFilter splits a filter into the query that the index answers, and the conditions
// for the jobs that it finds.
func splitFilter(f Filter) (query, jobConditions, error) {
	q := query{group: f.Group, text: strings.ToLower(f.Text), paused: f.Paused}
	for _, name := range f.Jobs {
		if _, err := job.ParseName(string(name)); err != nil {
			return q, nil, err
		}
		if q.jobs == nil {
			q.jobs = map[job.Name]bool{}
		}
		q.jobs[name] = true
	}
	if f.Group != "" {
		if err := job.CheckSlug("group", f.Group); err != nil {
			return q, nil, err
		}
	}
	terms := slices.Clone(f.Where)
	for _, status := range f.Last {
		terms = append(terms, "last:"+string(status))
	}
	conditions, err := parseConditions(terms)
	return q, conditions, err
}

// details are what the index does not have of jobs.
type details struct{ due, last, cause bool }

// matching returns all jobs that a query finds, in order of name, with the wanted details.
func (s *Search) matching(ctx context.Context, q query, want details) ([]found, error) {
	copies, err := s.index.copies(ctx, q)
	if err != nil {
		return nil, problem.Explain(err, refusal.JobsNotLoaded.String())
	}
	now := time.Now()
	paused := s.index.pauses.now(now)
	all := make([]found, len(copies))
	for i := range copies {
		all[i].indexed = copies[i]
		if want.due {
			from, ok := paused.from(copies[i].name.Group(), now.UnixMilli())
			all[i].off = !ok
			if all[i].due, err = s.index.due(&all[i].indexed, now.UnixMilli(), from); err != nil {
				return nil, err
			}
		}
	}
	if want.last || want.cause {
		err = s.addStandings(ctx, all)
	}
	if err == nil && want.cause {
		err = s.addCauses(ctx, all)
	}
	return all, err
}

// addStandings adds to jobs how their last runs ended.
func (s *Search) addStandings(ctx context.Context, jobs []found) error {
	if len(jobs) == 0 {
		return nil
	}
	standings, err := s.store.Standings(ctx, namesOf(jobs))
	for i := range jobs {
		jobs[i].standing = standings[jobs[i].name]
	}
	return problem.StoreAway(err)
}

// addCauses adds the error to jobs whose last run failed.
func (s *Search) addCauses(ctx context.Context, jobs []found) error {
	var failed []job.Name
	for i := range jobs {
		if jobs[i].standing.Streak > 0 {
			failed = append(failed, jobs[i].name)
		}
	}
	if len(failed) == 0 {
		return nil
	}
	last, err := s.store.LastRuns(ctx, failed, 1)
	if err != nil {
		return problem.StoreAway(err)
	}
	for i := range jobs {
		if runs := last[jobs[i].name]; len(runs) > 0 {
			r := &runs[0]
			jobs[i].message = cmp.Or(string(r.Message), string(r.Reason), string(r.Status))
			jobs[i].cause = logstore.Fingerprint(jobs[i].message)
		}
	}
	return nil
}

func namesOf(jobs []found) []job.Name {
	names := make([]job.Name, len(jobs))
	for i := range jobs {
		names[i] = jobs[i].name
	}
	return names
}

// pick returns a page of the jobs that meet conditions, in an order.
func (s *Search) pick(ctx context.Context, q query, conditions jobConditions, order, cursor string, limit int) (page Page, err error) {
	by := strings.TrimPrefix(order, "-")
	all, err := s.matching(ctx, q, details{
		due:  by == orderNext || by == orderAttention || conditions.ask(fieldState, fieldFires),
		last: conditions.ask(fieldLast), cause: conditions.ask(fieldError),
	})
	if err != nil {
		return page, err
	}
	now := time.Now().UnixMilli()
	all = slices.DeleteFunc(all, func(f found) bool {
		holds, _ := conditions.hold(&f, now)
		return !holds
	})
	page.Total = len(all)
	keys, err := s.sortKeys(ctx, all, order)
	if errors.Is(err, job.ErrUnavailable) && ctx.Err() == nil {
		// Jobs must be seen, and can be paused, while the log store is away.
		s.log.WarnContext(ctx, "jobs are listed by name", "error", err)
		keys, err = s.sortKeys(ctx, all, orderName)
	}
	if err != nil {
		return page, err
	}
	inOrder := make([]int, len(all))
	for i := range inOrder {
		inOrder[i] = i
	}
	slices.SortFunc(inOrder, func(a, b int) int { return keys[a].compare(keys[b]) })
	if cursor != "" {
		after, err := parseSortKey(cursor)
		if err != nil {
			return page, err
		}
		from, found := slices.BinarySearchFunc(inOrder, after, func(i int, after sortKey) int { return keys[i].compare(after) })
		if found {
			from++
		}
		inOrder = inOrder[from:]
	}
	if len(inOrder) > limit {
		inOrder = inOrder[:limit]
		page.Next = keys[inOrder[limit-1]].cursor()
	}
	for _, i := range inOrder {
		entry, err := all[i].entry()
		if err != nil {
			return page, err
		}
		page.Entries = append(page.Entries, entry)
	}
	return page, nil
}
