package sqlite

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

func TestStatementsAreKeptAndBoundedWhileManyRead(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "history.db"))
	if err != nil {
		t.Fatal(err)
	}
	const readers, rounds = 8, 300
	var g sync.WaitGroup
	for r := range readers {
		g.Go(func() {
			for i := range rounds {
				want := i % (2 * maxStatements)
				rows, err := s.prepared.query(t.Context(), fmt.Sprintf("SELECT %d + ?", want), r)
				if err != nil {
					t.Error(err)
					return
				}
				var got int
				for rows.Next() {
					if err := rows.Scan(&got); err != nil {
						t.Error(err)
					}
				}
				if err := rows.Close(); err != nil || got != want+r {
					t.Errorf("%d + %d is %d, with %v", want, r, got, err)
				}
			}
		})
	}
	g.Wait()
	if n := len(s.prepared.kept); n != maxStatements {
		t.Errorf("%d statements are kept; want %d", n, maxStatements)
	}
	for text, stmt := range s.prepared.kept {
		if stmt.users != 0 || stmt.dropped {
			t.Errorf("%s has %d users, and dropped is %v", text, stmt.users, stmt.dropped)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestListsOfAnyJobAreOneStatement(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "history.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	fire := time.Date(2026, 1, 5, 3, 0, 0, 0, time.UTC)
	for n := range 3 {
		name := job.Name(fmt.Sprintf("billing/job-%d", n))
		err := s.WriteRuns(t.Context(), name.Group(), []logstore.Update{{
			Kind: runlog.KindRecorded, RunID: job.FireRunID(name, fire.UnixMilli(), job.CauseSchedule), Job: name, Version: 1, Attempt: 1,
			Cause: job.CauseSchedule, At: fire, CommittedAt: fire, Status: job.StatusPending,
		}})
		if err != nil {
			t.Fatal(err)
		}
		page, err := s.Runs(t.Context(), logstore.RunFilter{Jobs: []job.Name{name}})
		if err != nil || len(page.Runs) != 1 || page.Runs[0].Job != name {
			t.Errorf("the list of %s has %v, with %v", name, page.Runs, err)
		}
	}
	if n := len(s.prepared.kept); n != 1 {
		t.Errorf("there are %d statements; want one", n)
	}
}
