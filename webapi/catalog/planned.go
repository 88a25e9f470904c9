package catalog

import (
	"cmp"
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"

	"github.com/carillon-scheduler/carillon/job"
)

// plan is when a job fires. It is worked out when somebody first asks for it, and then kept
// beside the definition: to decode ten thousand of those takes 70 ms, and an overview asks
// for all of them every few seconds.
type plan struct {
	once  sync.Once
	fires job.Plan
	ok    bool // not of a job that was valid where it was saved, and is not here
	err   error
	next  atomic.Int64 // the fire that due has found; 0: none yet
}

// planners make plans that share their rules where these are equal. A planner keeps all
// that it ever made, so now and then it makes way for another.
type planners struct {
	mu      sync.Mutex // guards all below
	present *job.Planner
	made    int
}

// next returns who makes the next plan, of about so many that there are.
func (p *planners) next(jobs int) *job.Planner {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.made++; p.present == nil || p.made > 2*jobs+1000 {
		p.present, p.made = &job.Planner{}, 0
	}
	return p.present
}

// eachPlan calls yield with the plans of the jobs that match and the caller sees, in order
// of name, until it returns false. It waits for the index to be loaded. Jobs that are not
// valid on this machine are left out.
func (x *index) eachPlan(ctx context.Context, q query, yield func(job.Name, job.Plan) bool) error {
	matching, err := x.copies(ctx, q)
	if err != nil {
		return err
	}
	for i := range matching {
		p, err := x.planOf(&matching[i])
		if err != nil {
			return err
		}
		if p.ok && !yield(matching[i].name, p.fires) {
			return nil
		}
	}
	return nil
}

// planOf returns when a job fires, as it was copied from the index.
func (x *index) planOf(j *indexed) (*plan, error) {
	p := j.plan
	p.once.Do(func() { p.work(j, x.planners.next(x.len())) })
	return p, p.err
}

// never is the next fire of a plan that has none any more.
const never = math.MaxInt64

// due returns when a job fires next after now, in Unix milliseconds, once a pause that has an end
// is over, and at or after from, when its group is no longer paused; 0 if its schedule has no such
// fire. It is kept until it has passed: ten thousand of them take 20 ms.
func (x *index) due(j *indexed, now, from int64) (int64, error) {
	p, err := x.planOf(j)
	if err != nil || !p.ok {
		return 0, err
	}
	after := max(now, j.until-1)
	if from > after+1 { // not kept: somebody may resume the group before
		return p.after(from - 1), nil
	}
	due := p.next.Load()
	if due <= after {
		due = cmp.Or(p.after(after), never)
		p.next.Store(due)
	}
	if due == never {
		return 0, nil
	}
	return due, nil
}

// after returns when the plan has its next fire after an instant; 0 if it has none. Calendars, which
// may move it, do not count.
func (p *plan) after(after int64) int64 {
	for {
		due, ok := job.History{p.fires}.NextDue(after)
		switch {
		case !ok:
			return 0
		case p.fires.Nominal(due - p.fires.Offset):
			return due
		}
		after = due
	}
}

func (p *plan) work(j *indexed, planner *job.Planner) {
	entry, err := j.entry()
	if err != nil {
		p.err = err
		return
	}
	p.fires, err = planner.Plan(&entry.Version)
	if p.ok = err == nil; !errors.Is(err, job.ErrInvalid) {
		p.err = err
	}
}
