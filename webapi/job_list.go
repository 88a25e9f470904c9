package webapi

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"carillon/bus"
	"carillon/job"
	"carillon/webapi/problem"
)

// Defaults of a list; the contract states them.
const (
	pageSize    = 100
	listedFires = 1
	listedRuns  = 1
)

// ListJobs answers GET /jobs.
func (h *handlers) ListJobs(ctx context.Context, r ListJobsRequestObject) (ListJobsResponseObject, error) {
	p := r.Params
	page, err := h.findJobs(ctx, jobFilter{group: p.Group, text: p.Q, paused: p.Paused, last: p.Last, where: p.Where}, p.Sort, p.Cursor, cmp.Or(p.Limit, pageSize))
	if err != nil {
		return nil, err
	}
	items, err := h.jobItems(ctx, page.entries, valueOr(p.Fires, listedFires), valueOr(p.Runs, listedRuns), p.Week)
	if err != nil {
		return nil, err
	}
	return ListJobs200JSONResponse{Items: items, Total: page.total, Next: page.next}, nil
}

// jobFilter is what a request says of the jobs that it is about.
type jobFilter struct {
	group  string
	text   string
	paused *bool
	last   []Status
	where  []string
}

// jobPage is a page of the jobs that match a filter.
type jobPage struct {
	entries []*bus.JobEntry
	total   int    // how many match in all
	next    string // the cursor of what comes after; empty: nothing does
}

// findJobs returns the page after a cursor, in an order; the default is by name.
func (h *handlers) findJobs(ctx context.Context, f jobFilter, order, cursor string, limit int) (page jobPage, err error) {
	q, conditions, err := h.jobConditions(f)
	if err != nil {
		return page, err
	}
	if order == orderName {
		order = ""
	}
	if len(conditions) > 0 || order != "" {
		return h.pickJobs(ctx, q, conditions, order, cursor, limit)
	}
	if cursor != "" {
		if _, err := job.ParseName(cursor); err != nil {
			return page, problem.Invalid("cursor", "must be the text that came as next with the page before")
		}
	}
	q.after, q.limit = job.Name(cursor), limit
	var more bool
	if page.entries, page.total, more, err = h.index.find(ctx, q); err != nil {
		return page, problem.Explain(err, "the jobs are not loaded yet")
	}
	if more {
		page.next = string(page.entries[len(page.entries)-1].Job.Job)
	}
	return page, nil
}

// jobConditions returns what a filter asks of the index, and what of the jobs that it finds.
func (h *handlers) jobConditions(f jobFilter) (query, jobConditions, error) {
	q := query{group: f.group, text: strings.ToLower(f.text), paused: f.paused}
	if f.group != "" {
		if err := job.CheckSlug("group", f.group); err != nil {
			return q, nil, err
		}
	}
	terms := slices.Clone(f.where)
	for _, status := range f.last {
		terms = append(terms, "last:"+string(status))
	}
	conditions, err := parseConditions(terms)
	return q, conditions, err
}

// lookFor says what is to be known of jobs beside what the index has.
type lookFor struct{ due, last bool }

// look returns all jobs that a query finds, in order of name, with what is to be known.
func (h *handlers) look(ctx context.Context, q query, what lookFor) ([]found, error) {
	matching, err := h.index.copies(ctx, q)
	if err != nil {
		return nil, problem.Explain(err, "the jobs are not loaded yet")
	}
	now := time.Now().UnixMilli()
	all := make([]found, len(matching))
	for i := range matching {
		all[i].indexed = matching[i]
		if what.due {
			if all[i].due, err = h.index.due(&all[i].indexed, now); err != nil {
				return nil, err
			}
		}
	}
	if what.last {
		err = h.lookLast(ctx, all)
	}
	return all, err
}

// lookLast has jobs know how they stand.
func (h *handlers) lookLast(ctx context.Context, jobs []found) error {
	if len(jobs) == 0 {
		return nil
	}
	standings, err := h.store.Standings(ctx, namesOf(jobs))
	for i := range jobs {
		jobs[i].standing = standings[jobs[i].name]
	}
	return problem.StoreAway(err)
}

func namesOf(jobs []found) []job.Name {
	names := make([]job.Name, len(jobs))
	for i := range jobs {
		names[i] = jobs[i].name
	}
	return names
}

// pickJobs returns a page of the jobs of which conditions hold, in an order.
func (h *handlers) pickJobs(ctx context.Context, q query, conditions jobConditions, order, cursor string, limit int) (page jobPage, err error) {
	by := strings.TrimPrefix(order, "-")
	all, err := h.look(ctx, q, lookFor{
		due:  by == orderNext || by == orderAttention || conditions.ask(fieldState, fieldFires),
		last: conditions.ask(fieldLast),
	})
	if err != nil {
		return page, err
	}
	now := time.Now().UnixMilli()
	all = slices.DeleteFunc(all, func(f found) bool {
		holds, _ := conditions.hold(&f, now)
		return !holds
	})
	page.total = len(all)
	places, err := h.places(ctx, all, order)
	if errors.Is(err, job.ErrUnavailable) && ctx.Err() == nil {
		// Jobs must be seen, and can be paused, while the log store is away.
		h.log.WarnContext(ctx, "jobs are listed by name", "error", err)
		places, err = h.places(ctx, all, orderName)
	}
	if err != nil {
		return page, err
	}
	inOrder := make([]int, len(all))
	for i := range inOrder {
		inOrder[i] = i
	}
	slices.SortFunc(inOrder, func(a, b int) int { return places[a].compare(places[b]) })
	if cursor != "" {
		after, err := parsePlace(cursor)
		if err != nil {
			return page, err
		}
		from, found := slices.BinarySearchFunc(inOrder, after, func(i int, after jobPlace) int { return places[i].compare(after) })
		if found {
			from++
		}
		inOrder = inOrder[from:]
	}
	if len(inOrder) > limit {
		inOrder = inOrder[:limit]
		page.next = places[inOrder[limit-1]].cursor()
	}
	for _, i := range inOrder {
		entry, err := all[i].entry()
		if err != nil {
			return page, err
		}
		page.entries = append(page.entries, entry)
	}
	return page, nil
}
