package shard

import (
	"encoding/json"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

// simCustomers are parameters of runs, with the value that the keys of jobs have for them.
var simCustomers = []string{`{"asked":true}`, `{"customer":"a"}`, `{"customer":"b"}`, `{"customer":7}`}

// keys gives the rule for overlap of a random job a key.
func (w *world) keys(j *job.Job) {
	if j.Overlap.Policy == job.OverlapAllow || !w.chance(50) {
		return
	}
	j.Overlap.Key = "${params.customer}"
	if j.Overlap.Policy != job.OverlapReplace && w.chance(50) {
		j.Overlap.Total = j.Overlap.Limit + w.rng.IntN(3)
	}
	w.lives.keyed[j.Job] = true
}

// customersOf returns the customers of the runs that a batch triggers, or writes items of.
func customersOf(b *stored) map[job.RunID]string {
	all := map[job.RunID]string{}
	note := func(t *bus.Trigger) {
		var params struct {
			Customer json.RawMessage `json:"customer"`
		}
		if json.Unmarshal(t.Params, &params) == nil { // else the result of a parent, which is no object
			all[t.RunID] = string(params.Customer)
		}
	}
	for _, t := range b.triggers {
		note(t)
	}
	for _, d := range b.deferred {
		switch d.Kind { //nolint:exhaustive // the others are of no run
		case journal.DeferredQueued, journal.DeferredAlive, journal.DeferredPieces:
			if t, err := bus.DecodeTrigger(nil, d.Trigger); err == nil {
				note(t)
			}
		}
	}
	return all
}

// laneRuns are how many runs of a job, or of one of its customers, are alive and queued.
type laneRuns struct{ alive, queued int }

// lanes counts the runs of a job by customer, and all of them.
func (ls *lives) lanes(name job.Name) (of map[string]laneRuns, all laneRuns) {
	of = map[string]laneRuns{}
	for _, r := range ls.byRun {
		l := of[r.customer]
		switch {
		case r.job != name, ls.w.backfills.of[r.id] != nil:
			continue
		case r.status == job.StatusPending, r.status == job.StatusQueued && (r.retry || r.lacks):
			l.alive++
			all.alive++
		case r.status == job.StatusQueued:
			l.queued++
			all.queued++
		}
		of[r.customer] = l
	}
	return of, all
}

// checkLanes holds the runs of jobs with an overlap key against the rule for each value of it, and for all.
func (ls *lives) checkLanes(d delivery) {
	for name := range ls.keyed {
		versions := d.known.jobs[name]
		if len(versions) == 0 || ls.edited[name] {
			continue
		}
		o := versions[len(versions)-1].Overlap
		of, all := ls.lanes(name)
		if o.Total > 0 && all.alive > o.Total {
			fail("%d runs of %s are alive, and %d may be: %s", all.alive, name, o.Total, ls.tell(name))
		}
		for customer, l := range of {
			if l.alive > o.Limit {
				fail("%d runs of customer %s of %s are alive, and %d may be: %s", l.alive, customer, name, o.Limit, ls.tell(name))
			}
			if o.Policy == job.OverlapQueue && l.queued > o.Queue || o.Policy == job.OverlapReplace && l.queued > 1 {
				fail("%d runs of customer %s of %s wait, and the rule is %+v", l.queued, customer, name, o)
			}
		}
	}
}

// checkPlaces looks at a machine that has nothing more to do: no run waits while there is a place for it.
func (ls *lives) checkPlaces(k *knowledge) {
	for name := range ls.keyed {
		versions := k.jobs[name]
		if len(versions) == 0 || ls.edited[name] {
			continue
		}
		o := versions[len(versions)-1].Overlap
		of, all := ls.lanes(name)
		for customer, l := range of {
			if l.queued > 0 && l.alive < o.Limit && (o.Total == 0 || all.alive < o.Total) {
				fail("%d runs of customer %s of %s wait while %d of all %d are alive, and the rule is %+v", l.queued, customer, name, l.alive, all.alive, o)
			}
		}
	}
}
