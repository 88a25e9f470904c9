package shard

import (
	"encoding/json"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/journal"
)

// arrival is the end of a parent's run, told to a child.
type arrival struct {
	*journal.ParentEnd
	child  job.Name
	joined []job.RunID       // the runs of all parents, of a child that joins several
	letter *journal.LetterID // nil: the parent's shard is in the same partition
	item   *item
}

// children tells the children of jobs that runs of these have ended, and runs the jobs of this shard
// whose parents' runs have.
type children struct {
	cfg     *Config
	jobs    *jobs
	items   *items
	cluster *Cluster
	relay   *Relay
	runs    *runs

	arrived []*arrival                         // without effect yet
	joins   map[uint32]map[job.Name][]*arrival // by id of the child, and parent: ends that wait for those of the other parents
}

// tell reports the end of a run to the owners of the job's children. A run that never began has no
// children.
func (ch *children) tell(b *builder, a *watchedRun, s job.Status, result json.RawMessage, at int64) {
	e := ch.jobs.at(a.jobID)
	if s == job.StatusSkipped || s == job.StatusMissed || e.newest().Deleted {
		return
	}
	for _, c := range e.newest().Children {
		d := &journal.Deferred{Kind: journal.DeferredChild, Job: c.Job, Parent: &journal.ParentEnd{
			Job: e.name, RunID: a.runID, Status: s, Met: c.Wants(s), At: instant(at), Depth: a.depth + 1,
		}}
		if c.PassResult {
			d.Parent.Params = result
		}
		n := c.Job.Shard(ch.cfg.Shards)
		if ch.cfg.Partitions.Of(n) != ch.cfg.Partitions.Of(ch.cfg.Shard) {
			d.Kind, d.Letter = journal.DeferredLetter, &journal.LetterID{From: ch.cfg.Shard, At: journal.LetterMark{Made: ch.relay.made}}
			ch.relay.keep(d, b.deferred(ch.cfg.Shard, d))
			continue
		}
		i := b.deferred(n, d)
		if n == ch.cfg.Shard {
			b.placed[len(b.placed)-1].left = true
			ch.arrived = append(ch.arrived, &arrival{ParentEnd: d.Parent, child: c.Job, item: i})
		} else {
			b.nudges[n] = true
		}
	}
}

// arrive runs children whose parents have ended, as far as b has room.
func (ch *children) arrive(b *builder) {
	for len(ch.arrived) > 0 && b.fits(3) {
		a := ch.arrived[0]
		ch.arrived = ch.arrived[1:]
		if !ch.relay.passes(a) {
			ch.items.release(a.item)
			continue
		}
		ch.arriveAt(b, a)
		ch.adopt(b, a)
	}
}

func (ch *children) arriveAt(b *builder, a *arrival) {
	id, ok := ch.jobs.find(a.child)
	if !ok || ch.jobs.at(id).newest().Deleted {
		if a.Met {
			b.record.addRun(a.child, childRun(a, 0), job.StatusSkipped, "there is no such job any more")
		}
		ch.items.release(a.item)
		return
	}
	p := ch.jobs.at(id).newest()
	if len(p.Join) == 0 {
		if a.Met {
			ch.want(b, id, a)
		}
		ch.items.release(a.item)
		return
	}
	ch.join(b, id, a)
}

// childRun returns the run that a child owes to the end of a parent.
func childRun(a *arrival, version int32) attempt {
	at := a.At.UnixMilli()
	return attempt{
		runID: job.ChildRunID(a.child, a.RunID, at), version: version, number: 1, cause: job.CauseParent, fireTime: at, parent: a.RunID, depth: a.Depth,
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
	case a.Depth > job.MaxChain:
		f = admission{status: job.StatusSkipped, reason: reason.ParentsTooDeep.With(a.Depth)}
	default:
		if len(a.Params) > 0 {
			with, given, err := body.withResult(a.Params, r.fireTime)
			if err != nil {
				f = admission{status: job.StatusSkipped, reason: reason.ParentResult.With(err)}
				break
			}
			body, r.given = with, given
		}
		f = ch.runs.admit(b, id, r, body)
	}
	r.total, r.joined = f.total, a.joined
	b.record.addRun(e.name, r, f.status, f.reason)
}

// join keeps the end of a parent until there is one of each of the child's parents, and then
// consumes one of each. The run follows the latest of them.
func (ch *children) join(b *builder, id uint32, a *arrival) {
	e := ch.jobs.at(id)
	ends := ch.joins[id]
	if ends == nil {
		ends = map[job.Name][]*arrival{}
		ch.joins[id] = ends
	}
	ends[a.Job] = append(ends[a.Job], a)
	var together []*arrival
	for _, parent := range e.newest().Join {
		waiting := ends[parent]
		if len(waiting) == 0 {
			return
		}
		together = append(together, waiting[0])
	}
	last, unmet := together[0], (*arrival)(nil)
	var runs []job.RunID
	for _, t := range together {
		runs = append(runs, t.RunID)
		if ends[t.Job] = ends[t.Job][1:]; len(ends[t.Job]) == 0 {
			delete(ends, t.Job)
		}
		ch.items.release(t.item)
		if t.At.After(last.At) {
			last = t
		}
		if !t.Met {
			unmet = t
		}
	}
	if len(ends) == 0 {
		delete(ch.joins, id)
	}
	if unmet == nil {
		end := *last.ParentEnd
		end.Params = resultsOf(together)
		ch.want(b, id, &arrival{ParentEnd: &end, child: last.child, joined: runs, item: last.item})
		return
	}
	r := childRun(last, e.newest().Version)
	r.joined = runs
	b.record.addRun(e.name, r, job.StatusSkipped, reason.ParentEnded.With(unmet.Job, unmet.Status, unmet.RunID))
}

// resultsOf returns what a child of several parents gets: the results of those that pass theirs on, by the
// name of the parent.
func resultsOf(parents []*arrival) json.RawMessage {
	results := map[job.Name]json.RawMessage{}
	for _, p := range parents {
		if len(p.Params) > 0 {
			results[p.Job] = p.Params
		}
	}
	if len(results) == 0 {
		return nil
	}
	data, err := json.Marshal(results)
	if err != nil {
		panic("BUG: encode results that were read as JSON: " + err.Error())
	}
	return data
}

// adopt writes a copy of an end from another partition that has to wait, as if it came from this shard:
// the mark has passed it, and a successor would take it for a repeat.
func (ch *children) adopt(b *builder, a *arrival) {
	if a.letter == nil || a.item.gone {
		return
	}
	ch.items.release(a.item)
	a.letter, a.item = nil, b.deferred(ch.cfg.Shard, &journal.Deferred{Kind: journal.DeferredChild, Job: a.child, Parent: a.ParentEnd})
	b.placed[len(b.placed)-1].left = true
}

// restore enters the end of a parent that was found on the stream.
func (ch *children) restore(d *journal.Deferred, i *item) {
	ch.arrived = append(ch.arrived, &arrival{ParentEnd: d.Parent, child: d.Job, letter: d.Letter, item: i})
}

// forget drops the ends that wait for those of other parents, for a job that is removed.
func (ch *children) forget(id uint32) {
	for _, waiting := range ch.joins[id] {
		for _, a := range waiting {
			ch.items.release(a.item)
		}
	}
	delete(ch.joins, id)
}
