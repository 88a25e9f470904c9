package catalog

import (
	"bytes"
	"context"
	"sort"
	"time"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/webapi/access"
)

// query selects jobs. The zero query is all.
type query struct {
	jobs   map[job.Name]bool // nil is all
	group  string
	text   string // in lower case
	paused *bool
	now    int64                   // in Unix milliseconds
	firing bool                    // not paused for good
	groups func(group string) bool // that the caller sees; nil is all
	after  job.Name
	limit  int
}

// find returns a page of the jobs that match and the caller sees, in order of name, how many match in
// all, and whether there are more after the page. It waits for the index to be
// loaded.
func (x *index) find(ctx context.Context, q query) (page []*bus.JobEntry, total int, more bool, err error) {
	if err := x.wait(ctx); err != nil {
		return nil, 0, false, err
	}
	q.groups, q.now = access.Seen(ctx), time.Now().UnixMilli()
	found, total, more := x.match(q)
	for i := range found {
		entry, err := found[i].entry()
		if err != nil {
			return nil, 0, false, err
		}
		page = append(page, entry)
	}
	return page, total, more, nil
}

// names returns the names of all jobs, in order, as far as the index is loaded.
func (x *index) names() []job.Name {
	x.mu.RLock()
	defer x.mu.RUnlock()
	names := make([]job.Name, len(x.list))
	for i, j := range x.list {
		names[i] = j.name
	}
	return names
}

// copies returns all jobs that match and the caller sees, in order of name, whatever the
// page. It waits for the index to be loaded.
func (x *index) copies(ctx context.Context, q query) ([]indexed, error) {
	if err := x.wait(ctx); err != nil {
		return nil, err
	}
	q.groups, q.now = access.Seen(ctx), time.Now().UnixMilli()
	x.mu.RLock()
	defer x.mu.RUnlock()
	matching := make([]indexed, 0, len(x.list))
	x.each(&q, func(j *indexed) { matching = append(matching, *j) })
	return matching, nil
}

// titles returns the titles and owners of those of the named jobs that the caller sees. It
// waits for the index to be loaded.
func (x *index) titles(ctx context.Context, names []job.Name) (api.JobTitles, error) {
	found := api.JobTitles{Titles: map[string]string{}, Owners: map[string]string{}}
	if err := x.wait(ctx); err != nil {
		return found, err
	}
	seen := access.Seen(ctx)
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, name := range names {
		j := x.jobs[name]
		if j == nil || j.deleted || seen != nil && !seen(name.Group()) {
			continue
		}
		if j.title != "" {
			found.Titles[string(name)] = j.title
		}
		if j.owner != "" {
			found.Owners[string(name)] = j.owner
		}
	}
	return found, nil
}

// has reports whether there is a job of this name.
func (x *index) has(name job.Name) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	j := x.jobs[name]
	return j != nil && !j.deleted
}

// targets returns the targets of those of the named jobs that have one. It waits for the index to
// be loaded.
func (x *index) targets(ctx context.Context, names []job.Name) (map[job.Name]*job.Target, error) {
	found := map[job.Name]*job.Target{}
	if err := x.wait(ctx); err != nil {
		return found, err
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, name := range names {
		if j := x.jobs[name]; j != nil && !j.deleted && j.target != nil {
			found[name] = j.target
		}
	}
	return found, nil
}

// containing returns the jobs of a group whose definitions, as they are encoded, contain
// a text, in order of name. It waits for the index to be loaded.
func (x *index) containing(ctx context.Context, group string, text []byte) ([]*bus.JobEntry, error) {
	if err := x.wait(ctx); err != nil {
		return nil, err
	}
	var found []indexed
	x.mu.RLock()
	x.each(&query{group: group}, func(j *indexed) {
		if bytes.Contains(j.data, text) {
			found = append(found, *j)
		}
	})
	x.mu.RUnlock()
	entries := make([]*bus.JobEntry, 0, len(found))
	for i := range found {
		entry, err := found[i].entry()
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry)
	}
	return entries, nil
}

// selects reports whether a job matches but for its text, whatever the page.
func (q *query) selects(j *indexed) bool {
	return (q.paused == nil || *q.paused == (j.paused || q.now < j.until)) && (!q.firing || !j.paused) &&
		(q.groups == nil || q.groups(j.name.Group())) && (q.jobs == nil || q.jobs[j.name])
}

// selectsAll reports whether all jobs of the group match.
func (q *query) selectsAll() bool {
	return q.jobs == nil && q.paused == nil && !q.firing && q.text == "" && (q.groups == nil || q.group != "" && q.groups(q.group))
}

// within returns where a group's jobs are on the list, or all. The caller holds mu.
func (x *index) within(group string) (from, to int) {
	if group == "" {
		return 0, len(x.list)
	}
	// They lie together, from "group/" up to the byte after '/', which is '0'.
	return x.position(job.Name(group + "/")), x.position(job.Name(group + "0"))
}

// each calls yield for the jobs that match, in order of name. The caller holds mu.
func (x *index) each(q *query, yield func(*indexed)) {
	from, to := x.within(q.group)
	if q.text == "" {
		for _, j := range x.list[from:to] {
			if q.selects(j) {
				yield(j)
			}
		}
		return
	}
	hay := x.hay.Load()
	if hay == nil {
		hay = newHaystack(x.list)
		x.hay.Store(hay) // nobody changes the list meanwhile
	}
	hay.find(q.text, from, to, func(at int) {
		if j := x.list[at]; q.selects(j) {
			yield(j)
		}
	})
}

// match returns copies of what is on the page: the index goes on changing.
func (x *index) match(q query) (page []indexed, total int, more bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if q.selectsAll() { // the common case, which need not look at all of them
		from, to := x.within(q.group)
		list := x.list[from:to]
		total = len(list)
		if q.after != "" {
			list = list[sort.Search(len(list), func(i int) bool { return list[i].name > q.after }):]
		}
		if more = len(list) > q.limit; more {
			list = list[:q.limit]
		}
		for _, j := range list {
			page = append(page, *j)
		}
		return page, total, more
	}
	x.each(&q, func(j *indexed) {
		total++
		switch {
		case j.name <= q.after:
		case len(page) < q.limit:
			page = append(page, *j)
		default:
			more = true
		}
	})
	return page, total, more
}
