package catalog

import (
	"context"
	"errors"
	"slices"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

// checkChildren refuses children that lead back to the job itself, and new ones that
// the caller could not run: the job's runs will.
func (c *Catalog) checkChildren(ctx context.Context, was *bus.JobEntry, wish job.Job) error {
	theirs := access.Who(ctx).Access
	for _, c := range wish.Children {
		known := was != nil && !was.Deleted && slices.ContainsFunc(was.Children, func(old job.Child) bool { return old.Job == c.Job })
		if !known && !theirs.May(rights.Operator, c.Job.Group()) {
			return problem.Explain(problem.ErrForbidden, reason.NeedsChildRole.With(c.Job, c.Job.Group()))
		}
	}
	return c.refuseCycle(ctx, wish)
}

// refuseCycle returns an error when the job would run, over some children, after itself.
func (c *Catalog) refuseCycle(ctx context.Context, wish job.Job) error {
	var failed error
	err := wish.RefuseCycle(func(name job.Name) []job.Child {
		entry, err := c.conn.Jobs().Get(ctx, name)
		switch {
		case err == nil:
			return entry.Children
		case !errors.Is(err, job.ErrNotFound): // a child may be saved after its parent
			failed = err
		}
		return nil
	})
	if failed != nil {
		return failed
	}
	return err
}
