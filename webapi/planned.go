package webapi

import (
	"context"
	"errors"
	"sync"

	"carillon/job"
)

// plan is when a job fires. It is worked out when somebody first asks for it, and then kept
// beside the definition: to decode ten thousand of those takes 70 ms, and an overview asks
// for all of them every few seconds.
type plan struct {
	once  sync.Once
	fires job.Plan
	ok    bool // not of a job that was valid where it was saved, and is not here
	err   error
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

// eachPlan calls yield for the plans of the jobs that match and the caller sees, in order
// of name, until it returns false. It waits for the index to be loaded. Jobs that are not
// valid on this machine are left out.
func (x *index) eachPlan(ctx context.Context, q query, yield func(job.Plan) bool) error {
	if err := x.wait(ctx); err != nil {
		return err
	}
	q.groups = seen(ctx)
	x.mu.RLock()
	found := make([]indexed, 0, len(x.list))
	x.each(&q, func(j *indexed) { found = append(found, *j) })
	jobs := len(x.list)
	x.mu.RUnlock()
	for i := range found {
		p := found[i].plan
		p.once.Do(func() { p.work(&found[i], x.planners.next(jobs)) })
		if p.err != nil {
			return p.err
		}
		if p.ok && !yield(p.fires) {
			return nil
		}
	}
	return nil
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
