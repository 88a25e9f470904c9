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
}{{"putJob", true}, {"deleteJob", true}, {"putGroup", true}, {"putCalendar", false}, {"deleteCalendar", false}}

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
			if e := &found.Entries[i]; m.concerns(ctx, e, kind.grouped) {
				m.Changes = append(m.Changes, api.MonthChange{At: e.At, User: e.User, Operation: e.Operation, Object: e.Object, Note: e.Note})
			}
		}
	}
	slices.SortStableFunc(m.Changes, func(a, b api.MonthChange) int { return b.At.Compare(a.At) })
	if len(m.Changes) > mostChanges {
		m.Changes, m.MoreChanges = m.Changes[:mostChanges], true
	}
	return nil
}

// concerns reports whether a change is of the report's jobs, and the caller may see it: the versions of
// a job and the limits of a group are seen by its viewers, and calendars by everybody.
func (m *making) concerns(ctx context.Context, e *trail.Entry, grouped bool) bool {
	if !grouped {
		return true
	}
	if !access.Who(ctx).Access.May(rights.Viewer, e.Group) {
		return false
	}
	name, ofJob := strings.CutPrefix(e.Object, "job ")
	if m.scope.Names == nil || !ofJob {
		return true
	}
	return slices.Contains(m.scope.Names, job.Name(name))
}
