package why

import (
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/outcome"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/finding"
)

// detail returns what helps to understand a reason: who paused, and which rule of a calendar matched.
func (f *Facts) detail(a *outcome.Answer, fire time.Time, text string) string {
	said := reason.Read(text)
	switch said.Code {
	case reason.JobPaused.Code, reason.JobPausedUntil.Code:
		return f.jobPaused(fire)
	case reason.GroupPaused.Code, reason.GroupPausedUntil.Code:
		return switched(&f.Group, fire)
	case reason.EverythingPaused.Code, reason.EverythingPausedUntil.Code:
		return switched(&f.Everything, fire)
	case reason.CalendarExcludes.Code, reason.CalendarOmits.Code:
		a.Calendar = said.Params["calendar"]
		return f.rule(a.Calendar, fire)
	}
	return ""
}

// jobPaused says who paused the job, as the first of the versions in a row that were paused then.
func (f *Facts) jobPaused(fire time.Time) string {
	var by *job.Version
	for i := f.effective(fire); i >= 0 && f.Versions[i].PausedAt(fire); i-- {
		by = &f.Versions[i].Version
	}
	if by == nil {
		return ""
	}
	return paused(by.Author, by.EffectiveFrom, by.Note)
}

// switched says who turned a switch, if that is what paused a fire.
func switched(p *job.Pause, fire time.Time) string {
	if !p.Paused || !p.EffectiveFrom.Before(fire) {
		return "" // it has been turned since
	}
	return paused(p.Author, p.EffectiveFrom, p.Note)
}

func paused(by string, at time.Time, note string) string {
	who := finding.PausedAt.With(at)
	if by != "" {
		who = finding.PausedBy.With(by, at)
	}
	if note != "" && reason.Read(note).Code == "" {
		note = finding.Noted.With(note)
	}
	return reason.Join(who, note)
}

// rule names the date or window of a calendar that contains a fire, unless it was changed since.
func (f *Facts) rule(calendar string, fire time.Time) string {
	for i := range f.Calendars {
		c := &f.Calendars[i]
		if c.Calendar.Calendar != calendar || c.Deleted || fire.Before(f.Now) && c.EffectiveFrom.After(fire) {
			continue
		}
		if rule := c.Rule(fire); rule != "" {
			return finding.CalendarRule.With(rule)
		}
	}
	return ""
}
