package shard

import (
	"container/heap"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/journal"
)

// waitingRun is a run that was asked for at an instant, until it is admitted as any run on request.
// There may be very many, so it is small, and none of the watched runs of its job.
type waitingRun struct {
	id      job.RunID
	job     job.Name
	item    *item
	due     int64 // its fire time
	expires int64 // by when it must have begun; 0: whenever it can
	wish    []byte
	version int32 // the job's newest one when the run was asked for
	slot    int32 // in the heap; -1: it is in none
	program bool  // a program has asked for it, so that a pause holds it
	held    bool  // by a pause
	noted   bool  // a record says so
	over    bool  // has been admitted, or has ended
	prev    *waitingRun
	next    *waitingRun // of the same job
	key     *runKey     // nil: it has none
}

// wakesAt returns when something is to be done about the run, as long as it is in the heap.
func (w *waitingRun) wakesAt() int64 {
	if w.held {
		return w.expires
	}
	return w.due
}

// waitingJob are the waiting runs of one job.
type waitingJob struct {
	first *waitingRun
	count int
	bytes int64         // about how much they take on the stream
	held  []*waitingRun // by a pause; runs that are over may be among them
}

// waitingRuns are the runs that were asked for at an instant which has not come.
type waitingRuns struct {
	cfg     *Config
	jobs    *jobs
	items   *items
	cluster *Cluster
	runs    *runs
	keys    *Keys

	byID     map[job.RunID]*waitingRun
	byJob    map[job.Name]*waitingJob
	next     wakeHeap      // the one that is due first on top
	holding  []job.Name    // jobs with runs that a pause holds
	lookAt   int64         // when to look whether these are still paused
	doomed   []*waitingRun // of jobs that were deleted
	wishes   []waitingCancel
	position int64 // up to which an earlier owner has decided
}

// waitingCancel is a wish to cancel a run that waits.
type waitingCancel struct {
	*waitingRun
	why string
}

const (
	// maxWaitingOfJob is how many runs of one job may wait for their instant.
	maxWaitingOfJob = 100_000
	// maxWaiting is how many runs of a cluster may, if its shards have equally many.
	maxWaiting = 1_000_000
	// maxWaitingStep is how many waiting runs one batch admits or ends, at most: each releases an item.
	maxWaitingStep = 300
	// notedAfter is how long after its instant an earlier owner has certainly recorded that a pause holds a run, in
	// milliseconds.
	notedAfter = 3_600_000
	// lookEvery is how often paused jobs with runs that are due are looked at, in milliseconds.
	lookEvery = 1000
)

// mayWait returns a job.ErrTooMany if no further run of the job may wait.
func (ws *waitingRuns) mayWait(name job.Name, more int) error {
	if of := ws.byJob[name]; of != nil && of.count+more >= maxWaitingOfJob {
		return fmt.Errorf("%w: %s", job.ErrTooMany, refusal.JobWaitsTooOften.With(of.count, name))
	}
	if n := len(ws.byID); n+more >= max(maxWaiting/max(ws.cfg.Shards, 1), maxWaitingOfJob) {
		return fmt.Errorf("%w: %s", job.ErrTooMany, refusal.ShardWaitsTooOften.With(n, ws.cfg.Shard))
	}
	return nil
}

// accept keeps a run that was asked for until it is due. It takes a message, and the note for who asked.
func (ws *waitingRuns) accept(b *builder, id uint32, c *Command) {
	w := &waitingRun{
		id: job.LaterRunID(c.RunID, c.Due.UnixMilli()), job: ws.jobs.at(id).name, due: c.Due.UnixMilli(), expires: millis(c.Expires),
		version: ws.jobs.at(id).newest().Version, program: c.Cause != job.CauseManual,
	}
	ws.keys.accept(b, c.key, w.id, w.version, w.due)
	w.key = c.key
	wish := &journal.Wish{
		Cause: c.Cause, By: c.By, Params: c.Params, Labels: c.Labels, Expires: instantOrZero(w.expires), Parent: c.Parent, Depth: c.Depth, Key: c.key.mark(),
	}
	if !ws.keep(w, wish) {
		b.note(Asked{RunID: c.RunID, Of: w.id, Version: int(w.version), Status: job.StatusQueued, Reason: reason.StepWaitsUntil.With(instant(w.due)), key: c.key})
		return // the request came again, and its note is forgotten
	}
	w.item = b.deferred(ws.cfg.Shard, &journal.Deferred{
		Kind: journal.DeferredWaiting, Job: w.job, RunID: w.id, Due: instant(w.due), Since: b.now, Version: int(w.version), Wish: wish,
	})
	why := reason.StepWaitsUntil.With(instant(w.due))
	b.record.addRun(w.job, w.attempt(wish), job.StatusQueued, why).By = c.By
	b.note(Asked{RunID: c.RunID, Of: w.id, Version: int(w.version), Status: job.StatusQueued, Reason: why, key: c.key})
}

// restore enters the item at seq of an earlier owner.
func (ws *waitingRuns) restore(d *journal.Deferred, seq uint64) {
	w := &waitingRun{
		id: d.RunID, job: d.Job, item: &item{seq: seq}, due: d.Due.UnixMilli(), expires: millis(d.Wish.Expires), version: int32(d.Version), //nolint:gosec // as in Plan
		program: d.Wish.Cause != job.CauseManual, key: ws.keys.restore(d.Wish.Key, false),
	}
	w.noted = w.due < ws.position-notedAfter
	if !ws.keep(w, d.Wish) {
		ws.items.release(w.item)
		return
	}
	id, ok := ws.jobs.find(d.Job)
	if !ok {
		ws.doom(d.Job)
		return
	}
	// One that was asked for before the job was deleted is none of the job that was made anew.
	for i := range ws.jobs.at(id).plans {
		if p := &ws.jobs.at(id).plans[i]; p.Deleted && p.Version > w.version || ws.jobs.at(id).newest().Version < w.version {
			ws.doomRun(w)
			return
		}
	}
}

// keep enters a run. It returns false if it is there already.
func (ws *waitingRuns) keep(w *waitingRun, wish *journal.Wish) bool {
	if ws.byID[w.id] != nil {
		return false
	}
	data, err := json.Marshal(wish)
	if err != nil {
		ws.cfg.bug("encode wish of run %s: %v", w.id, err)
	}
	w.wish, w.slot = slices.Clip(data), -1
	ws.byID[w.id] = w
	w.key.hold()
	of := ws.byJob[w.job]
	if of == nil {
		of = &waitingJob{}
		ws.byJob[w.job] = of
	}
	if w.next = of.first; w.next != nil {
		w.next.prev = w
	}
	of.first = w
	of.count++
	of.bytes += w.bytes()
	heap.Push(&ws.next, w)
	return true
}

// bytes returns about how much the run takes on the stream.
func (w *waitingRun) bytes() int64 { return int64(perMessage + len(w.wish)) }

// drop removes a run that is over, and releases its item.
func (ws *waitingRuns) drop(w *waitingRun) {
	w.over = true
	ws.items.release(w.item)
	w.key.release()
	delete(ws.byID, w.id)
	ws.unlink(w)
}

// unlink takes a run from its job, and from the heap.
func (ws *waitingRuns) unlink(w *waitingRun) {
	if w.slot >= 0 {
		heap.Remove(&ws.next, int(w.slot))
	}
	of := ws.byJob[w.job]
	if of == nil || of.first != w && w.prev == nil {
		return // it is doomed
	}
	if w.prev == nil {
		of.first = w.next
	} else {
		w.prev.next = w.next
	}
	if w.next != nil {
		w.next.prev = w.prev
	}
	w.prev, w.next = nil, nil
	of.count--
	of.bytes -= w.bytes()
	if of.count == 0 {
		delete(ws.byJob, w.job)
		ws.holding = slices.DeleteFunc(ws.holding, func(name job.Name) bool { return name == w.job })
	}
}

// doom notes that a job was deleted: its waiting runs end in the next batches.
func (ws *waitingRuns) doom(name job.Name) {
	for of := ws.byJob[name]; of != nil && of.first != nil; {
		ws.doomRun(of.first)
	}
}

func (ws *waitingRuns) doomRun(w *waitingRun) {
	ws.unlink(w)
	ws.doomed = append(ws.doomed, w)
}

// heed notes a new version of a job.
func (ws *waitingRuns) heed(id uint32) {
	if e := ws.jobs.at(id); e.newest().Deleted {
		ws.doom(e.name)
	}
}

// cancel asks to end a run. It returns false if no such run waits.
func (ws *waitingRuns) cancel(id job.RunID, why string) bool {
	w := ws.byID[id]
	if w == nil {
		return false
	}
	ws.wishes = append(ws.wishes, waitingCancel{w, why})
	return true
}

// attempt returns the run as it is to be triggered, or told of.
func (w *waitingRun) attempt(wish *journal.Wish) attempt {
	return attempt{
		runID: w.id, version: w.version, number: 1, cause: wish.Cause, fireTime: w.due, startBy: w.expires, parent: wish.Parent, depth: wish.Depth, key: w.key,
	}
}

// asked returns what was asked for with the run.
func (ws *waitingRuns) asked(w *waitingRun) *journal.Wish {
	wish := &journal.Wish{}
	if err := json.Unmarshal(w.wish, wish); err != nil {
		ws.cfg.bug("decode wish of run %s: %v", w.id, err)
	}
	return wish
}

// Waits reports whether a run of a job waits for its instant.
func (q *Requests) Waits(id job.RunID) bool { return q.waiting.byID[id] != nil }

// isLater reports whether the run that c asks for has to wait.
func (c *Command) isLater(now int64) bool { return !c.Due.IsZero() && c.Due.UnixMilli() > now }

// wakeHeap has the run on top that is to be looked at first.
type wakeHeap []*waitingRun

func (h wakeHeap) Len() int { return len(h) }

func (h wakeHeap) Less(i, k int) bool {
	if a, b := h[i].wakesAt(), h[k].wakesAt(); a != b {
		return a < b
	}
	return h[i].id < h[k].id
}

func (h wakeHeap) Swap(i, k int) {
	h[i], h[k] = h[k], h[i]
	h[i].slot, h[k].slot = int32(i), int32(k) //nolint:gosec // memory ends long before
}

// Push implements [heap.Interface].
func (h *wakeHeap) Push(x any) {
	w, _ := x.(*waitingRun)
	w.slot = int32(len(*h)) //nolint:gosec // as above
	*h = append(*h, w)
}

// Pop implements [heap.Interface].
func (h *wakeHeap) Pop() any {
	last := len(*h) - 1
	w := (*h)[last]
	(*h)[last] = nil
	*h, w.slot = (*h)[:last], -1
	return w
}

// body returns what the run is triggered with by the newest version of its job.
func (ws *waitingRuns) body(id uint32, wish *journal.Wish) (of body, given json.RawMessage, err error) {
	return ws.jobs.at(id).newestBody().asked(&bus.TriggerRequest{Params: wish.Params, Labels: wish.Labels})
}
