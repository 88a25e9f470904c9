package audit

import (
	"slices"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/trail"
)

// Filter selects entries. Each field that is set must hold; the zero filter is all.
type Filter struct {
	User      string
	Operation string
	Object    string   // a part of it
	Job       job.Name // changed alone, or as one of many
	Group     string
	Result    trail.Result
	From, To  time.Time // in [From, To)
}

func (f *Filter) selects(e *trail.Entry) bool {
	return (f.User == "" || e.User == f.User) &&
		(f.Operation == "" || e.Operation == f.Operation) &&
		(f.Object == "" || strings.Contains(e.Object, f.Object)) &&
		(f.Job == "" || isOf(e, f.Job)) &&
		(f.Group == "" || e.Group == f.Group) &&
		(f.Result == "" || e.Result == f.Result) &&
		(f.From.IsZero() || !e.At.Before(f.From)) &&
		(f.To.IsZero() || e.At.Before(f.To))
}

// isOf reports whether an entry is of a change of a job.
func isOf(e *trail.Entry, name job.Name) bool {
	return e.Object == "job "+string(name) ||
		e.Operation == trail.PatchJobs && slices.ContainsFunc(e.Changes, func(c trail.Change) bool { return c.Field == string(name) })
}
