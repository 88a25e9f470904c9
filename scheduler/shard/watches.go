package shard

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

// watches are the jobs whose runs are done elsewhere, and which pings wait for their fires.
type watches struct {
	jobs  *jobs
	items *items

	add  func(a *watchedRun)                                                             // enters a run
	end  func(b *builder, a *watchedRun, s job.Status, result json.RawMessage, at int64) // sets its final status
	open func(id uint32) []*watchedRun                                                   // returns those of a job that have not ended
	arm  func(id uint32)                                                                 // sets when a job needs attention again

	byJob map[uint32]*watch // by id; of all whose newest version is such a job
	early []*earlyPing      // in the order of the fires
}

// watch is what is known of the pings of a job.
type watch struct {
	// heard says that a ping has come. Then item says so, and silent, to a successor.
	heard bool
	item  *item
	// silent is the newest fire whose run has ended without a ping, 0 if there is none.
	silent int64
	// ended are the last runs with a key that have ended, the newest last. A successor does not know them, and goes by
	// when a run began.
	ended []keyedRun
}

// keyedRun is a run with the key by which pings call it.
type keyedRun struct {
	attempt
	key string
}

// maxEnded is how many ended runs of a job are known by their keys.
const maxEnded = 8

// earlyPing is a ping that came before its fire was decided.
type earlyPing struct {
	ping
	fire int64
	item *item
}

// maxEarly is how many pings of a job wait for fires.
const maxEarly = 16

// maxEarlyOutput is how much of what a run has printed waits with its ping, in bytes.
const maxEarlyOutput = 8 << 10

// put notes a new version of a job.
func (ws *watches) put(id uint32) {
	switch e := ws.jobs.at(id); {
	case !e.elsewhere():
		ws.forget(id)
	case ws.byJob[id] == nil:
		ws.byJob[id] = &watch{}
	}
}

// forget drops what is known of a job.
func (ws *watches) forget(id uint32) {
	w := ws.byJob[id]
	if w == nil {
		return
	}
	ws.items.release(w.item)
	delete(ws.byJob, id)
	name := ws.jobs.at(id).name
	ws.early = slices.DeleteFunc(ws.early, func(p *earlyPing) bool {
		if p.Job == name {
			ws.items.release(p.item)
		}
		return p.Job == name
	})
}

// restore enters what an earlier owner has written of a job, from the item at seq.
func (ws *watches) restore(id uint32, d *journal.Deferred, seq uint64) {
	i := &item{seq: seq}
	w := ws.byJob[id]
	switch {
	case w == nil:
		ws.items.release(i)
	case d.Kind == journal.DeferredHeard:
		ws.items.release(w.item)
		w.heard, w.item, w.silent = true, i, millis(d.Since)
	default:
		ws.wait(&earlyPing{ping: ping{Ping: d.Ping, at: millis(d.Since)}, fire: millis(d.Due), item: i})
	}
}

// write writes what is known of a job, once a ping has come. The caller has found room for a message.
func (ws *watches) write(b *builder, id uint32, w *watch) {
	ws.items.release(w.item)
	w.item = b.deferred(b.cfg.Shard, &journal.Deferred{Kind: journal.DeferredHeard, Job: ws.jobs.at(id).name, Since: instantOrZero(w.silent)})
}

// hear notes that a ping of a job has come. The caller has found room for a message.
func (ws *watches) hear(b *builder, id uint32) {
	if w := ws.byJob[id]; !w.heard {
		w.heard = true
		ws.write(b, id, w)
	}
}

// fellSilent notes that the run of a fire has ended without a ping. The caller has found room for a message.
func (ws *watches) fellSilent(b *builder, id uint32, fire int64) {
	if w := ws.byJob[id]; w != nil && fire > w.silent {
		w.heard, w.silent = true, fire
		ws.write(b, id, w)
	}
}

// remember keeps the key of a run that has ended.
func (ws *watches) remember(a *watchedRun) {
	w := ws.byJob[a.jobID]
	if w == nil || a.told.Key == "" {
		return
	}
	if len(w.ended) == maxEnded {
		w.ended = slices.Delete(w.ended, 0, 1)
	}
	w.ended = append(w.ended, keyedRun{a.attempt, a.told.Key})
}

// spoke notes that the end of the latest silent run has been told after all.
func (ws *watches) spoke(b *builder, id uint32) {
	w := ws.byJob[id]
	w.silent = 0
	ws.write(b, id, w)
}

// waiting returns how many pings of a job wait for fires.
func (ws *watches) waiting(name job.Name) (n int) {
	for _, p := range ws.early {
		if p.Job == name {
			n++
		}
	}
	return n
}

// wait enters a ping that waits for a fire.
func (ws *watches) wait(p *earlyPing) {
	at, _ := slices.BinarySearchFunc(ws.early, p.fire, func(other *earlyPing, fire int64) int { return cmp.Or(cmp.Compare(other.fire, fire), -1) })
	ws.early = slices.Insert(ws.early, at, p)
}

// keep keeps a ping until a fire is decided. The caller has found room for a message.
func (ws *watches) keep(b *builder, p ping, fire int64) {
	short := *p.Ping
	if over := len(short.Output) - maxEarlyOutput; over > 0 {
		short.Output, short.OutputCut = short.Output[over:], short.OutputCut+over
	}
	p.Ping = &short
	ws.wait(&earlyPing{ping: p, fire: fire, item: b.deferred(b.cfg.Shard, &journal.Deferred{
		Kind: journal.DeferredEarly, Job: p.Job, Ping: p.Ping, Since: instant(p.at), Due: instant(fire),
	})})
}

// ping is a ping with the instant of what it tells, in Unix milliseconds by JetStream's clock.
type ping struct {
	*bus.Ping
	at int64
}

// begun returns when the run began of which p tells.
func (p ping) begun() int64 { return p.at - p.Took.Milliseconds() }

// elsewhere reports whether runs of the job's newest version are done elsewhere.
func (e *entry) elsewhere() bool {
	if len(e.plans) == 0 {
		return false
	}
	p := e.newest()
	return p.Watch != nil && !p.Deleted
}
