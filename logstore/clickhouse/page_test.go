package clickhouse_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/internal/chserver/chtest"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// A page is looked for where the one before says that it is, and that may be wrong: runs
// become rarer, or are of one instant.
func TestPagesHaveAllRunsHoweverTheirNumberChangesOverTime(t *testing.T) {
	s := open(t, chtest.Database(t))
	var updates []logstore.Update
	add := func(n int, before time.Duration) {
		u := end(0)
		at := fire.Add(-before)
		u.Job = job.Name(fmt.Sprintf("billing/job-%d", n))
		u.RunID = job.FireRunID(u.Job, at.UnixMilli(), job.CauseSchedule)
		u.CommittedAt, u.StartedAt, u.FinishedAt, u.At = at, at, at.Add(time.Second), at.Add(time.Second)
		updates = append(updates, u)
	}
	for n := range 300 {
		add(n, time.Duration(n)*100*time.Millisecond) // half a minute of many
	}
	for n := range 60 {
		add(300+n, time.Minute) // at one instant
	}
	for n := range 40 {
		add(n, time.Duration(n+1)*time.Hour) // rare ones
	}
	add(0, 20*24*time.Hour)
	add(0, 21*24*time.Hour)
	if err := s.WriteRuns(t.Context(), "EVT:1-402", updates); err != nil {
		t.Fatal(err)
	}
	var want []job.RunID
	for _, u := range updates {
		want = append(want, u.RunID)
	}
	slices.Sort(want) // by their time, which they begin with
	slices.Reverse(want)
	for _, limit := range []int{7, 20, 20, 100, 500} {
		f := logstore.RunFilter{Limit: limit, To: fire.Add(time.Millisecond)}
		var got []job.RunID
		for {
			page, err := s.Runs(t.Context(), f)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range page.Runs {
				got = append(got, r.RunID)
			}
			if page.Next == "" {
				break
			}
			if len(page.Runs) != limit {
				t.Fatalf("a page of %d has %d runs, and another follows", limit, len(page.Runs))
			}
			f.Cursor = page.Next
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("pages of %d differ (-want +got):\n%s", limit, diff)
		}
	}
}

// ClickHouse makes statistics of all columns by itself, and reads those of each part to plan
// a query.
func TestTablesHaveNoStatistics(t *testing.T) {
	address := chtest.Database(t)
	s, conn := open(t, address), sql(t, address)
	for n := range 3 {
		if err := s.WriteRuns(t.Context(), fmt.Sprintf("EVT:%d-%d", n, n), []logstore.Update{end(n)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.WriteLines(t.Context(), "LOG:1-1", []runlog.Line{line(1)}); err != nil {
		t.Fatal(err)
	}
	writeFacts(t, s)
	if err := s.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	const ours = " WHERE database = currentDatabase() AND table NOT IN ('schema_migrations') AND "
	if n := count(t, conn, "SELECT count() FROM system.columns"+ours+"statistics != ''"); n > 0 {
		t.Errorf("%d columns have statistics", n)
	}
	if n := count(t, conn, "SELECT count() FROM system.parts_columns"+ours+"active AND notEmpty(statistics)"); n > 0 {
		t.Errorf("parts have statistics of %d columns", n)
	}
}
