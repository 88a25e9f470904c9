package shard

import (
	"encoding/json"
	"slices"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

// watches are the jobs whose runs are done elsewhere, with the pings that came before their fires.
type watches struct {
	jobs  *jobs
	items *items

	add  func(a *watchedRun)                                                             // enters a run
	end  func(b *builder, a *watchedRun, s job.Status, result json.RawMessage, at int64) // sets its final status
	open func(id uint32) []*watchedRun                                                   // returns those of a job that have not ended
	arm  func(id uint32)                                                                 // sets when a job needs attention again

	byJob map[uint32]*watch // by id; of all whose newest version is such a job
	early earlyPings
}

// watch is the state of one such job.
type watch struct {
	// heard is true once a ping has come. Then item has the state for a successor.
	heard bool
	item  *item
	// since is the instant up to which fires were skipped because no ping had come; 0: none was.
	since int64
	// unreported is the newest fire whose run has ended without a ping; 0: there is none.
	unreported int64
	early      []*earlyPing // at most maxEarly, but for those of an earlier owner
	// ended are the last ended runs that had a key, the newest last. They are not stored: a successor goes by the time at
	// which a run began.
	ended []keyedRun
}

// keyedRun is a run with the key of its pings.
type keyedRun struct {
	attempt
	key string
}

// maxEnded is how many ended runs of a job are known by their keys.
const maxEnded = 8

// put notes a new version of a job.
func (ws *watches) put(id uint32) {
	switch e := ws.jobs.at(id); {
	case !e.elsewhere():
		ws.forget(id)
	case ws.byJob[id] == nil:
		ws.byJob[id] = &watch{}
	}
}

// forget drops the state of a job.
func (ws *watches) forget(id uint32) {
	w := ws.byJob[id]
	if w == nil {
		return
	}
	ws.items.release(w.item)
	for len(w.early) > 0 {
		p := w.early[0]
		ws.early.remove(p)
		ws.items.release(p.item)
	}
	delete(ws.byJob, id)
}

// restore enters the state that an earlier owner has written, from the item at seq.
func (ws *watches) restore(id uint32, d *journal.Deferred, seq uint64) {
	i := &item{seq: seq}
	w := ws.byJob[id]
	switch {
	case w == nil:
		ws.items.release(i)
	case d.Kind == journal.DeferredHeard:
		ws.items.release(w.item)
		w.heard, w.item, w.since, w.unreported = true, i, millis(d.Since), millis(d.Due)
	default:
		ws.early.add(w, &earlyPing{ping: ping{Ping: d.Ping, at: millis(d.Since)}, fire: millis(d.Due), item: i})
	}
}

// write writes the state of a job. The caller has found room for a message.
func (ws *watches) write(b *builder, id uint32, w *watch) {
	ws.items.release(w.item)
	w.item = b.deferred(b.cfg.Shard, &journal.Deferred{Kind: journal.DeferredHeard, Job: ws.jobs.at(id).name, Since: instantOrZero(w.since), Due: instantOrZero(w.unreported)})
}

// notePing notes that a ping of a job has come, whose fires are decided up to an instant. The caller has found room for a
// message.
func (ws *watches) notePing(b *builder, id uint32, decided int64) {
	if w := ws.byJob[id]; !w.heard {
		w.heard = true
		if !ws.rule(id).Now {
			w.since = decided
		}
		ws.write(b, id, w)
	}
}

// noteUnreported notes that the run of a fire has ended without a ping. The caller has found room for a message.
func (ws *watches) noteUnreported(b *builder, id uint32, fire int64) {
	if w := ws.byJob[id]; w != nil && fire > w.unreported {
		w.heard, w.unreported = true, fire
		ws.write(b, id, w)
	}
}

// rememberKey keeps the key of a run that has ended.
func (ws *watches) rememberKey(a *watchedRun) {
	w := ws.byJob[a.jobID]
	if w == nil || a.reported.Key == "" {
		return
	}
	if len(w.ended) == maxEnded {
		w.ended = slices.Delete(w.ended, 0, 1)
	}
	w.ended = append(w.ended, keyedRun{a.attempt, a.reported.Key})
}

// clearUnreported notes that a late ping has reported the newest unreported run. The caller has found room for a message.
func (ws *watches) clearUnreported(b *builder, id uint32) {
	w := ws.byJob[id]
	w.unreported = 0
	ws.write(b, id, w)
}

// ping is a ping with the instant that it reports, in Unix milliseconds by JetStream's clock.
type ping struct {
	*bus.Ping
	at int64
}

// begun returns when the run began, as far as p knows.
func (p ping) begun() int64 { return p.at - p.Took.Milliseconds() }

// elsewhere reports whether runs of the job's newest version are done elsewhere.
func (e *entry) elsewhere() bool {
	if len(e.plans) == 0 {
		return false
	}
	p := e.newest()
	return p.Watch != nil && !p.Deleted
}
