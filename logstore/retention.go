package logstore

import (
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

// Day is what retention counts in: log lines are dropped by days of fire times, in UTC.
const Day = 24 * time.Hour

// DefaultRetention is what holds where nobody has said otherwise.
func DefaultRetention() job.Retention {
	return job.Retention{Default: job.Keep{Runs: job.Duration(30 * Day), Logs: job.Duration(7 * Day)}}
}

// rateDays is over how many days Expected looks back.
const rateDays = 7

// Rates sums up what the jobs of a store write, for an [Effect].
type Rates struct {
	now       time.Time
	retention *job.Retention
	oldest    time.Time
	runDays   float64 // of each job, what the window had times the days that it is kept
	lineDays  float64
}

// NewRates returns rates to which nothing is added yet. What is older than its From
// does not belong there.
func NewRates(now time.Time, r *job.Retention) *Rates {
	return &Rates{now: now, retention: r, oldest: now}
}

// From is where the window of the rates begins.
func (r *Rates) From() time.Time { return r.now.Add(-rateDays * Day) }

// Add adds what a job has had since From, or since oldest if the store has nothing
// older.
func (r *Rates) Add(name job.Name, runs, lines int64, oldest time.Time) {
	keep := r.retention.Of(name)
	r.runDays += float64(runs) * time.Duration(keep.Runs).Hours() / 24
	r.lineDays += float64(lines) * time.Duration(keep.Logs).Hours() / 24
	if oldest.Before(r.oldest) {
		r.oldest = oldest
	}
}

// Expected returns what there is in the long run, with the bytes that a run and a line
// take.
func (r *Rates) Expected(bytesOfRun, bytesOfLine float64) runlog.Amount {
	days := min(max(r.now.Sub(r.oldest).Hours()/24, 1), rateDays)
	runs, lines := r.runDays/days, r.lineDays/days
	return runlog.Amount{Runs: int64(runs), Lines: int64(lines), Bytes: int64(runs*bytesOfRun + lines*bytesOfLine)}
}

// DropAt returns when a job's lines of a day and class go. They are kept from the end of
// the day, or from when the last of them was written, if that is later: the fires of a
// backfill are old before they run. It is never later than the class says, which is
// what they were written for.
func DropAt(day, written time.Time, class int, keep time.Duration) time.Time {
	from := day.Add(Day)
	if written.After(from) {
		from = written
	}
	return from.Add(min(keep, time.Duration(class)*Day))
}
