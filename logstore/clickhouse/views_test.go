package clickhouse_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/internal/chserver/chtest"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/clickhouse"
)

// Every query that docs/reference/reports.md shows to people runs, and finds something.
func TestTheQueriesOfTheDocumentationRun(t *testing.T) {
	doc, err := os.ReadFile("../../docs/reference/reports.md")
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
	var lines []runlog.Line
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
		lines = append(lines, runlog.Line{RunID: u.RunID, Job: u.Job, Attempt: 1, Seq: 1, At: at, Level: "error", Output: "stderr", Text: "connection refused"})
	}
	again := updates[5]
	again.Attempt, again.Retry, again.Status = 2, false, job.StatusSucceeded
	if err := s.WriteRuns(t.Context(), "EVT:1-60", append(updates, again)); err != nil {
		t.Fatal(err)
	}
	if err := s.WriteLines(t.Context(), "LOG:1-60", lines); err != nil {
		t.Fatal(err)
	}
	writeFacts(t, s)
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
	for view, want := range map[string]uint64{
		"v_runs": 60, "v_attempts": 61, "v_failures": 16, "v_lines": 60, "v_pieces": 0, "v_timeline": 0,
		"v_audit": 1, "v_incidents": 1, "v_deliveries": 1, "v_discrepancies": 1,
	} {
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

func TestViewsTellWhatStepsWaitForAndWhoHeldTheirRun(t *testing.T) {
	address := chtest.Database(t)
	s, conn := open(t, address), sql(t, address)
	run := end(0)
	wait, held := run, run
	wait.Kind, wait.Status, wait.Cause, wait.Parent, wait.Step = runlog.KindRecorded, job.StatusQueued, job.CauseStep, run.RunID, "paid"
	wait.RunID, wait.Wait = job.StepRunID(run.RunID, "paid"), &runlog.Wait{Kind: runlog.WaitSignal, Since: run.At, Signal: "paid"}
	held.Kind, held.Status, held.By, held.Reason, held.Instance = runlog.KindOnHold, job.StatusRunning, "ann", "disk is full", ""
	if err := s.WriteRuns(t.Context(), "EVT:1-3", []logstore.Update{run, wait, held}); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]uint64{
		"SELECT count() FROM v_attempts WHERE step = 'paid' AND JSONExtractString(wait, 'signal') = 'paid'": 1,
		"SELECT count() FROM v_timeline WHERE kind = 'on_hold' AND made_by = 'ann' AND instance = ''":       1,
	} {
		if n := count(t, conn, query); n != want {
			t.Errorf("%s: %d; want %d", query, n, want)
		}
	}
}

func TestTheViewOfRunsTellsWhichPingsReported(t *testing.T) {
	address := chtest.Database(t)
	s, conn := open(t, address), sql(t, address)
	ran, reported := end(0), end(1)
	reported.Instance, reported.Cause = runlog.HostInstance("web1"), job.CausePing
	if err := s.WriteRuns(t.Context(), "EVT:1-2", []logstore.Update{ran, reported}); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]uint64{
		"SELECT count() FROM v_runs WHERE reported AND instance = 'host:web1' AND cause = 'ping'": 1,
		"SELECT count() FROM v_attempts WHERE NOT reported":                                       1,
	} {
		if n := count(t, conn, query); n != want {
			t.Errorf("%s: %d; want %d", query, n, want)
		}
	}
}

// writeFacts writes a fact of each kind, as the bus has it.
func writeFacts(t *testing.T, s *clickhouse.Store) {
	t.Helper()
	at := time.Now().UTC().Add(-time.Hour).Truncate(time.Millisecond)
	stamp := at.Format("2006-01-02T15:04:05.000Z")
	fact := func(kind logstore.FactKind, id, who, what, object, state, doc string) logstore.Fact {
		return logstore.Fact{
			Kind: kind, ID: id, At: at, Revision: 1, Group: "billing", Who: who, What: what, Object: object, State: state,
			Doc: []byte(strings.ReplaceAll(doc, "NOW", stamp)),
		}
	}
	err := s.WriteFacts(t.Context(), "T:1-4", []logstore.Fact{
		fact(logstore.FactAudit, "e1", "ann", "putJob", "job billing/report", "done",
			`{"id":"e1","at":"NOW","user":"ann","how":"session","operation":"putJob","object":"job billing/report","result":"done","changes":[{"field":"schedule.cron","from":"@daily","to":"@hourly"}]}`),
		fact(logstore.FactIncident, "i1", "", "night", "job billing/report", "resolved",
			`{"incident":"i1","alert":"night","severity":"critical","state":"resolved","summary":"it failed","count":3,"jobs":[{"job":"billing/report"}],"opened_at":"NOW","resolved_at":"NOW","resolution":"it succeeded"}`),
		fact(logstore.FactDelivery, "i1-1", "node-1", "opened", "ops-mail", "failed",
			`{"incident":"i1","alert":"night","delivery":{"delivery":"1","attempts":4,"reason":"connection refused","made_at":"NOW"}}`),
		fact(logstore.FactDiscrepancy, "019b76da-a800-7c3e-9d5b-0f4e2a6c8b1d", "", "", "billing/report", "",
			`{"job":"billing/report","fire_time":"NOW","version":3,"reason":"there is no run","found_at":"NOW"}`),
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestTheViewsOfFactsHaveTheirWords(t *testing.T) {
	address := chtest.Database(t)
	s, conn := open(t, address), sql(t, address)
	writeFacts(t, s)
	for query, want := range map[string]string{
		"SELECT concat(user, how, operation, object, group, result, fields[1], changes) FROM v_audit":                                                                                          `annsessionputJobjob billing/reportbillingdoneschedule.cron[{"field":"schedule.cron","from":"@daily","to":"@hourly"}]`,
		"SELECT concat(alert, subject, severity, state, summary, toString(count), jobs[1], resolution, toString(resolved_at = opened_at), toString(isNull(acknowledged_at))) FROM v_incidents": "nightjob billing/reportcriticalresolvedit failed3billing/reportit succeeded11",
		"SELECT concat(incident, alert, channel, kind, state, toString(attempts), reason, toString(isNull(sent_at)), node) FROM v_deliveries":                                                  "i1nightops-mailopenedfailed4connection refused1node-1",
		"SELECT concat(job, toString(run_id), toString(version), reason, toString(found_at = fire_time)) FROM v_discrepancies":                                                                 "billing/report019b76da-a800-7c3e-9d5b-0f4e2a6c8b1d3there is no run1",
	} {
		var got string
		if err := conn.QueryRow(t.Context(), query).Scan(&got); err != nil || got != want {
			t.Errorf("%s\n%q, with %v; want %q", query, got, err, want)
		}
	}
}
