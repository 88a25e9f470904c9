package clickhouse_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/internal/chserver/chtest"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// A disk that is full is one on which less is free than ClickHouse is to leave, which any
// disk can be: it refuses to insert with the same error.
const (
	full = " MODIFY SETTING min_free_disk_bytes_to_perform_insert = 1000000000000000"
	room = " MODIFY SETTING min_free_disk_bytes_to_perform_insert = 0"
)

func TestAFullDiskIsWaitedForAndReadMeanwhile(t *testing.T) {
	address := chtest.Database(t)
	s, conn := open(t, address), sql(t, address)
	writeRuns := func(token string, n int) error { return s.WriteRuns(t.Context(), token, []logstore.Update{end(n)}) }
	writeLines := func(token string, seq int64) error {
		return s.WriteLines(t.Context(), token, []runlog.Line{line(seq)})
	}
	if err := errors.Join(writeRuns("EVT:1-1", 0), writeLines("LOG:1-1", 1)); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"runs", "run_logs"} {
		exec(t, conn, "ALTER TABLE "+table+full)
	}
	for range 2 {
		for _, err := range []error{writeRuns("EVT:2-2", 1), writeLines("LOG:2-2", 2)} {
			if !errors.Is(err, job.ErrUnavailable) {
				t.Errorf("a write to a full disk returns %v; want job.ErrUnavailable, which is tried again", err)
			}
		}
	}
	wantStored(t, s, 1, 1)

	for _, table := range []string{"runs", "run_logs"} {
		exec(t, conn, "ALTER TABLE "+table+room)
	}
	if err := errors.Join(writeRuns("EVT:2-2", 1), writeLines("LOG:2-2", 2)); err != nil {
		t.Fatal(err)
	}
	wantStored(t, s, 2, 2)
}

// The disk may be full when the runs are written and their reports are not.
func TestADiskThatGetsFullHalfwayThroughAWriteMakesReportsCountOnce(t *testing.T) {
	address := chtest.Database(t)
	s, conn := open(t, address), sql(t, address)
	for _, table := range []string{"report_minute", "report_hour", "report_day", "report_instance"} {
		exec(t, conn, "ALTER TABLE "+table+full)
	}
	recent := int(time.Since(fire) / time.Minute) // reports of what is older than they are kept would be empty
	batch := []logstore.Update{end(recent - 1), end(recent - 2)}
	for range 2 {
		if err := s.WriteRuns(t.Context(), "EVT:1-2", batch); !errors.Is(err, job.ErrUnavailable) {
			t.Errorf("a write to a full disk returns %v; want job.ErrUnavailable, which is tried again", err)
		}
	}
	for _, table := range []string{"report_minute", "report_hour", "report_day", "report_instance"} {
		exec(t, conn, "ALTER TABLE "+table+room)
	}
	for range 2 {
		if err := s.WriteRuns(t.Context(), "EVT:1-2", batch); err != nil {
			t.Fatal(err)
		}
	}
	wantStored(t, s, 2, 0)
	for _, table := range []string{"report_minute", "report_hour", "report_day", "report_instance"} {
		if n := count(t, conn, "SELECT toUInt64(sum(succeeded)) FROM "+table); n != 2 {
			t.Errorf("%s has %d runs; want 2", table, n)
		}
	}
}

func wantStored(t *testing.T, s logstore.Store, runs, lines int) {
	t.Helper()
	counts, err := s.Counts(t.Context(), logstore.RunFilter{})
	if diff := cmp.Diff(map[job.Status]int{job.StatusSucceeded: runs}, counts); err != nil || diff != "" {
		t.Errorf("counts differ, with %v (-want +got):\n%s", err, diff)
	}
	found, err := s.Lines(t.Context(), logstore.LineFilter{RunID: line(1).RunID, Attempt: 1})
	if err != nil || len(found) != lines {
		t.Errorf("there are %d lines, with %v; want %d", len(found), err, lines)
	}
}
