package why

import (
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/outcome"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/finding"
)

// Facts are all that an answer follows from.
type Facts struct {
	Job    job.Name
	Moment job.Moment
	Now    time.Time
	// Versions are those that are kept, oldest first. There is at least one.
	Versions []*bus.JobEntry
	// Entries are those of the ledger for the fires within the minute.
	Entries []outcome.Entry
	// Ahead are the fires within the minute that are not due yet, oldest first.
	Ahead []Ahead
	// Waits is why the run of a pending entry waits now, unless its entry has a reason.
	Waits reason.Text
	// Group and Everything are the switches that pause the group and everything, as they are now.
	Group, Everything job.Pause
	// Calendars are those that the versions name, as they are now.
	Calendars []job.CalendarVersion
}

// Ahead is a fire that is to come, and why it will be skipped, if so.
type Ahead struct {
	FireTime time.Time
	Reason   reason.Text
}

// late is how long after it was due a run starts late.
const late = time.Second

// Answer returns the one sentence about the minute, and what helps.
func (f *Facts) Answer() outcome.Answer {
	newest := f.Versions[len(f.Versions)-1]
	a := outcome.Answer{Job: f.Job, At: f.Moment.At, Zone: newest.Schedule.Zone}
	a.Before, a.After = f.nearest()
	entries := slices.DeleteFunc(slices.Clone(f.Entries), func(e outcome.Entry) bool {
		return e.Outcome == outcome.Undecided && e.Due.After(f.Now)
	})
	var sentence string
	switch {
	case len(entries) > 0:
		slices.SortStableFunc(entries, func(a, b outcome.Entry) int { return rank(&a) - rank(&b) })
		sentence = f.ofEntry(&a, &entries[0], len(entries)-1)
	case len(f.Ahead) > 0:
		sentence = f.ofAhead(&a)
	default:
		sentence = f.ofNone(&a)
	}
	a.Reason = reason.Text(sentence)
	a.Remedies = f.remedies(&a)
	return a
}

// rank orders entries of one minute by how much there is to explain.
func rank(e *outcome.Entry) int {
	order := []outcome.Outcome{
		outcome.Discrepancy, outcome.Missed, outcome.Skipped, outcome.Unjudged, outcome.Undecided, outcome.Pending, outcome.CaughtUp, outcome.Reported, outcome.Ran,
	}
	return slices.Index(order, e.Outcome)
}

// ofEntry answers with what the ledger says of a fire, one of several if there are more in the minute.
func (f *Facts) ofEntry(a *outcome.Answer, e *outcome.Entry, more int) string {
	a.Fire, a.FireTime = e, e.FireTime
	if e.Status != "" && e.Status != job.StatusSkipped {
		a.RunID = e.RunID
	}
	said := string(e.Reason)
	var lead string
	switch e.Outcome {
	case outcome.Ran, outcome.CaughtUp:
		a.Verdict, lead = outcome.DidRun, ended(e)
	case outcome.Reported:
		a.Verdict, lead = outcome.DidRun, finding.FireReported.With(e.FireTime, e.RunID, e.Status)
	case outcome.Pending:
		a.Verdict, lead = outcome.Waits, finding.FireWaits.With(e.FireTime, e.RunID)
		if e.Status == job.StatusRunning {
			a.Verdict, lead = outcome.DoesRun, finding.FireRuns.With(e.FireTime, e.StartedAt, e.RunID)
		} else if said == "" {
			said = string(f.Waits)
		}
	case outcome.Skipped:
		a.Verdict, lead = outcome.WasSkipped, finding.FireWasSkipped.With(e.FireTime)
	case outcome.Missed:
		a.Verdict, lead = outcome.WasMissed, finding.AwaitedMissed.With(e.FireTime)
	case outcome.Undecided:
		a.Verdict, lead = outcome.Unknown, finding.FireUndecided.With(e.FireTime)
	case outcome.Unjudged:
		a.Verdict, lead = outcome.Unknown, finding.FireUnjudged.With(e.FireTime)
	case outcome.Discrepancy:
		a.Verdict, lead = outcome.Contradicted, finding.FireContradicts.With(e.FireTime)
	}
	others := ""
	if more > 0 {
		others = finding.FurtherInMinute.With(more)
	}
	return reason.Join(f.skippedClock(), lead, others, said, f.detail(a, e.FireTime, said))
}

// ended says how a run that has ended went.
func ended(e *outcome.Entry) string {
	switch by := e.StartedAt.Sub(e.Due).Round(time.Millisecond); {
	case e.StartedAt.IsZero():
		return finding.FireEnded.With(e.FireTime, e.RunID, e.Status)
	case by >= late:
		return finding.FireRanLate.With(e.FireTime, job.Duration(by), e.StartedAt, e.RunID, e.Status)
	}
	return finding.FireRan.With(e.FireTime, e.RunID, e.Status)
}

// ofAhead answers with the first fire that is to come, or the first that will be skipped.
func (f *Facts) ofAhead(a *outcome.Answer) string {
	ahead := f.Ahead[max(0, slices.IndexFunc(f.Ahead, func(v Ahead) bool { return v.Reason != "" }))]
	a.FireTime = ahead.FireTime
	if ahead.Reason == "" {
		a.Verdict = outcome.WillRun
		return reason.Join(f.skippedClock(), finding.FireWillRun.With(ahead.FireTime))
	}
	a.Verdict = outcome.WillSkip
	said := string(ahead.Reason)
	return reason.Join(f.skippedClock(), finding.FireWillSkip.With(ahead.FireTime), said, f.detail(a, ahead.FireTime, said))
}

// ofNone answers why there is no fire.
func (f *Facts) ofNone(a *outcome.Answer) string {
	at := f.Moment.At
	first := f.Versions[0]
	i := f.effective(at)
	switch {
	case i < 0 && first.Version.Version > 1:
		a.Verdict = outcome.Unknown
		return finding.BeforeFirstVersion.String()
	case i < 0:
		a.Verdict = outcome.NoJob
		return finding.JobNotThere.With(first.EffectiveFrom)
	}
	v := f.Versions[i]
	if v.Deleted {
		a.Verdict = outcome.NoJob
		if v.Author == "" {
			return finding.JobGone.With(v.EffectiveFrom)
		}
		return finding.JobGoneBy.With(v.Author, v.EffectiveFrom)
	}
	a.Verdict = outcome.NoFire
	return reason.Join(finding.NoFireThen.With(at), v.Schedule.WhyNot(f.Job, f.Moment), f.replaced(i))
}

// effective returns the version to which a fire at an instant would belong, or -1.
func (f *Facts) effective(at time.Time) int {
	i := len(f.Versions) - 1
	for i >= 0 && !f.Versions[i].EffectiveFrom.Before(at) {
		i--
	}
	return i
}

// replaced says that the schedule was another one then, and who changed it.
func (f *Facts) replaced(i int) string {
	for k := i + 1; k < len(f.Versions); k++ {
		next := f.Versions[k]
		switch was := f.Versions[i]; {
		case !next.Deleted && next.Schedule.String() == was.Schedule.String():
		case next.Author == "":
			return finding.VersionThen.With(f.Versions[k-1].Version.Version, next.EffectiveFrom)
		default:
			return finding.VersionThenBy.With(f.Versions[k-1].Version.Version, next.Author, next.EffectiveFrom)
		}
	}
	return ""
}

// skippedClock says so if the minute in question is one that clocks skipped.
func (f *Facts) skippedClock() string {
	if f.Moment.Skipped == 0 {
		return ""
	}
	return reason.ClockSkippedTo.With(f.Moment.At, time.Unix(f.Moment.Skipped, 0).UTC().Format("15:04"))
}

// nearest returns the fires of the schedule next to the minute on both sides.
func (f *Facts) nearest() (before, after time.Time) {
	var planner job.Planner
	var history job.History
	for _, v := range f.Versions {
		if plan, err := planner.Plan(&v.Version); err == nil {
			history = append(history, plan)
		}
	}
	from, end := f.Moment.At.UnixMilli(), f.Moment.End().UnixMilli()
	for i := range history {
		p := &history[i]
		if p.Deleted {
			continue
		}
		// A schedule that moves fires lists days that are not its own.
		for upto := from - 1 + p.Offset; ; {
			last, ok := history.LastDue(i, p.From+p.Offset, upto)
			if ok && !p.Nominal(last.At) {
				upto = last.Due - 1
				continue
			}
			if ok {
				before = later(before, last.At)
			}
			break
		}
		history.Fires(i, end-1+p.Offset, endOfTime, func(fire job.Fire) bool {
			if !p.Nominal(fire.At) {
				return true
			}
			if at := time.UnixMilli(fire.At).UTC(); after.IsZero() || at.Before(after) {
				after = at
			}
			return false
		})
	}
	return before, after
}

const endOfTime = int64(1)<<62 - 1

func later(t time.Time, ms int64) time.Time {
	if at := time.UnixMilli(ms).UTC(); at.After(t) {
		return at
	}
	return t
}
