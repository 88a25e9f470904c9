package alert

import (
	"cmp"
	"slices"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
	"github.com/carillon-scheduler/carillon/job/clip"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/journal"
)

// isNews reports whether a line of a record about a run that is done elsewhere is something to judge. The second end
// of a run is not, as the first stands, nor is a run that was to be skipped: the job is paused, or a calendar excludes it.
func isNews(d *journal.Decided) bool {
	if d.Ping == nil {
		return true
	}
	switch code := reason.Read(d.Reason).Code; {
	case code == reason.PingAgain.Code:
		return false
	case d.Cause == job.CausePing:
		return code == reason.Unasked.Code || code == reason.PingBeforeDue.Code
	}
	return true
}

// takeLine takes in what a line of a record says of a run that is done elsewhere.
func (o *outcome) takeLine(d *journal.Decided) {
	code := reason.Read(d.Reason).Code
	if d.Ping == nil {
		o.away = code == reason.NoPingAway.Code
		return
	}
	o.unasked = d.Cause == job.CausePing && code == reason.Unasked.Code
	o.late = code == reason.ToldLate.Code || code == reason.CameLate.Code
	o.Message = clip.Text(cmp.Or(d.Ping.Said(), d.Reason), alerting.MaxMessage)
	if p := d.Ping; !p.StartedAt.IsZero() && p.FinishedAt.After(p.StartedAt) {
		o.Took = p.FinishedAt.Sub(p.StartedAt)
	}
}

// curesItself reports whether an outcome is the late end of the run that is bad because no ping had told of its end.
func (o *outcome) curesItself(a *alerting.Affected) bool {
	return o.late && o.RunID == a.RunID && (a.Status == job.StatusMissed || a.Status == job.StatusTimedOut)
}

// isOld reports whether an outcome is a late end of a run that is in an incident already, or of an earlier run.
func (o *outcome) isOld(inc *alerting.Incident) bool {
	return o.late && inc != nil && inc.State == alerting.Open && slices.ContainsFunc(inc.Jobs, func(a alerting.Affected) bool {
		return a.Job == o.Job && a.RunID >= o.RunID
	})
}
