package clickhouse_test

import (
	"context"
	"errors"
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
)

func newAsked(t *testing.T) *clickhouse.Store {
	t.Helper()
	_, s := newAskedServer(t)
	return s
}

// newAskedServer returns a store on a server of its own, whose reader is that of
// deploy/clickhouse, with a run and its log in it.
func newAskedServer(t *testing.T) (*chserver.Server, *clickhouse.Store) {
	t.Helper()
	server := chtest.Start(t, chserver.Config{Dir: t.TempDir()})
	s, err := clickhouse.Open(server.URL("carillon"), clickhouse.Config{SQL: server.ReaderURL("carillon")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.WriteRuns(t.Context(), "EVT:1-1", []logstore.Update{end(0)}); err != nil {
		t.Fatal(err)
	}
	if err := s.WriteLines(t.Context(), "LOG:1-1", []runlog.Line{line(1)}); err != nil {
		t.Fatal(err)
	}
	return server, s
}

func ask(ctx context.Context, s *clickhouse.Store, statement string) (rows [][]any, err error) {
	a, err := s.Ask(ctx, statement, true)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	for {
		row, err := a.Next()
		if err != nil || row == nil {
			return rows, err
		}
		rows = append(rows, row)
	}
}

func TestPeopleAskTheHistoryInSQL(t *testing.T) {
	s := newAsked(t)
	want := func(statement string, want ...[]any) {
		t.Helper()
		got, err := ask(t.Context(), s, statement)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", statement, err, diff)
		}
	}
	want("SELECT job, toString(status), fire_time, toDate(fire_time), exit_code, duration_ms FROM runs;",
		[]any{"billing/report", "succeeded", "2026-01-05T03:00:00.000Z", "2026-01-05", nil, int64(990)})
	want("  -- lines\nSELECT text, run_id FROM run_logs", []any{"hello", string(end(0).RunID)})
	want("SELECT 'it''s system.one', '\\' system.one'", []any{"it's system.one", "' system.one"})
	want("WITH 2 AS x SELECT [x, 1], map('a', 1.5), nan, NULL, toDecimal64(1.25, 2), tuple(1, 'b')",
		[]any{[]any{uint8(2), uint8(1)}, map[string]any{"a": 1.5}, nil, nil, "1.25", []any{uint8(1), "b"}})
}

func TestSQLReadsTheHistoryAndDoesNothingElse(t *testing.T) {
	server, s := newAskedServer(t)
	conn := sql(t, server.URL("carillon"))
	exec(t, conn, "CREATE DICTIONARY words (id UInt64, word String) PRIMARY KEY id SOURCE(NULL()) LIFETIME(0) LAYOUT(FLAT())")
	exec(t, conn, "CREATE TABLE joined (id UInt64, word String) ENGINE = Join(ANY, LEFT, id)")
	refuse := func(statement string) {
		t.Helper()
		rows, err := ask(t.Context(), s, statement)
		if !errors.Is(err, job.ErrInvalid) {
			t.Errorf("%s gives %v, with %v; want job.ErrInvalid", statement, rows, err)
		}
	}
	for _, statement := range []string{
		"DROP TABLE runs", "CREATE TABLE x (a Int8) ENGINE = Memory", "ALTER TABLE runs DELETE WHERE 1", "TRUNCATE TABLE run_logs",
		"INSERT INTO runs SELECT * FROM runs", "CREATE TEMPORARY TABLE x (a Int8)", "SYSTEM STOP MERGES", "KILL QUERY WHERE 1", "SET readonly = 0",
		"SELECT 1; DROP TABLE runs", "WITH 1 AS x INSERT INTO runs SELECT * FROM runs",
		"SELECT * FROM url('http://127.0.0.1:1/', CSV, 'a String')", "SELECT * FROM file('/etc/passwd', CSV, 'a String')",
		"SELECT * FROM s3('http://127.0.0.1:1/x', 'CSV', 'a String')", "SELECT * FROM remote('127.0.0.1', system.one)",
		"SELECT * FROM executable('x', CSV, 'a String')", "SELECT * FROM mysql('h:1', 'd', 't', 'u', 'p')",
		"SELECT * FROM system.processes", "SELECT * FROM system.users", "SELECT * FROM system.parts", "SELECT * FROM system.query_log",
		"SELECT * FROM system.tables", "SELECT * FROM `system` . `columns`", "SELECT * FROM information_schema.tables", `SELECT 'a\'b', * FROM "system".one`,
		"SELECT * FROM schema_migrations", "SELECT * FROM no_such_table", "SELECT",
		"SELECT count() FROM runs SETTINGS max_execution_time = 61", "SELECT count() FROM runs SETTINGS max_execution_time = 0",
		"SELECT count() FROM runs SETTINGS max_memory_usage = 0", "SELECT count() FROM runs SETTINGS max_memory_usage = 2000000000",
		"SELECT count() FROM runs SETTINGS max_rows_to_read = 0", "SELECT count() FROM runs SETTINGS max_result_rows = 2000000",
		"SELECT count() FROM runs SETTINGS readonly = 0", "SELECT count() FROM runs SETTINGS allow_ddl = 1",
		"SELECT * FROM numbers(2000000)", "SELECT length(groupArray(number)) FROM numbers(1000000000)",
		"SELECT file('/etc/passwd')", "SELECT arrayMap(file, ['/etc/passwd'])", "SELECT * FROM (SELECT 1 SETTINGS max_execution_time = 0)",
		"SELECT 1 /* ' */, name FROM system.settings /* ' */", "SELECT 1 INTO OUTFILE '/tmp/x.csv'", "SELECT dictGet('words', 'word', 1)", "SELECT * FROM words", "SELECT joinGet('joined', 'word', 1)",
	} {
		refuse(statement)
	}
	if rows, err := ask(t.Context(), s, "SELECT count() FROM runs SETTINGS max_execution_time = 5"); err != nil || len(rows) != 1 {
		t.Errorf("a lower limit gives %v, with %v", rows, err)
	}
}

// Whoever has the user's password may ask the server itself.
func TestTheServerHoldsTheUserForSQLByItself(t *testing.T) {
	server, _ := newAskedServer(t)
	conn := sql(t, server.ReaderURL("carillon"))
	refuse := func(code int32, statement string) {
		t.Helper()
		var exception *ch.Exception
		if err := conn.Exec(t.Context(), statement); !errors.As(err, &exception) || exception.Code != code {
			t.Errorf("%s: the error is %v; want one with code %d", statement, err, code)
		}
	}
	const denied, constrained, spilled = 497, 452, 396
	for _, statement := range []string{
		"DROP TABLE runs", "CREATE TABLE x (a Int8) ENGINE = Memory", "INSERT INTO runs (attempt) VALUES (1)", "SELECT * FROM audit_log", "SELECT * FROM v_audit", "SELECT * FROM system.processes",
		"SELECT * FROM url('http://127.0.0.1:1/', CSV, 'a String')", "SELECT * FROM file('/etc/passwd', CSV, 'a String')", "SELECT * FROM remote('127.0.0.1:1', system.one)",
	} {
		refuse(denied, statement)
	}
	for _, setting := range []string{
		"max_execution_time = 0", "max_execution_time = 61", "max_memory_usage = 0", "max_memory_usage = 2000000000", "max_memory_usage_for_user = 0", "max_rows_to_read = 0", "max_result_rows = 0",
		"max_temporary_data_on_disk_size_for_query = 0", "max_concurrent_queries_for_user = 0", "max_threads = 16", "profile = 'default'",
	} {
		refuse(constrained, "SELECT 1 SETTINGS "+setting)
	}
	refuse(spilled, "SELECT count() FROM (SELECT number FROM numbers(1000000) GROUP BY number) SETTINGS max_temporary_data_on_disk_size_for_query = 1000, max_bytes_before_external_group_by = 1000, max_bytes_ratio_before_external_group_by = 0")
}

// asking is how many statements of people's the server is at.
func asking(t *testing.T, conn driver.Conn) uint64 {
	t.Helper()
	return count(t, conn, "SELECT count() FROM system.processes WHERE user = 'reports'")
}

func TestAQueryEndsWithItsContext(t *testing.T) {
	server, s := newAskedServer(t)
	conn := sql(t, server.URL("carillon"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := ask(ctx, s, "SELECT max(sipHash128(sipHash128(sipHash128(a)))) FROM generateRandom('a UInt64') SETTINGS max_threads = 1")
		ended <- err
	}()
	within := time.Now().Add(40 * time.Second)
	for asking(t, conn) == 0 {
		if time.Now().After(within) {
			t.Fatal("the server never had the query")
		}
	}
	cancel()
	if err := <-ended; !errors.Is(err, job.ErrInvalid) {
		t.Errorf("the error is %v; want job.ErrInvalid", err)
	}
	for asking(t, conn) > 0 {
		if time.Now().After(within) {
			t.Fatal("the server is still at the query")
		}
	}
}

func TestSQLNeedsAUserForIt(t *testing.T) {
	s, err := clickhouse.Open("clickhouse://carillon:secret@127.0.0.1:1/carillon", clickhouse.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if _, err := s.Ask(t.Context(), "SELECT 1", true); !errors.Is(err, job.ErrConflict) || !strings.Contains(err.Error(), "--sql") {
		t.Errorf("the error is %v; want job.ErrConflict that tells how", err)
	}
}

// Others than administrators may ask only as a user who cannot read the audit log.
func TestTheAuditLogIsKeptFromWhoMayAsk(t *testing.T) {
	server := chtest.Start(t, chserver.Config{Dir: t.TempDir()})
	opened := func(asked string) *clickhouse.Store {
		s, err := clickhouse.Open(server.URL("carillon"), clickhouse.Config{SQL: asked})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	reader, all := opened(server.ReaderURL("carillon")), opened(server.URL("carillon"))
	writeFacts(t, reader)
	for _, audit := range []bool{false, true} {
		if _, err := reader.Ask(t.Context(), "SELECT * FROM v_incidents", audit); err != nil {
			t.Errorf("incidents are not to be had: %v", err)
		}
		for _, statement := range []string{"SELECT * FROM v_audit", "SELECT * FROM audit_log", "SELECT (SELECT any(doc) FROM `audit\\x5flog`)", "SELECT * FROM merge('carillon', 'aud')", "SELECT * FROM loop(carillon, audit_log) LIMIT 1"} {
			a, err := reader.Ask(t.Context(), statement, audit)
			if err == nil {
				_, err = a.Next()
				_ = a.Close()
			}
			if !errors.Is(err, job.ErrInvalid) {
				t.Errorf("%s: the error is %v; want job.ErrInvalid", statement, err)
			}
		}
	}
	if _, err := all.Ask(t.Context(), "SELECT 1", false); !errors.Is(err, job.ErrConflict) || !strings.Contains(err.Error(), "audit_log") {
		t.Errorf("the error is %v; want one about audit_log", err)
	}
	if _, err := all.Ask(t.Context(), "SELECT 1", true); err != nil {
		t.Error(err)
	}
}
