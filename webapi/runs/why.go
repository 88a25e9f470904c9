package runs

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/outcome"
	"github.com/carillon-scheduler/carillon/ledger"
	"github.com/carillon-scheduler/carillon/ledger/why"
	"github.com/carillon-scheduler/carillon/webapi/access"
)

// Answers say why jobs ran or did not run. It is safe for concurrent use.
type Answers struct{ runs *Runs }

// AnswersOf returns the answers about the jobs of runs.
func AnswersOf(runs *Runs) *Answers { return &Answers{runs} }

// Why says why a job ran, or did not run, in one minute: text is its beginning, as [job.ParseMoment] reads it in the zone of
// the job's newest version. Errors: job.ErrInvalid, job.ErrNotFound, job.ErrUnavailable.
func (as *Answers) Why(ctx context.Context, name job.Name, text string) (outcome.Answer, error) {
	facts := why.Facts{Job: name, Now: time.Now()}
	var err error
	if facts.Versions, err = as.runs.conn.Jobs().Versions(ctx, name); err != nil {
		return outcome.Answer{}, err
	}
	newest := facts.Versions[len(facts.Versions)-1]
	if facts.Moment, err = job.ParseMoment(text, newest.Schedule.Zone); err != nil {
		return outcome.Answer{}, err
	}
	for _, read := range []func(context.Context, *why.Facts) error{as.readLedger, as.readAhead, as.readWaits, as.readPaused, as.readCalendars} {
		if err := read(ctx, &facts); err != nil {
			return outcome.Answer{}, err
		}
	}
	a := facts.Answer()
	a.Remedies = slices.DeleteFunc(a.Remedies, func(r outcome.Remedy) bool { return !mayRemedy(ctx, r, name.Group()) })
	return a, nil
}

func (as *Answers) readLedger(ctx context.Context, f *why.Facts) error {
	page, err := as.runs.ledger.Job(ctx, f.Job, ledger.JobRequest{From: f.Moment.At, To: f.Moment.End(), Limit: ledger.MaxLimit})
	if err == nil {
		f.Entries = page.Items
	}
	return err
}

// mostAhead is how many fires a minute has at most.
const mostAhead = int(time.Minute / job.MinFixedRate)

// readAhead reads the fires of the minute that are not due yet.
func (as *Answers) readAhead(ctx context.Context, f *why.Facts) error {
	newest := f.Versions[len(f.Versions)-1]
	if newest.Deleted || f.Moment.End().Add(newest.Schedule.Offset(f.Job)).Before(f.Now) {
		return nil
	}
	preview, err := as.runs.catalog.Preview(ctx, f.Job, f.Moment.At.Add(-time.Millisecond), mostAhead)
	if err != nil {
		return err
	}
	for _, fire := range preview.Fires {
		if fire.Due.After(f.Now) && fire.FireTime.Before(f.Moment.End()) {
			f.Ahead = append(f.Ahead, why.Ahead{FireTime: fire.FireTime, Reason: fire.Reason})
		}
	}
	return nil
}

// readWaits reads what the first run waits for that has not ended.
func (as *Answers) readWaits(ctx context.Context, f *why.Facts) error {
	i := slices.IndexFunc(f.Entries, func(e outcome.Entry) bool { return e.Outcome == outcome.Pending })
	if i < 0 {
		return nil
	}
	attempts, err := as.runs.Stored(ctx, string(f.Entries[i].RunID))
	if errors.Is(err, job.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := as.runs.explain(ctx, attempts[:1]); err != nil {
		return err
	}
	f.Waits = attempts[0].Reason
	return nil
}

func (as *Answers) readPaused(ctx context.Context, f *why.Facts) (err error) {
	if f.Group, err = as.runs.conn.Pauses().Get(ctx, f.Job.Group()); err != nil {
		return err
	}
	f.Everything, err = as.runs.conn.Pauses().Get(ctx, "")
	return err
}

// readCalendars reads the calendars that the versions name, as they are now.
func (as *Answers) readCalendars(ctx context.Context, f *why.Facts) error {
	for _, name := range calendarsOf(f.Versions) {
		c, err := as.runs.conn.Calendars().Get(ctx, name)
		if errors.Is(err, job.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		f.Calendars = append(f.Calendars, c.CalendarVersion)
	}
	return nil
}

// calendarsOf returns the calendars by which any of some versions goes, each once.
func calendarsOf(versions []*bus.JobEntry) (names []string) {
	for _, v := range versions {
		names = append(names, v.Schedule.Only...)
		names = append(names, v.Schedule.Except...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// operationOf is the operation of the API that a remedy asks for. The others look at what each reader of the job may see.
var operationOf = map[outcome.Remedy]string{
	outcome.ResumeJob: "resumeJob", outcome.ResumeGroup: "pauseGroup", outcome.ResumeAll: "setPause", outcome.TakeBackSkip: "unskipFire",
	outcome.RunFire: "backfillJob", outcome.RunNow: "runJob", outcome.EditSchedule: "putJob", outcome.EditCalendar: "putCalendar",
}

// mayRemedy reports whether the caller may do what a remedy asks for in a group.
func mayRemedy(ctx context.Context, r outcome.Remedy, group string) bool {
	operation, asks := operationOf[r]
	return !asks || access.Permits[operation].Allows(access.Who(ctx), func() (string, error) { return group, nil }) == nil
}
