package shard

import (
	"encoding/json"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/journal"
)

// arrival is a letter to the owner of a job: the end of a parent's run, or of a call.
type arrival struct {
	*journal.Deferred
	item *item
}

// children tells the children of jobs that runs of these have ended, and runs the jobs of this shard
// whose parents' runs have. call.go has what steps of workflows and the jobs that they call tell each other.
type children struct {
	cfg     *Config
	jobs    *jobs
	items   *items
	cluster *Cluster
	relay   *Relay
	runs    *runs

	arrived   []*arrival       // without effect yet
	forgotten []*forgottenCall // whose callers are to be told
}

// tell reports the end of a run to the owners of those of the job's children that run after such an end. A run
// that never began has no children.
func (ch *children) tell(b *builder, a *watchedRun, s job.Status, result json.RawMessage, at int64) {
	e := ch.jobs.at(a.jobID)
	if s == job.StatusSkipped || s == job.StatusMissed || e.newest().Deleted {
		return
	}
	for _, c := range e.newest().Children {
		if !c.Wants(s) {
			continue
		}
		d := &journal.Deferred{Job: c.Job, Parent: &journal.ParentEnd{
			Job: e.name, RunID: a.runID, Status: s, At: instant(at), Depth: a.depth + 1,
		}}
		if c.PassResult {
			d.Parent.Params = result
		}
		ch.post(b, d)
	}
}

// post leaves a letter for the owner of a job.
func (ch *children) post(b *builder, d *journal.Deferred) {
	d.Kind = journal.DeferredChild
	n := d.Job.Shard(ch.cfg.Shards)
	if ch.cfg.Partitions.Of(n) != ch.cfg.Partitions.Of(ch.cfg.Shard) {
		d.Kind, d.Letter = journal.DeferredLetter, &journal.LetterID{From: ch.cfg.Shard, At: journal.LetterMark{Made: ch.relay.made}}
		ch.relay.keep(d, b.deferred(ch.cfg.Shard, d))
		return
	}
	i := b.deferred(n, d)
	if n == ch.cfg.Shard {
		b.placed[len(b.placed)-1].left = true
		ch.restore(d, i)
	} else {
		b.nudges[n] = true
	}
}

// arrive gives letters their effect, as far as b has room.
func (ch *children) arrive(b *builder) {
	for len(ch.arrived) > 0 && ch.fits(b, ch.arrived[0]) {
		a := ch.arrived[0]
		ch.arrived = ch.arrived[1:]
		if ch.relay.passes(a) {
			ch.arriveAt(b, a)
		}
		ch.items.release(a.item)
	}
}

// fits reports whether b has room for what follows from a letter.
func (ch *children) fits(b *builder, a *arrival) bool {
	room := 3
	if id, ok := ch.jobs.find(a.Job); ok && (a.CallEnd != nil || a.CallOff != nil) {
		room = max(room, ch.runs.follows(id))
	}
	return b.fits(room)
}

func (ch *children) arriveAt(b *builder, a *arrival) {
	switch {
	case a.Call != nil:
		ch.called(b, a.Job, a.Call)
	case a.CallEnd != nil:
		ch.runs.steps.answer(b, a.CallEnd)
	case a.CallOff != nil:
		ch.callOff(b, a.CallOff)
	default:
		ch.parentEnded(b, a)
	}
}

func (ch *children) parentEnded(b *builder, a *arrival) {
	id, ok := ch.jobs.find(a.Job)
	if !ok || ch.jobs.at(id).newest().Deleted {
		b.record.addRun(a.Job, childRun(a, 0), job.StatusSkipped, "there is no such job any more")
		return
	}
	ch.want(b, id, a)
}

// childRun returns the run that a child owes to the end of a parent.
func childRun(a *arrival, version int32) attempt {
	at := a.Parent.At.UnixMilli()
	return attempt{
		runID: job.ChildRunID(a.Job, a.Parent.RunID, at), version: version, number: 1, cause: job.CauseParent, fireTime: at,
		parent: a.Parent.RunID, depth: a.Parent.Depth,
	}
}

// want admits the child's run, unless there is a reason against it.
func (ch *children) want(b *builder, id uint32, a *arrival) {
	e := ch.jobs.at(id)
	p := e.newest()
	r := childRun(a, p.Version)
	body := e.newestBody()
	var f admission
	switch why := ch.cluster.whyPaused(e.name.Group(), p, b.now.UnixMilli()); {
	case why != "":
		f = admission{status: job.StatusSkipped, reason: why}
	case r.depth > job.MaxChain:
		f = admission{status: job.StatusSkipped, reason: reason.ParentsTooDeep.With(r.depth)}
	default:
		if len(a.Parent.Params) > 0 {
			with, given, err := body.withResult(a.Parent.Params, r.fireTime)
			if err != nil {
				f = admission{status: job.StatusSkipped, reason: reason.ParentResult.With(err)}
				break
			}
			body, r.given = with, given
		}
		f = ch.runs.admit(b, id, r, body)
	}
	r.total = f.total
	b.record.addRun(e.name, r, f.status, f.reason)
}

// restore enters a letter that was found on the stream.
func (ch *children) restore(d *journal.Deferred, i *item) {
	ch.arrived = append(ch.arrived, &arrival{d, i})
}
