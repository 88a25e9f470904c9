package clickhouse_test

import (
	"fmt"
	"os"
	"regexp"
	"testing"
	"time"

	"carillon/internal/chserver/chtest"
	"carillon/job"
	"carillon/logstore"
)

// Every query that docs/reports.md shows to people runs, and finds something.
func TestTheQueriesOfTheDocumentationRun(t *testing.T) {
	doc, err := os.ReadFile("../../docs/reports.md")
	if err != nil {
		t.Fatal(err)
	}
	queries := regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllSubmatch(doc, -1)
	if len(queries) < 10 {
		t.Fatalf("the page has %d queries; want 10 or more", len(queries))
	}
	address := chtest.Database(t)
	s, conn := open(t, address), sql(t, address)
	var updates []logstore.Update
	var lines []logstore.Line
	for i := range 60 {
		u := end(0)
		at := time.Now().UTC().Add(-time.Duration(i) * 30 * time.Minute).Truncate(time.Millisecond)
		u.Job = job.Name(fmt.Sprintf("billing/job-%d", i%3))
		u.RunID = job.FireRunID(u.Job, at.UnixMilli(), job.CauseSchedule)
		u.At, u.CommittedAt, u.StartedAt, u.FinishedAt = at.Add(3*time.Second), at, at.Add(time.Second), at.Add(3*time.Second)
		u.Result = []byte(`{"rows": 7}`)
		if i%4 == 0 {
			u.Status, u.Message = job.StatusFailed, fmt.Sprintf("no answer from 10.0.0.%d", i)
		}
		if i == 5 {
			u.Retry, u.Status = true, job.StatusFailed
		}
		updates = append(updates, u)
		lines = append(lines, logstore.Line{RunID: u.RunID, Job: u.Job, Attempt: 1, Seq: 1, At: at, Level: "error", Output: "stderr", Text: "connection refused"})
	}
	again := updates[5]
	again.Attempt, again.Retry, again.Status = 2, false, job.StatusSucceeded
	if err := s.WriteRuns(t.Context(), "EVT:1-60", append(updates, again)); err != nil {
		t.Fatal(err)
	}
	if err := s.WriteLines(t.Context(), "LOG:1-60", lines); err != nil {
		t.Fatal(err)
	}
	for _, q := range queries {
		rows, err := conn.Query(t.Context(), string(q[1]))
		if err != nil {
			t.Errorf("%s\n%v", q[1], err)
			continue
		}
		n := 0
		for rows.Next() {
			n++
		}
		if err := rows.Err(); err != nil || n == 0 {
			t.Errorf("%s\n%d rows, with %v", q[1], n, err)
		}
		_ = rows.Close()
	}
	for view, want := range map[string]uint64{"v_runs": 60, "v_attempts": 61, "v_failures": 16, "v_lines": 60, "v_pieces": 0, "v_timeline": 0} {
		if n := count(t, conn, "SELECT count() FROM "+view); n != want {
			t.Errorf("%s has %d rows; want %d", view, n, want)
		}
	}
	for _, view := range []string{"v_minutes", "v_hours", "v_days"} {
		if n := count(t, conn, "SELECT toUInt64(sum(runs)) FROM "+view); n != 60 {
			t.Errorf("%s counts %d runs; want 60", view, n)
		}
	}
}
