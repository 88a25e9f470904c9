package month

import (
	"context"
	"slices"
	"strings"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/audit"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/job/trail"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/catalog"
)

// mostLooked is how many changes of each kind are looked at.
const mostLooked = 500

// kinds are the operations that change how jobs run, and whether what they change is of one group.
var kinds = []struct {
	operation string
	grouped   bool
}{{putJob, true}, {"deleteJob", true}, {"putGroup", true}, {trail.PatchJobs, false}, {"putCalendar", false}, {"deleteCalendar", false}}

// putJob is what an entry of [trail.PatchJobs] stands for, once for each job.
const putJob = "putJob"

// addChanges adds what was changed in the month and the caller may see. Calendars concern all
// groups.
func (m *making) addChanges(ctx context.Context, of catalog.Of) error {
	m.Changes = []api.MonthChange{}
	for _, kind := range kinds {
		f := audit.Filter{Operation: kind.operation, Result: trail.Done, From: m.now.from, To: m.now.to}
		if kind.grouped {
			f.Group = of.Group
		}
		found, err := m.audit.Find(ctx, f, "", mostLooked)
		if err != nil {
			return err
		}
		m.MoreChanges = m.MoreChanges || found.Next != ""
		for i := range found.Entries {
			for _, e := range apart(&found.Entries[i]) {
				if m.concerns(ctx, &e) {
					m.Changes = append(m.Changes, api.MonthChange{At: e.At, User: e.User, Operation: e.Operation, Object: e.Object, Note: e.Note})
				}
			}
		}
	}
	slices.SortStableFunc(m.Changes, func(a, b api.MonthChange) int { return b.At.Compare(a.At) })
	if len(m.Changes) > mostChanges {
		m.Changes, m.MoreChanges = m.Changes[:mostChanges], true
	}
	return nil
}

// apart returns the entry as it is, unless it is of many jobs: then one entry for each job that got a new version.
func apart(e *trail.Entry) (each []trail.Entry) {
	if e.Operation != trail.PatchJobs {
		return []trail.Entry{*e}
	}
	for _, c := range e.Changes {
		if name, err := job.ParseName(c.Field); err == nil { // else it is a field of theirs
			of := *e
			of.Operation, of.Object, of.Group = putJob, ofJob+string(name), name.Group()
			each = append(each, of)
		}
	}
	return each
}

// ofJob begins the object of an entry that is of a job.
const ofJob = "job "

// concerns reports whether a change is of the report's jobs, and the caller may see it: the versions of
// a job and the limits of a group are seen by its viewers, and calendars by everybody.
func (m *making) concerns(ctx context.Context, e *trail.Entry) bool {
	if e.Group == "" {
		return true
	}
	if m.Group != "" && e.Group != m.Group || !access.Who(ctx).Access.May(rights.Viewer, e.Group) {
		return false
	}
	name, isJob := strings.CutPrefix(e.Object, ofJob)
	if m.scope.Names == nil || !isJob {
		return true
	}
	return slices.Contains(m.scope.Names, job.Name(name))
}
