package clickhouse_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	ch "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/internal/chserver"
	"github.com/carillon-scheduler/carillon/internal/chserver/chtest"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/clickhouse"
	"github.com/carillon-scheduler/carillon/logstore/logstoretest"
)

func TestMain(m *testing.M) { chtest.Main(m) }

func open(t *testing.T, address string) *clickhouse.Store {
	t.Helper()
	s, err := clickhouse.Open(address, clickhouse.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := s.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAStoreKeepsItsIdentity(t *testing.T) {
	address := chtest.Database(t)
	logstoretest.Identity(t, open(t, address), open(t, address), open(t, chtest.Database(t)))
}

// The tests of the suite share databases, one at a time each, which are emptied for each: to make
// their tables anew took most of the time.
func TestStoreKeepsTheContract(t *testing.T) {
	const databases = 3
	free := make(chan string, databases)
	for range databases {
		free <- chtest.Database(t)
	}
	logstoretest.Run(t, func(t *testing.T) logstore.Store {
		t.Helper()
		address := <-free
		t.Cleanup(func() { free <- address })
		s := open(t, address)
		empty(t, sql(t, address))
		return s
	})
}

// empty deletes all rows of a database, and with them what it knows of tokens.
func empty(t *testing.T, conn driver.Conn) {
	t.Helper()
	rows, err := conn.Query(t.Context(), "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND name != 'schema_migrations'")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var table string
		if err := rows.Scan(&table); err != nil {
			t.Fatal(err)
		}
		exec(t, conn, "TRUNCATE TABLE "+table+" SYNC")
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}

// sql connects to the database of an address, past the store.
func sql(t *testing.T, address string) driver.Conn {
	t.Helper()
	options, err := ch.ParseDSN(address)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := ch.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func exec(t *testing.T, conn driver.Conn, statement string) {
	t.Helper()
	if err := conn.Exec(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func wantPrepareError(t *testing.T, address string, kind error, text string) {
	t.Helper()
	s, err := clickhouse.Open(address, clickhouse.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	err = s.Prepare(t.Context())
	if !errors.Is(err, kind) || !strings.Contains(err.Error(), text) || strings.Contains(err.Error(), "guess") {
		t.Errorf("the error is %v; want %v that tells %q", err, kind, text)
	}
}

func TestOpeningAgainChangesNothing(t *testing.T) {
	address := chtest.Database(t)
	locked := 0
	for range 3 {
		s, err := clickhouse.Open(address, clickhouse.Config{Lock: func(context.Context) (func(), error) { locked++; return func() {}, nil }})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if locked != 1 {
		t.Errorf("the schema was locked %d times; want once, when it was made", locked)
	}
}

func TestTablesThatAreMadeInPartAreFinished(t *testing.T) {
	address := chtest.Database(t)
	open(t, address)
	conn := sql(t, address)
	exec(t, conn, "TRUNCATE TABLE schema_migrations")
	exec(t, conn, "DROP TABLE run_logs")
	exec(t, conn, "DROP TABLE run_events")
	s := open(t, address)
	if err := s.WriteLines(t.Context(), "T:1-1", []runlog.Line{line(1)}); err != nil {
		t.Error(err)
	}
}

func TestDatabaseOfAnotherSchemaIsRefused(t *testing.T) {
	address := chtest.Database(t)
	open(t, address)
	conn := sql(t, address)
	exec(t, conn, "INSERT INTO schema_migrations VALUES (1, '0001-history.sql', 'abc', now() + 60)")
	wantPrepareError(t, address, job.ErrInvalid, "made by another schema of version 1 than this program's")
	exec(t, conn, "INSERT INTO schema_migrations VALUES (99, '0099-future.sql', '', now())")
	wantPrepareError(t, address, job.ErrInvalid, "schema version 99, and this program understands only 1")
}

func TestWrongPasswordIsToldAndNotShown(t *testing.T) {
	// On a server of its own: clickhouse-local does not survive it.
	server := chtest.Start(t, chserver.Config{Dir: t.TempDir()})
	wantPrepareError(t, "clickhouse://carillon:guess@"+server.Addr()+"/d", job.ErrInvalid, "user or password is wrong")
}

func TestServerThatIsAwayIsUnavailable(t *testing.T) {
	wantPrepareError(t, "clickhouse://127.0.0.1:1/d", job.ErrUnavailable, "clickhouse://127.0.0.1:1/d")
}

var fire = time.Date(2026, 1, 5, 3, 0, 0, 0, time.UTC)

const report job.Name = "billing/report"

func line(seq int64) runlog.Line {
	return runlog.Line{RunID: job.FireRunID(report, fire.UnixMilli(), job.CauseSchedule), Job: report, Attempt: 1, Seq: seq, At: fire, Level: "info", Output: "log", Text: "hello"}
}

// end is a finished run of the n-th minute.
func end(n int) logstore.Update {
	at := fire.Add(time.Duration(n) * time.Minute)
	return logstore.Update{
		Kind: runlog.KindFinished, RunID: job.FireRunID(report, at.UnixMilli(), job.CauseSchedule), Job: report, Version: 1, Attempt: 1,
		Cause: job.CauseSchedule, At: at.Add(time.Second), Status: job.StatusSucceeded, CommittedAt: at, StartedAt: at.Add(10 * time.Millisecond),
		Instance: "worker-1", Delivery: 1,
	}
}

func count(t *testing.T, conn driver.Conn, query string) uint64 {
	t.Helper()
	var n uint64
	if err := conn.QueryRow(t.Context(), query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// A view that fails leaves a write half done: its rows are there, and what the view
// makes of them is not. The repeat must complete it, and count nothing twice.
func TestARepeatCompletesAWriteThatFailedInAView(t *testing.T) {
	address := chtest.Database(t)
	s, conn := open(t, address), sql(t, address)
	exec(t, conn, "CREATE TABLE taken (sign Int8, ends UInt8) ENGINE = MergeTree ORDER BY () SETTINGS non_replicated_deduplication_window = 100")
	exec(t, conn, "CREATE MATERIALIZED VIEW broken TO taken AS SELECT throwIf(attempt = 1)::Int8 AS sign, 1 AS ends FROM runs")
	begun := func(n int) logstore.Update {
		u := end(n)
		u.Kind, u.Status = runlog.KindStarted, ""
		return u
	}
	batch := []logstore.Update{begun(0), end(0), begun(1), end(1)}
	if err := s.WriteRuns(t.Context(), "EVT:1-2", batch); err == nil {
		t.Fatal("a write succeeded although a view failed")
	}
	exec(t, conn, "DROP TABLE broken")
	exec(t, conn, "CREATE MATERIALIZED VIEW mended TO taken AS SELECT sign, status = 'succeeded' AS ends FROM runs")
	for range 2 {
		if err := s.WriteRuns(t.Context(), "EVT:1-2", batch); err != nil {
			t.Fatal(err)
		}
	}
	if n := count(t, conn, "SELECT count() FROM runs"); n != 2 {
		t.Errorf("there are %d rows; want 2", n)
	}
	if n := count(t, conn, "SELECT toUInt64(sum(sign * ends)) FROM taken"); n != 2 {
		t.Errorf("the view has counted %d ends; want 2", n)
	}
}

// Rows are counted without FINAL here: repeats must not get into the table at all,
// since the reports count them as they come in.
func TestRepeatsUnderAnotherTokenWriteNoRow(t *testing.T) {
	address := chtest.Database(t)
	s, conn := open(t, address), sql(t, address)
	for i, token := range []string{"EVT:1-10", "EVT:1-5", "EVT:6-10", "EVT:3-14"} {
		from, to := []int{0, 0, 5, 2}[i], []int{10, 5, 10, 14}[i]
		var batch []logstore.Update
		for n := from; n < to; n++ {
			batch = append(batch, end(n))
		}
		if err := s.WriteRuns(t.Context(), token, batch); err != nil {
			t.Fatal(err)
		}
	}
	if n := count(t, conn, "SELECT count() FROM runs"); n != 14 {
		t.Errorf("there are %d rows; want 14", n)
	}
}

func TestAnAttemptWithTwoRowsIsListedOnce(t *testing.T) {
	address := chtest.Database(t)
	s, conn := open(t, address), sql(t, address)
	if err := s.WriteRuns(t.Context(), "EVT:1-3", []logstore.Update{end(0), end(1), end(2)}); err != nil {
		t.Fatal(err)
	}
	exec(t, conn, "INSERT INTO runs SELECT * FROM runs")
	var got []job.RunID
	for f := (logstore.RunFilter{Limit: 2}); ; {
		page, err := s.Runs(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		for i := range page.Runs {
			got = append(got, page.Runs[i].RunID)
		}
		if f.Cursor = page.Next; page.Next == "" {
			break
		}
	}
	if want := []job.RunID{end(2).RunID, end(1).RunID, end(0).RunID}; !slices.Equal(got, want) {
		t.Errorf("the pages have %v; want %v", got, want)
	}
	last, err := s.LastRuns(t.Context(), []job.Name{report}, 3)
	if err != nil || len(last[report]) != 3 {
		t.Errorf("the last runs are %+v, with %v; want 3", last, err)
	}
}

// A change takes back the row that was, so sums are right before any merge and after,
// and what two writers made a mess of is put right by the next change.
func TestRowsCancelOut(t *testing.T) {
	address := chtest.Database(t)
	s, conn := open(t, address), sql(t, address)
	exec(t, conn, "SYSTEM STOP MERGES runs")
	begun := end(0)
	begun.Kind, begun.Status = runlog.KindStarted, ""
	for i, u := range []logstore.Update{begun, end(0)} {
		if err := s.WriteRuns(t.Context(), fmt.Sprintf("EVT:%d-%d", i, i), []logstore.Update{u}); err != nil {
			t.Fatal(err)
		}
	}
	check := func(rows uint64) {
		t.Helper()
		if n := count(t, conn, "SELECT count() FROM runs"); n != rows {
			t.Errorf("there are %d rows; want %d", n, rows)
		}
		for _, f := range []logstore.RunFilter{{}, {AllAttempts: true}} {
			counts, err := s.Counts(t.Context(), f)
			if diff := cmp.Diff(map[job.Status]int{job.StatusSucceeded: 1}, counts); diff != "" || err != nil {
				t.Errorf("counts differ, with %v (-want +got):\n%s", err, diff)
			}
		}
	}
	check(3)
	exec(t, conn, "SYSTEM START MERGES runs")
	exec(t, conn, "OPTIMIZE TABLE runs FINAL")
	check(1)

	exec(t, conn, "SYSTEM STOP MERGES runs")
	exec(t, conn, "INSERT INTO runs SELECT * FROM runs")
	ruled := end(0)
	ruled.Kind, ruled.Status, ruled.Reason = runlog.KindRecorded, job.StatusSucceeded, "seen twice"
	if err := s.WriteRuns(t.Context(), "TRIG:1-1", []logstore.Update{ruled}); err != nil {
		t.Fatal(err)
	}
	check(5)
}

// With a preprocessor instead of the expression, 26.7 finds no rows where it does not
// read the index; and with its top-k filter it reads the text of all lines.
func TestASearchReadsTheIndexAndFindsWordsInAnyCase(t *testing.T) {
	address := chtest.Database(t)
	s, conn := open(t, address), sql(t, address)
	var lines []runlog.Line
	for seq := range int64(20_000) {
		l := line(seq + 1)
		if l.Text = "nothing to say"; seq == 7 {
			l.Text = "A DeadLock in Table 12"
		}
		lines = append(lines, l)
	}
	if err := s.WriteLines(t.Context(), "LOG:1-1", lines); err != nil {
		t.Fatal(err)
	}
	page, err := s.Search(t.Context(), logstore.SearchFilter{Text: "table DEADLOCK"})
	if err != nil || len(page.Lines) != 1 || page.Lines[0].Seq != 8 {
		t.Errorf("the search finds %+v, with %v; want line 8", page.Lines, err)
	}
	rows, err := conn.Query(t.Context(), "EXPLAIN indexes = 1 SELECT seq FROM run_logs WHERE hasAllTokens(lower(text), 'deadlock') SETTINGS use_top_k_dynamic_filtering = 0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var plan strings.Builder
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		plan.WriteString(text + "\n")
	}
	if !strings.Contains(plan.String(), "Name: ix_text") {
		t.Errorf("the index of words is not read:\n%s", &plan)
	}
}

func TestABackfillOfYearsIsOneWrite(t *testing.T) {
	s := open(t, chtest.Database(t))
	var batch []logstore.Update
	for day := range 400 {
		batch = append(batch, end(day*24*60))
	}
	if err := s.WriteRuns(t.Context(), "EVT:1-400", batch); err != nil {
		t.Fatal(err)
	}
	counts, err := s.Counts(t.Context(), logstore.RunFilter{})
	if err != nil || counts[job.StatusSucceeded] != 400 {
		t.Errorf("counts are %v, with %v; want 400", counts, err)
	}
}

func TestInstantsBeyondAllReasonAreKept(t *testing.T) {
	s := open(t, chtest.Database(t))
	late := time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	u := end(0)
	u.RunID = job.NewRunID(late)
	u.At, u.CommittedAt, u.StartedAt, u.FinishedAt = late, time.Date(1, 1, 1, 0, 0, 1, 0, time.UTC), late, late
	l := line(1)
	l.RunID, l.At = u.RunID, late
	if err := s.WriteRuns(t.Context(), "EVT:1-1", []logstore.Update{u, end(1)}); err != nil {
		t.Fatal(err)
	}
	if err := s.WriteLines(t.Context(), "LOG:1-1", []runlog.Line{l}); err != nil {
		t.Fatal(err)
	}
	page, err := s.Runs(t.Context(), logstore.RunFilter{Limit: 1})
	if err != nil || len(page.Runs) != 1 || page.Runs[0].RunID != u.RunID || !page.Runs[0].FireTime.Equal(late) {
		t.Errorf("the newest run is %+v, with %v", page.Runs, err)
	}
	page, err = s.Runs(t.Context(), logstore.RunFilter{Cursor: page.Next})
	if err != nil || len(page.Runs) != 1 {
		t.Errorf("the second page is %+v, with %v", page.Runs, err)
	}
	if lines, err := s.Lines(t.Context(), logstore.LineFilter{RunID: u.RunID, Attempt: 1}); err != nil || len(lines) != 1 {
		t.Errorf("the log is %+v, with %v", lines, err)
	}
}

// withOption adds an option to an address.
func withOption(address, option string) string {
	if strings.Contains(address, "?") {
		return address + "&" + option
	}
	return address + "?" + option
}

func TestTheIndexOfWordsMayBeTurnedOffAndOnAgain(t *testing.T) {
	address := chtest.Database(t)
	conn := sql(t, address)
	const indexes = "SELECT count() FROM system.data_skipping_indices WHERE database = currentDatabase() AND table = 'run_logs' AND name = 'ix_text'"
	for i, setting := range []string{"text_index=true", "text_index=false", "text_index=true"} {
		s := open(t, withOption(address, setting))
		l := line(int64(i + 1))
		l.Text = "A DeadLock in Table 12"
		if err := s.WriteLines(t.Context(), fmt.Sprintf("LOG:%d-%d", i, i), []runlog.Line{l}); err != nil {
			t.Fatal(err)
		}
		page, err := s.Search(t.Context(), logstore.SearchFilter{Text: "deadlock 12"})
		if err != nil || len(page.Lines) != i+1 {
			t.Errorf("with %s a search finds %+v, with %v; want %d lines", setting, page.Lines, err, i+1)
		}
		if n := count(t, conn, indexes); (n == 1) != (i != 1) {
			t.Errorf("with %s there are %d indexes", setting, n)
		}
	}
}
