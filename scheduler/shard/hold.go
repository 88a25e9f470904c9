package shard

import (
	"cmp"
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

// Hold takes a request to put a workflow's run on hold or to resume it, as [Requests.Submit] takes one for a run. The error
// is a job.ErrConflict if the run is none of a workflow, has not begun, or has ended.
func (q *Requests) Hold(r bus.HoldRequest) (done *Asked, err error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	if asked, ok := q.recent.runs[r.ID]; ok {
		return &asked, nil
	}
	if q.asked[r.ID] {
		return nil, nil
	}
	if _, why := q.holdable(&r); why != "" {
		return nil, fmt.Errorf("%w: %s", job.ErrConflict, why)
	}
	q.holds = append(q.holds, r)
	q.asked[r.ID] = true
	return nil, nil
}

// holdable returns the run that a request is about, or why it cannot be met now.
func (q *Requests) holdable(r *bus.HoldRequest) (a *watchedRun, why string) {
	a = q.runs.byID[r.RunID]
	switch {
	case a == nil || a.job != r.Job || a.of != nil:
		return nil, refusal.RunNotAlive.With(r.RunID, r.Job)
	case a.steps == nil && a.body.Value().inSteps:
		return nil, refusal.RunHasNotBegun.With(r.RunID)
	case a.steps == nil:
		return nil, refusal.RunHasNoSteps.With(int(a.version), a.job)
	}
	return a, ""
}

// hold meets the requests to put runs on hold, and to resume them.
func (q *Requests) hold(b *builder) {
	for len(q.holds) > 0 && b.fits(roomAsked) {
		r := q.holds[0]
		q.holds = q.holds[1:]
		answer := Asked{RunID: r.ID, Of: r.RunID}
		if a, why := q.holdable(&r); why != "" { // since it was asked for
			answer.Reason = why
		} else {
			answer.Version, answer.Status = int(a.version), a.steps.status()
			if h := a.steps.changeHold(&r, b.now); h != nil {
				b.record.addRun(a.job, a.attempt, answer.Status, "").Hold = h
				b.record.size += len(h.Text())
				q.runs.steps.changed(b, a)
				q.runs.steps.sendLater(a)
			}
		}
		b.note(answer)
	}
}

// changeHold puts a run on hold, or resumes it. It returns nil if that is so already.
func (p *runSteps) changeHold(r *bus.HoldRequest, now time.Time) *runlog.Hold {
	was := p.ending.Hold
	if was.Held() != r.Resume {
		return nil
	}
	at := cmp.Or(r.At.UTC(), now)
	h := &runlog.Hold{Since: at, By: r.By, Note: r.Note, Change: 1}
	if was != nil {
		h.Change = was.Change + 1
	}
	if r.Resume {
		h.Since, h.By, h.Note = was.Since, was.By, was.Note
		h.ResumedAt, h.ResumedBy = at, r.By
	}
	p.ending.Hold = h
	return h
}

// status is what a run is that has not ended.
func (p *runSteps) status() job.Status {
	if p.begun() {
		return job.StatusRunning
	}
	return job.StatusPending
}
