package webapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"carillon/bus"
	"carillon/bus/cluster"
	"carillon/job"
)

// index has the present version of every job in memory, in order of name, so that
// lists need not read the bucket. A watch on it keeps it up to date; writes of this
// server are put in at once, before their answer.
type index struct {
	conn   *cluster.Conn
	log    *slog.Logger
	loaded chan struct{}  // closed when all that there was is in
	tell   func(job.Name) // hears of every version that is put in once all is loaded

	mu    sync.RWMutex
	jobs  map[job.Name]*indexed // the newest tombstones too: they tell older entries apart
	list  []*indexed            // those that are not deleted, in order of name once loaded
	ready bool
	// Tombstones in jobs, the oldest first. The watch goes in the order of revisions: what it
	// has passed has nothing older to come, but what a slow request of this server has written.
	tombs   []tomb
	watched uint64 // revision

	planners planners

	// hay is the list's texts; nil when they have changed since it was made.
	hay atomic.Pointer[haystack]
}

// tomb is a tombstone.
type tomb struct {
	name     job.Name
	revision uint64
}

// maxTombs is how many tombstones are remembered that the watch has passed.
const maxTombs = 4096

// indexed is a job as lists need it. Its definition stays encoded until it is on a
// page: decoded it takes three times the memory. The index has one for each name, whose
// contents change with its versions.
type indexed struct {
	name     job.Name
	revision uint64
	paused   bool  // for good
	until    int64 // paused until, in Unix milliseconds; 0: it is not
	deleted  bool
	text     string // what a search looks at, in lower case
	owner    string
	tags     []string
	task     string // which kind
	handler  string
	kind     job.ScheduleKind
	changed  int64 // when this version was saved, in Unix milliseconds
	version  int
	data     []byte // a job.Version in JSON
	plan     *plan  // when it fires
}

func newIndex(conn *cluster.Conn, tell func(job.Name), log *slog.Logger) *index {
	return &index{conn: conn, log: log, tell: tell, loaded: make(chan struct{}), jobs: map[job.Name]*indexed{}}
}

// rewatch is how long to wait before watching again after a watch broke.
const rewatch = time.Second

// run keeps the index up to date until ctx is done.
func (x *index) run(ctx context.Context) error {
	retry := time.NewTicker(rewatch)
	defer retry.Stop()
	for {
		err := x.follow(ctx)
		if ctx.Err() != nil {
			return nil
		}
		x.log.WarnContext(ctx, "job index interrupted", "error", err)
		select {
		case <-ctx.Done():
			return nil
		case <-retry.C:
		}
	}
}

// follow puts in what one watch tells. The watch itself outlives reconnects.
func (x *index) follow(ctx context.Context) error {
	w, err := x.conn.WatchJobs(ctx, false)
	if err != nil {
		return err
	}
	defer func() { _ = w.Stop() }()
	for {
		select {
		case <-ctx.Done():
			return nil
		case e, ok := <-w.Updates():
			switch {
			case !ok:
				return fmt.Errorf("%w: the watch on jobs ended", job.ErrUnavailable)
			case e == nil:
				x.finishLoading()
			default:
				x.update(e)
			}
		}
	}
}

func (x *index) finishLoading() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ready {
		return
	}
	slices.SortFunc(x.list, func(a, b *indexed) int { return strings.Compare(string(a.name), string(b.name)) })
	x.ready = true
	close(x.loaded)
}

func (x *index) update(e jetstream.KeyValueEntry) {
	defer x.passed(e.Revision())
	name, ok := bus.JobOfKey(e.Key())
	if !ok {
		return
	}
	if e.Operation() != jetstream.KeyValuePut {
		x.put(name, &indexed{revision: e.Revision(), deleted: true})
		return
	}
	entry, err := cluster.DecodeJobEntry(e)
	if err != nil {
		x.log.Warn("job cannot be read", "job", name, "error", err)
		return
	}
	x.put(name, indexOf(entry, e.Value()))
}

// passed notes that the watch has come to a revision, and forgets tombstones.
func (x *index) passed(revision uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.watched = max(x.watched, revision)
	for len(x.tombs) > maxTombs && x.tombs[0].revision <= x.watched {
		if j := x.jobs[x.tombs[0].name]; j != nil && j.deleted && j.revision == x.tombs[0].revision {
			delete(x.jobs, x.tombs[0].name)
		}
		x.tombs = x.tombs[1:]
	}
}

func indexOf(entry *bus.JobEntry, data []byte) *indexed {
	until := int64(0)
	if entry.PausedUntil != nil {
		until = entry.PausedUntil.UnixMilli()
	}
	return &indexed{
		revision: entry.Revision,
		paused:   entry.Paused,
		until:    until,
		deleted:  entry.Deleted,
		text:     searchText(&entry.Job),
		owner:    entry.Owner,
		tags:     entry.Tags,
		task:     entry.Task.Kind(),
		handler:  entry.Task.Handler,
		kind:     entry.Schedule.Kind(),
		changed:  entry.EffectiveFrom.UnixMilli(),
		version:  entry.Version.Version,
		data:     data,
		plan:     &plan{},
	}
}

// searchText returns what a search looks at, in lower case. Parameters are not in it: there
// are people who see a job and not those.
func searchText(j *job.Job) string {
	parts := append([]string{string(j.Job), j.Title, j.Description, j.Owner, j.Task.Handler}, j.Tags...)
	return strings.ToLower(strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "\n"))
}

func (j *indexed) entry() (*bus.JobEntry, error) {
	entry := &bus.JobEntry{Revision: j.revision}
	if err := json.Unmarshal(j.data, &entry.Version); err != nil {
		return nil, fmt.Errorf("decode indexed job: %w", err)
	}
	return entry, nil
}

// wrote takes in what this server has just written.
func (x *index) wrote(entry *bus.JobEntry) error {
	data, err := json.Marshal(entry.Version)
	if err != nil {
		return fmt.Errorf("encode job %s: %w", entry.Job.Job, err)
	}
	x.put(entry.Job.Job, indexOf(entry, data))
	return nil
}

// put takes in a version, unless a later one is in.
func (x *index) put(name job.Name, next *indexed) {
	x.mu.Lock()
	defer x.mu.Unlock()
	j := x.jobs[name]
	if j == nil {
		j = &indexed{deleted: true}
		x.jobs[name] = j
	} else if j.revision >= next.revision {
		return
	}
	wasListed := !j.deleted
	*j = *next
	x.hay.Store(nil)
	j.name = name
	if j.deleted {
		j.data, j.text, j.tags, j.plan = nil, "", nil, nil
		x.tombs = append(x.tombs, tomb{name, j.revision})
	}
	if x.ready {
		x.tell(name)
	}
	if wasListed != j.deleted {
		return // listed before and still, or neither
	}
	at := len(x.list) // while loading: sorting once is cheaper
	switch {
	case x.ready:
		at = x.place(name)
	case j.deleted:
		at = slices.Index(x.list, j)
	}
	if j.deleted {
		x.list = slices.Delete(x.list, at, at+1)
	} else {
		x.list = slices.Insert(x.list, at, j)
	}
}

// place returns where a name is on the list, or would be. The caller holds mu.
func (x *index) place(name job.Name) int {
	at, _ := slices.BinarySearchFunc(x.list, name, func(j *indexed, name job.Name) int { return strings.Compare(string(j.name), string(name)) })
	return at
}

// query selects jobs. The zero query is all.
type query struct {
	group  string
	text   string // in lower case
	paused *bool
	now    int64           // in Unix milliseconds
	firing bool            // not paused for good
	groups map[string]bool // that the caller sees; nil is all
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
	q.groups, q.now = seen(ctx), time.Now().UnixMilli()
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
	q.groups, q.now = seen(ctx), time.Now().UnixMilli()
	x.mu.RLock()
	defer x.mu.RUnlock()
	matching := make([]indexed, 0, len(x.list))
	x.each(&q, func(j *indexed) { matching = append(matching, *j) })
	return matching, nil
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

// wait returns when the index is loaded, or an error when ctx ends first.
func (x *index) wait(ctx context.Context) error {
	select {
	case <-x.loaded:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: the jobs are not loaded yet", job.ErrUnavailable)
	}
}

// selects reports whether a job matches but for its text, whatever the page.
func (q *query) selects(j *indexed) bool {
	return (q.paused == nil || *q.paused == (j.paused || q.now < j.until)) && (!q.firing || !j.paused) &&
		(q.groups == nil || q.groups[j.name.Group()])
}

// selectsAll reports whether all jobs of the group match.
func (q *query) selectsAll() bool {
	return q.paused == nil && !q.firing && q.text == "" && (q.groups == nil || q.group != "" && q.groups[q.group])
}

// within returns where a group's jobs are on the list, or all. The caller holds mu.
func (x *index) within(group string) (from, to int) {
	if group == "" {
		return 0, len(x.list)
	}
	// They lie together, from "group/" up to the byte after '/', which is '0'.
	return x.place(job.Name(group + "/")), x.place(job.Name(group + "0"))
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

func (x *index) len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.list)
}
