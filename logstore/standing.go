package logstore

import (
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

// StandingRuns is how many of a job's newest runs a [Standing] looks at, at most.
const StandingRuns = 30

// Standing is how a job stands, as its newest runs tell, each by its newest attempt.
type Standing struct {
	Status    job.Status // of the newest run
	StartedAt time.Time  // when the newest run started; zero: it has not
	// Streak is how many of the newest runs have failed without one between them that has
	// succeeded; 0 where the newest has not failed. Runs that were called off or never
	// began do not count, either way.
	Streak int
}

// Lookback makes a standing of a job's runs. The zero value has seen none.
type Lookback struct {
	Standing Standing
	seen     int
}

// Add takes in the run before those that it has, the newest first, and reports whether the
// one before that is needed, too.
func (l *Lookback) Add(status job.Status, startedAt time.Time) (more bool) {
	if l.seen == 0 {
		l.Standing.Status, l.Standing.StartedAt = status, startedAt
	}
	l.seen++
	switch status {
	case job.StatusFailed, job.StatusTimedOut, job.StatusLost:
		l.Standing.Streak++
	case job.StatusSucceeded:
		return false
	case job.StatusPending, job.StatusQueued, job.StatusRunning, job.StatusCancelled, job.StatusSkipped, job.StatusMissed:
	}
	return l.Standing.Streak > 0 && l.seen < StandingRuns
}
