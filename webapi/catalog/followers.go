package catalog

import (
	"context"
	"errors"
	"slices"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

// checkFollowers refuses children and called jobs that lead back to the job itself, and new ones that
// the caller could not run: the job's runs will. It refuses to wait for runs that the caller could not see.
func (c *Catalog) checkFollowers(ctx context.Context, was *bus.JobEntry, wish job.Job) error {
	theirs := access.Who(ctx).Access
	var known []job.Name
	if was != nil && !was.Deleted {
		known = was.Followers()
	}
	for _, name := range wish.Followers() {
		if !slices.Contains(known, name) && !theirs.May(rights.Operator, name.Group()) {
			return problem.Explain(problem.ErrForbidden, refusal.NeedsFollowerRole.With(name, name.Group()))
		}
	}
	if was != nil && !was.Deleted {
		known = was.Awaited()
	}
	for _, name := range wish.Awaited() {
		if !slices.Contains(known, name) && !theirs.May(rights.Viewer, name.Group()) {
			return problem.Explain(problem.ErrForbidden, refusal.NeedsAwaitedRole.With(name, name.Group()))
		}
	}
	return c.refuseCycle(ctx, wish)
}

// refuseCycle returns an error when the job would run, over some children or calls, because of itself.
func (c *Catalog) refuseCycle(ctx context.Context, wish job.Job) error {
	var failed error
	err := wish.RefuseCycle(func(name job.Name) []job.Name {
		entry, err := c.conn.Jobs().Get(ctx, name)
		switch {
		case err == nil:
			return entry.Followers()
		case !errors.Is(err, job.ErrNotFound): // it may be saved later
			failed = err
		}
		return nil
	})
	if failed != nil {
		return failed
	}
	return err
}
