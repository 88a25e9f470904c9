//go:build unix

package e2e

import (
	"fmt"

	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
)

// checkFollowers wants one run of a child for each run of its parent that was done.
func (a *audit) checkFollowers(wrong differences) {
	for _, what := range a.unfollowed(a.runs) {
		wrong.add("runs of parents without a child's", "%s", what)
	}
	for name, parents := range followers(a.runs) {
		for id, n := range parents {
			if n > 1 {
				wrong.add("runs of parents with several children", "%s: %d of %s", id, n, name)
			}
		}
	}
}

// unfollowed tells which runs ought to follow others, and are not there.
func (l *load) unfollowed(runs []client.Run) (lacking []string) {
	done, after := doneRuns(runs), followers(runs)
	l.eachJob(func(j job.Job) {
		for _, c := range j.Children {
			for _, id := range done[j.Job] {
				if after[c.Job][id] == 0 {
					lacking = append(lacking, fmt.Sprintf("%s after %s of %s", c.Job, id, j.Job))
				}
			}
		}
	})
	return lacking
}

// eachJob calls do for each job of the load, those that run after others included.
func (l *load) eachJob(do func(job.Job)) {
	for i := range l.jobs {
		for _, j := range l.family(i) {
			do(j)
		}
	}
}

// doneRuns returns the runs that were done, and so have followers, by job.
func doneRuns(runs []client.Run) map[job.Name][]job.RunID {
	done := map[job.Name][]job.RunID{}
	for i := range runs {
		if r := &runs[i]; r.Status.Executed() {
			done[r.Job] = append(done[r.Job], r.RunID)
		}
	}
	return done
}

// followers returns, by job and by run of a parent, how many runs have followed that.
func followers(runs []client.Run) map[job.Name]map[job.RunID]int {
	after := map[job.Name]map[job.RunID]int{}
	for i := range runs {
		r := &runs[i]
		if r.Cause != job.CauseParent {
			continue
		}
		if after[r.Job] == nil {
			after[r.Job] = map[job.RunID]int{}
		}
		after[r.Job][r.Parent]++
	}
	return after
}
