package sqlite

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/sqlite/file"
)

func TestStandingsForgetWhatWasTrimmed(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "log.db"))
	fire := time.Date(2026, 1, 5, 3, 0, 0, 0, time.UTC)
	write := func(name job.Name, at time.Time, status job.Status) {
		t.Helper()
		writeEnds(t, s, updateOf(name, at, 0, status))
	}
	check := func(want map[job.Name]job.Status) {
		t.Helper()
		standings, err := s.Standings(t.Context(), []job.Name{"billing/old", "billing/new"})
		got := map[job.Name]job.Status{}
		for name, standing := range standings {
			got[name] = standing.Status
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("with %v (-want +got):\n%s", err, diff)
		}
	}
	write("billing/old", fire, job.StatusFailed)
	write("billing/new", fire.Add(2*logstore.Day+time.Hour), job.StatusSucceeded)
	check(map[job.Name]job.Status{"billing/old": job.StatusFailed, "billing/new": job.StatusSucceeded})
	keep := logstore.DefaultRetention()
	keep.Default.Runs = job.Duration(logstore.Day)
	if _, err := s.Trim(t.Context(), fire.Add(3*logstore.Day), keep); err != nil {
		t.Fatal(err)
	}
	check(map[job.Name]job.Status{"billing/new": job.StatusSucceeded})
}

func TestStandingsOfManyJobsAreThoseOfEach(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "log.db"))
	fire := time.Date(2026, 1, 5, 3, 0, 0, 0, time.UTC)
	statuses := []job.Status{job.StatusSucceeded, job.StatusFailed, job.StatusTimedOut, job.StatusFailed, job.StatusCancelled, job.StatusLost}
	names, updates := make([]job.Name, 2*manyMissing), []logstore.Update{}
	for i := range names {
		names[i] = job.Name(fmt.Sprintf("billing/job-%d", i))
		for n := range i % 5 { // every fifth job has no runs
			at := fire.Add(time.Duration(n) * time.Hour)
			updates = append(updates, updateOf(names[i], at, 0, statuses[(i+n*n)%len(statuses)]))
		}
	}
	writeEnds(t, s, updates...)
	wanted := map[int64]job.Name{}
	each := map[job.Name]logstore.Standing{}
	for _, name := range names {
		id, ok := s.jobs.ID(name)
		if !ok {
			continue
		}
		wanted[id] = name
		standing, err := s.readStanding(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		each[name] = standing
	}
	for most := range 3 { // as far as the newest runs tell at all, and only what is sure
		read := map[int64]logstore.Standing{}
		if err := s.readNewest(t.Context(), wanted, read, most*len(updates)/2); err != nil {
			t.Fatal(err)
		}
		if told := len(read); most > 0 && told < len(wanted)/4 {
			t.Errorf("the newest %d runs tell of %d jobs", most*len(updates)/2, told)
		}
		for id, standing := range read {
			if standing != each[wanted[id]] {
				t.Errorf("%s stands as %+v by the newest runs of all, %+v by its own", wanted[id], standing, each[wanted[id]])
			}
		}
	}
	all, err := s.Standings(t.Context(), names)
	if diff := cmp.Diff(each, all); diff != "" || err != nil {
		t.Errorf("with %v (-want +got):\n%s", err, diff)
	}
}

func TestStandingsThatWereReadTooSoonAreNotRemembered(t *testing.T) {
	numbers := file.NewDictionary()
	numbers.Add("billing/a", 1)
	numbers.Add("billing/b", 2)
	jobs := []job.Name{"billing/a", "billing/b"}
	succeeded, failed := logstore.Standing{Status: job.StatusSucceeded}, logstore.Standing{Status: job.StatusFailed}
	missing := func(l *standings) (since int64, n int) {
		since, found := l.recall(numbers, jobs, map[job.Name]logstore.Standing{})
		return since, len(found)
	}

	l := newStandings()
	since, _ := missing(l)
	l.forget(numbers, []logstore.Update{{Job: "billing/a"}}) // is written while both are read
	l.remember(since, map[int64]logstore.Standing{1: succeeded, 2: failed})
	if _, n := missing(l); n != 1 {
		t.Errorf("after a write %d jobs are to be read; want the one that was written", n)
	}

	since, _ = missing(l)
	l.clear()
	l.remember(since, map[int64]logstore.Standing{1: succeeded})
	if _, n := missing(l); n != 2 {
		t.Errorf("after a trim %d jobs are to be read; want both", n)
	}
}
