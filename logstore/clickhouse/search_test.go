package clickhouse_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/internal/chserver/chtest"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// Lines that were written again wait for their merge as rows of their own, and a page is
// full all the same.
func TestAPageOfHitsIsFullThoughLinesAreThereManyTimes(t *testing.T) {
	address := chtest.Database(t)
	s := open(t, address)
	exec(t, sql(t, address), "SYSTEM STOP MERGES run_logs")
	var lines []runlog.Line
	for n := range 3 {
		at := fire.Add(-time.Duration(n) * time.Minute)
		l := line(1)
		l.RunID, l.At = job.FireRunID(report, at.UnixMilli(), job.CauseSchedule), at
		lines = append(lines, l)
	}
	for n := range 20 {
		if err := s.WriteLines(t.Context(), fmt.Sprintf("LOG:%d-%d", n, n), lines); err != nil {
			t.Fatal(err)
		}
	}
	first, err := s.Search(t.Context(), logstore.SearchFilter{Text: "hello", Limit: 2})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(lines[:2], first.Lines); diff != "" || first.Next == "" {
		t.Errorf("the first page differs, or is the last (next %q) (-want +got):\n%s", first.Next, diff)
	}
	second, err := s.Search(t.Context(), logstore.SearchFilter{Text: "hello", Limit: 2, Cursor: first.Next})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(logstore.SearchPage{Lines: lines[2:]}, second); diff != "" {
		t.Errorf("the second page differs (-want +got):\n%s", diff)
	}
}
