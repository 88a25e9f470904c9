package logstore

import (
	"fmt"
	"maps"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

// ForeignError is what a write returns when it has left out updates of runs that are
// another job's, and has written all others.
type ForeignError struct {
	// Updates are those that were left out, by their index in the write, with the reason of
	// each, which is an *InvalidError.
	Updates map[int]error
}

func (e *ForeignError) Error() string {
	return fmt.Sprintf("%d updates are of runs of another job", len(e.Updates))
}

// Add notes that an update was left out, as its run is owner's.
func (e *ForeignError) Add(i int, u *Update, owner job.Name) {
	if e.Updates == nil {
		e.Updates = map[int]error{}
	}
	e.Updates[i] = job.Invalid("run_id", "%s is a run of %s, not of %s", u.RunID, owner, u.Job)
}

// OrNil returns e as an error if anything was left out.
func (e *ForeignError) OrNil() error {
	if len(e.Updates) == 0 {
		return nil
	}
	return e
}

// Own notes in foreign which updates are about a run of another job. A run is the job's
// whose fire its id names; else that of what is stored, for which known is asked at most
// once; else that of a record before that of an event; else that of the first update. So
// no update changes whose a run is, whatever order they come in.
func Own(updates []Update, foreign *ForeignError, known func(ids []job.RunID) (map[job.RunID]job.Name, error)) error {
	var doubtful []job.RunID
	owners := map[job.RunID]job.Name{}
	for i := range updates {
		u := &updates[i]
		if _, seen := owners[u.RunID]; !seen && !u.fires() {
			owners[u.RunID] = ""
			doubtful = append(doubtful, u.RunID)
		}
	}
	if len(doubtful) == 0 {
		return nil
	}
	stored, err := known(doubtful)
	if err != nil {
		return err
	}
	maps.Copy(owners, stored)
	for _, counts := range []func(*Update) bool{(*Update).fires, (*Update).recorded, func(*Update) bool { return true }} {
		for i := range updates {
			u := &updates[i]
			if owner, asked := owners[u.RunID]; asked && owner == "" && counts(u) {
				owners[u.RunID] = u.Job
			}
		}
	}
	for i := range updates {
		u := &updates[i]
		if owner := owners[u.RunID]; owner != "" && owner != u.Job {
			foreign.Add(i, u, owner)
		}
	}
	return nil
}

// fires reports whether the run's id names a fire of the update's job, which the id of
// another job's run cannot.
func (u *Update) fires() bool {
	return job.FireRunID(u.Job, u.RunID.Time().UnixMilli(), job.CauseSchedule) == u.RunID
}

func (u *Update) recorded() bool { return u.Kind == runlog.KindRecorded }
