package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
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
	held  map[string]holding    // by group
	list  []*indexed            // those that are not deleted, in order of name once loaded
	ready bool
	// Tombstones in jobs, the oldest first. The watch goes in the order of revisions: what it
	// has passed has nothing older to come, but what a slow request of this server has written.
	tombs   []tomb
	watched uint64 // revision

	planners planners
	pauses   pauses

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
	gaveUp   bool   // paused because its runs failed
	text     string // what a search looks at, in lower case
	title    string
	owner    string
	tags     []string
	types    []string // the kinds of its tasks, and typeWorkflow
	handlers []string
	kind     job.ScheduleKind
	target   *job.Target
	changed  int64 // when this version was saved, in Unix milliseconds
	version  int
	data     []byte // a job.Version in JSON
	plan     *plan  // when it fires
}

func newIndex(conn *cluster.Conn, tell func(job.Name), log *slog.Logger) *index {
	return &index{conn: conn, log: log, tell: tell, loaded: make(chan struct{}), jobs: map[job.Name]*indexed{}, held: map[string]holding{}}
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
	holds, err := x.conn.Pauses().Watch(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = holds.Stop() }()
	w, err := x.conn.Jobs().Watch(ctx, false)
	if err != nil {
		return err
	}
	defer func() { _ = w.Stop() }()
	unread := 2 // watches that have more to tell of what there was
	read := func() {
		if unread--; unread == 0 {
			x.finishLoading()
		}
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case e, ok := <-w.Updates():
			switch {
			case !ok:
				return fmt.Errorf("%w: the watch on jobs ended", job.ErrUnavailable)
			case e == nil:
				read()
			default:
				x.update(e)
			}
		case e, ok := <-holds.Updates():
			switch {
			case !ok:
				return fmt.Errorf("%w: the watch on pauses ended", job.ErrUnavailable)
			case e == nil:
				read()
			default:
				x.updatePause(e)
			}
		}
	}
}

func (x *index) updatePause(e jetstream.KeyValueEntry) {
	group := cluster.GroupOfHold(e.Key())
	hold, err := cluster.DecodePause(e.Value())
	switch {
	case e.Operation() != jetstream.KeyValuePut: // a restored backup has no such switch
		x.pauses.put(group, job.Pause{EffectiveFrom: e.Created()})
	case err != nil:
		x.log.Error("pause unusable", "key", e.Key(), "error", err)
	default:
		x.pauses.put(group, hold)
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
		gaveUp:   whyGaveUp(entry) != "",
		text:     searchText(&entry.Job),
		title:    entry.Title,
		owner:    entry.Owner,
		tags:     entry.Tags,
		types:    typesOf(&entry.Job),
		handlers: handlersOf(&entry.Job),
		kind:     entry.Schedule.Kind(),
		target:   entry.Target,
		changed:  entry.EffectiveFrom.UnixMilli(),
		version:  entry.Version.Version,
		data:     data,
		plan:     &plan{},
	}
}

// searchText returns what a search looks at, in lower case. Parameters are not in it: there
// are people who see a job and not those.
func searchText(j *job.Job) string {
	parts := slices.Concat([]string{string(j.Job), j.Title, j.Description, j.Owner}, handlersOf(j), j.Tags)
	for i := range j.Steps {
		parts = append(parts, j.Steps[i].Name, j.Steps[i].Title)
	}
	return strings.ToLower(strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "\n"))
}

// typesOf returns the kinds of a job's tasks, and typeWorkflow for one with steps.
func typesOf(j *job.Job) (types []string) {
	if len(j.Steps) > 0 {
		types = []string{typeWorkflow}
	}
	for _, task := range j.Tasks() {
		if kind := task.Kind(); !slices.Contains(types, kind) {
			types = append(types, kind)
		}
	}
	return types
}

// handlersOf returns the handlers that a job's tasks name, each once.
func handlersOf(j *job.Job) (handlers []string) {
	for _, task := range j.Tasks() {
		if task.Handler != "" {
			handlers = append(handlers, task.Handler)
		}
	}
	slices.Sort(handlers)
	return slices.Compact(handlers)
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
	x.count(j, -1)
	*j = *next
	x.hay.Store(nil)
	j.name = name
	x.count(j, 1)
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
		at = x.position(name)
	case j.deleted:
		at = slices.Index(x.list, j)
	}
	if j.deleted {
		x.list = slices.Delete(x.list, at, at+1)
	} else {
		x.list = slices.Insert(x.list, at, j)
	}
}

// position returns where a name is on the list, or would be. The caller holds mu.
func (x *index) position(name job.Name) int {
	at, _ := slices.BinarySearchFunc(x.list, name, func(j *indexed, name job.Name) int { return strings.Compare(string(j.name), string(name)) })
	return at
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

func (x *index) len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.list)
}
