package shard

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// simRequest is a request for a run, and whether its answer has come.
type simRequest struct {
	bus.TriggerRequest
	at       int64
	answered bool
}

// ask asks for a run, maybe twice.
func (w *world) ask(o *owner) {
	name := w.names[w.rng.IntN(len(w.names))]
	var r bus.TriggerRequest
	if again := w.chance(30); again {
		r = w.retryOf(name)
	} else {
		id := job.FireRunID(name, w.clock, job.Cause(strconv.Itoa(len(w.asked)))) // random, but repeatable
		r = bus.TriggerRequest{RunID: id, Job: name, Cause: job.CauseManual}
	}
	if r.RunID == "" {
		return
	}
	if w.chance(30) {
		r.Params = json.RawMessage(simCustomers[w.rng.IntN(len(simCustomers))])
	}
	if _, err := o.m.Requests.Submit(r); err != nil {
		return
	}
	w.say("run %s of %s is asked for (%s %s)", r.RunID, r.Job, r.Cause, r.RetryOf)
	w.asked[r.RunID] = false
	w.asking = append(w.asking, simRequest{TriggerRequest: r, at: w.clock})
	if w.chance(20) {
		if done, err := o.m.Requests.Submit(r); err != nil || done != nil {
			fail("asked again: done %v, %v", done, err)
		}
	}
}

// retryOf returns a request to do an ended run of a job again, or one without an id
// when there is none.
func (w *world) retryOf(name job.Name) bus.TriggerRequest {
	var ended []job.RunID
	for id, at := range w.lives.ended {
		if l := w.lives.byRun[id]; l != nil && l.job == name && at != 0 {
			ended = append(ended, id)
		}
	}
	for id, r := range w.runs {
		if r.trigger.Job == name && r.ended() && w.lives.byRun[id] == nil {
			ended = append(ended, id)
		}
	}
	if len(ended) == 0 {
		return bus.TriggerRequest{}
	}
	slices.Sort(ended)
	of := ended[w.rng.IntN(len(ended))]
	r := bus.TriggerRequest{RunID: job.RetryRunID(of, strconv.Itoa(len(w.asked))), Job: name, Cause: job.CauseRerun, RetryOf: of}
	if w.chance(50) {
		if v := w.someVersion(name); v != nil {
			r.Version, r.Body = v.Version, bodyText(v)
		}
	}
	if p := w.inPieces[of]; p != nil && p.over && p.total > 0 && w.chance(70) {
		states := []byte(strings.Repeat("w", p.total))
		for i := 1; i < len(states); i++ {
			if w.chance(60) {
				states[i] = bus.PieceSucceeded
			}
		}
		r.Pieces = &bus.Pieces{States: string(states), Items: p.items}
	}
	return r
}

// someVersion returns a version of a job as it was saved.
func (w *world) someVersion(name job.Name) *job.Version {
	var versions []*job.Version
	for _, change := range w.changes {
		switch c := change.(type) {
		case *job.Version:
			if c.Job.Job == name && !c.Deleted {
				versions = append(versions, c)
			}
		case forgotten:
			if job.Name(c) == name {
				versions = nil
			}
		}
	}
	if len(versions) == 0 {
		return nil
	}
	return versions[w.rng.IntN(len(versions))]
}

// noteAsked notes when runs were made that were asked for, by the clock of whoever made them.
func (w *world) noteAsked(b *stored, now int64) {
	w.furthest = max(w.furthest, now)
	for _, item := range b.deferred {
		for _, made := range item.Asked {
			for i := range w.asking {
				if w.asking[i].RunID == made.ID {
					w.asking[i].at = item.Since.UnixMilli()
				}
			}
		}
	}
}

// told notes that the askers of a batch's runs have their answers.
func (w *world) told(b *Batch) {
	for _, a := range b.Asked {
		for i := range w.asking {
			w.asking[i].answered = w.asking[i].answered || w.asking[i].RunID == a.RunID
		}
	}
}

// askAgain repeats a request, as somebody does who had no answer, or lost it. If its run
// is stored, no owner makes a second one, as long as less than AskedFor has passed by the clocks of
// all owners: one whose clock is that far ahead decides nothing in the real world.
func (w *world) askAgain(o *owner) {
	if len(w.asking) == 0 {
		return
	}
	r := w.asking[w.rng.IntN(len(w.asking))]
	since := max(w.clock+o.skew, w.furthest) - r.at
	if since < -10_000 || since > AskedFor.Milliseconds()/2 || !slices.Contains(slices.Collect(maps.Keys(o.known.jobs)), r.Job) {
		return
	}
	done, err := o.m.Requests.Submit(r.TriggerRequest)
	if err != nil {
		return // the job has been deleted meanwhile
	}
	w.say("run %s is asked for again", r.RunID)
	if r.answered && done == nil && o.batch == nil {
		fail("run %s of %s was made %d ms ago, and is not known any more", r.RunID, r.Job, since)
	}
}
