package catalog

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/webapi/access"
)

// Name is the name of a job, or else of a group, in a field of a document.
type Name struct {
	Field string
	Job   job.Name
	Group string
}

// Unknown returns a warning about each name of a job or a group that does not exist. The answer is the
// same for one that the caller does not see. It leaves out what cannot be checked now: the document has
// been saved.
func (c *Catalog) Unknown(ctx context.Context, names []Name) (warnings []api.FieldError) {
	if len(names) == 0 || !c.Loaded() {
		return nil
	}
	groups, err := c.view.Known(ctx)
	if err != nil {
		c.log.WarnContext(ctx, "names are not checked", "error", err)
		return nil
	}
	theirs := access.Who(ctx).Access
	for _, n := range names {
		switch {
		case n.Job != "":
			if !theirs.May(rights.Viewer, n.Job.Group()) || !c.index.has(n.Job) {
				warnings = append(warnings, warning(n.Field, refusal.JobUnknown.With(n.Job)))
			}
		case !theirs.May(rights.Viewer, n.Group) || !groups[n.Group]:
			warnings = append(warnings, warning(n.Field, refusal.GroupUnknown.With(n.Group)))
		}
	}
	return warnings
}

// UnknownGroups is Unknown for the groups of permissions, which are in a field.
func (c *Catalog) UnknownGroups(ctx context.Context, field string, list rights.List) []api.FieldError {
	var names []Name
	for i, a := range list {
		if !strings.HasSuffix(a.Group, rights.Everywhere) { // one group
			names = append(names, Name{Field: fmt.Sprintf("%s[%d].group", field, i), Group: a.Group})
		}
	}
	return c.Unknown(ctx, names)
}

func warning(field, why string) api.FieldError {
	return api.FieldError{Field: field, Reason: reason.Text(why)}
}

// checkFamily returns a warning about each child, each called job and each job whose runs are waited for that does not exist, as Unknown.
func (c *Catalog) checkFamily(ctx context.Context, wish *job.Job) (warnings []api.FieldError, err error) {
	for i, child := range wish.Children {
		known, err := isKnown(ctx, c.conn, child.Job)
		if err != nil {
			return nil, err
		}
		if !known {
			warnings = append(warnings, warning(fmt.Sprintf("children[%d].job", i), refusal.ChildUnknown.With(child.Job)))
		}
	}
	for i := range wish.Steps {
		field, other, why := fmt.Sprintf("steps[%d].call", i), wish.Steps[i].Call, refusal.ChildUnknown
		if w := wish.Steps[i].Wait; w != nil && w.Runs != nil && w.Runs.Job != wish.Job {
			field, other, why = fmt.Sprintf("steps[%d].wait.runs.job", i), w.Runs.Job, refusal.JobUnknown
		}
		if other == "" {
			continue
		}
		known, err := isKnown(ctx, c.conn, other)
		if err != nil {
			return nil, err
		}
		if !known {
			warnings = append(warnings, warning(field, why.With(other)))
		}
	}
	return warnings, nil
}

// isKnown reports whether there is a job that the caller may see.
func isKnown(ctx context.Context, conn *cluster.Conn, name job.Name) (bool, error) {
	if !access.Who(ctx).Access.May(rights.Viewer, name.Group()) {
		return false, nil
	}
	_, err := conn.Jobs().Get(ctx, name)
	if errors.Is(err, job.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}
