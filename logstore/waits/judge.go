package waits

import (
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/outcome"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/finding"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

// Bounds of a judgement.
const (
	// MaxMissing is how many fires Missing names.
	MaxMissing = 50
	// MaxRuns is how many runs are evidence.
	MaxRuns = 500
)

// Judgement is how far the runs are there that a step waits for.
type Judgement struct {
	// Met says that enough are there.
	Met bool
	// Have is how many of Of fires are met, and Need how many are enough. Of counts what is known to be owed.
	Have, Of, Need int
	// Missing says what is not there, oldest first; at most MaxMissing fires, and then how many more.
	Missing []reason.Text
	// Runs are those that met their fires, oldest first: the last MaxRuns.
	Runs []Evidence

	alive bool // a run that is missing is under way
}

// Evidence is a run that has met a fire.
type Evidence struct {
	FireTime time.Time `json:"fire_time"`
	RunID    job.RunID `json:"run_id"`
}

// Result is what a step returns that has waited for runs.
type Result struct {
	Met  int        `json:"met"`
	Of   int        `json:"of"`
	Runs []Evidence `json:"runs"`
}

// Result returns what the step is to return.
func (j *Judgement) Result() Result {
	return Result{Met: j.Have, Of: j.Of, Runs: slices.Concat([]Evidence{}, j.Runs)}
}

// Fires is what is known of the fires that a step waits for.
type Fires struct {
	// Known says that there is, or was, the job; Deleted that it is gone.
	Known, Deleted bool
	// All are the fires of the range, oldest first, those that a calendar excluded included. TooMany says that there
	// are more than [job.MaxAwaitedFires], and that these are the first.
	All     []outcome.Entry
	TooMany bool
	// Repeats are runs of a backfill, reruns, and runs in the place of a fire that succeeded, by fire time in Unix
	// milliseconds.
	Repeats map[int64]job.RunID
	// Until is the end of the range, and Decided up to where the fires of the job are decided.
	Until, Decided time.Time
}

// Judge says how far the runs are there. It is pure. Of a wait for the last fires, f has these at its end.
func Judge(w *runlog.AwaitedRuns, f *Fires) Judgement {
	var v Judgement
	if !f.Known {
		v.Missing = []reason.Text{reason.Text(finding.AwaitedNoJob.With(w.Job))}
		return v
	}
	owed := Owed(f.All)
	if w.Last > 0 {
		owed = owed[max(len(owed)-w.Last, 0):]
	}
	v.Of = len(owed)
	v.Need = w.Need.Of(v.Of)
	unnamed := 0
	for _, e := range owed {
		run, why := met(w, f, e)
		switch {
		case why == "":
			v.Have++
			v.Runs = append(v.Runs, Evidence{FireTime: e.FireTime, RunID: run})
			continue
		case len(v.Missing) < MaxMissing:
			v.Missing = append(v.Missing, reason.Text(why))
		default:
			unnamed++
		}
		v.alive = v.alive || e.Outcome == outcome.Pending
	}
	v.Runs = slices.Clip(v.Runs[max(len(v.Runs)-MaxRuns, 0):])
	v.Met = v.Have >= v.Need
	say := func(is bool, what string) {
		if is {
			v.Missing = append(v.Missing, reason.Text(what))
		}
	}
	say(unnamed > 0, finding.AwaitedFurther.With(unnamed))
	open := f.Decided.Before(f.Until) && !f.Deleted
	if w.Need.Of(0) == 0 || w.Last > 0 { // it depends on how many there are, and these have to be known
		v.Met = v.Met && !open && !f.TooMany
		say(open, finding.AwaitedUntil.With(w.Job, f.Until))
	}
	say(f.TooMany, finding.AwaitedTooMany.With(job.MaxAwaitedFires))
	if say(f.Deleted, finding.AwaitedDeleted.With(w.Job)); f.Deleted && v.Of == 0 {
		v.Met = false // nothing ran, and nothing will
	}
	return v
}

// Owed returns the entries but for those that a calendar excluded, or moved to another day.
func Owed(all []outcome.Entry) []outcome.Entry {
	return slices.DeleteFunc(slices.Clone(all), func(e outcome.Entry) bool {
		if e.Outcome != outcome.Skipped {
			return false
		}
		switch reason.Read(string(e.Reason)).Code {
		case reason.CalendarExcludes.Code, reason.CalendarOmits.Code, reason.CalendarsOmit.Code:
			return true
		}
		return false
	})
}

// met returns the run that has met a fire, or why none has. A fire that was skipped and counts has no run.
func met(w *runlog.AwaitedRuns, f *Fires, e outcome.Entry) (run job.RunID, why string) {
	if e.Status == job.StatusSucceeded {
		return e.RunID, ""
	}
	if run := f.Repeats[e.FireTime.UnixMilli()]; run != "" {
		return run, ""
	}
	switch e.Outcome {
	case outcome.Skipped:
		if w.Skipped == job.SkippedOK {
			return e.RunID, ""
		}
		return "", finding.AwaitedSkipped.With(e.FireTime, e.Reason)
	case outcome.Missed:
		return "", finding.AwaitedMissed.With(e.FireTime)
	case outcome.Undecided:
		return "", finding.AwaitedAhead.With(e.FireTime)
	case outcome.Unjudged, outcome.Discrepancy:
		return "", finding.AwaitedUnknown.With(e.FireTime, e.Reason)
	case outcome.Ran, outcome.CaughtUp, outcome.Reported, outcome.Pending:
	}
	return "", finding.AwaitedRun.With(e.FireTime, e.Status)
}
