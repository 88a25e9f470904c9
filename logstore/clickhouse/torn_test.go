package clickhouse_test

import (
	"strings"
	"testing"
	"time"

	ch "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/carillon-scheduler/carillon/internal/chserver/chtest"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/clickhouse"
)

// endAt is the end of a run that fired at an instant.
func endAt(at time.Time) logstore.Update {
	u := end(0)
	u.RunID = job.FireRunID(report, at.UnixMilli(), job.CauseSchedule)
	u.CommittedAt, u.StartedAt, u.At = at, at, at.Add(time.Second)
	return u
}

// torn is a database in which a run was lost, and called off by a write with a token that
// the reports have not got, and that the table of runs has merged with what it takes back.
type torn struct {
	store *clickhouse.Store
	db    driver.Conn

	token  string
	called logstore.Update
}

var counted = []string{"report_minute", "report_hour", "report_day", "report_instance"}

// tear makes such a database with a run that fired at an instant.
func tear(t *testing.T, at time.Time) torn {
	t.Helper()
	address := chtest.Database(t)
	lost := endAt(at)
	lost.Status = job.StatusLost
	called := logstore.Update{Kind: runlog.KindRecorded, RunID: lost.RunID, Job: lost.Job, Version: lost.Version, Attempt: lost.Attempt, Cause: lost.Cause, At: lost.At.Add(time.Second), Status: job.StatusCancelled, Reason: "called off"}
	r := torn{store: open(t, address), db: sql(t, address), token: "TRIG:1-1", called: called}
	other := endAt(at) // whose runs retention takes in one of the tests
	other.Job = "ops/kept-for-an-hour"
	other.RunID = job.FireRunID(other.Job, at.UnixMilli(), job.CauseSchedule)
	r.write(t, "EVT:1-1", lost, other)
	for _, table := range counted {
		exec(t, r.db, "CREATE TABLE was_"+table+" AS "+table)
		exec(t, r.db, "INSERT INTO was_"+table+" SELECT * FROM "+table)
	}
	r.write(t, r.token, called)
	exec(t, r.db, "OPTIMIZE TABLE runs FINAL")
	for _, table := range counted { // as if their views had got nothing of that; the day's is one of the hours
		exec(t, r.db, "TRUNCATE TABLE "+table)
	}
	for _, table := range []string{"report_minute", "report_hour", "report_instance"} {
		exec(t, r.db, "INSERT INTO "+table+" SELECT * FROM was_"+table)
	}
	return r
}

func (r *torn) write(t *testing.T, token string, updates ...logstore.Update) {
	t.Helper()
	if err := r.store.WriteRuns(t.Context(), token, updates); err != nil {
		t.Fatal(err)
	}
}

func (r *torn) repeat(t *testing.T) {
	t.Helper()
	if err := r.store.Repeats().WriteRuns(t.Context(), r.token, []logstore.Update{r.called}); err != nil {
		t.Fatal(err)
	}
}

// wantCounted fails the test unless the reports have so many runs.
func (r *torn) wantCounted(t *testing.T, cancelled, lost, succeeded uint64) {
	t.Helper()
	for _, table := range []string{"report_minute", "report_hour", "report_day"} {
		for status, want := range map[string]uint64{"cancelled": cancelled, "lost": lost, "succeeded": succeeded, "failed + timed_out + skipped + missed": 0} {
			if n := count(t, r.db, "SELECT toUInt64(sum("+status+")) FROM "+table); n != want {
				t.Errorf("%s has %d runs that are %s, want %d", table, n, status, want)
			}
		}
	}
}

// A server that is killed may have a write in its table of runs and not in the reports,
// which are views of what is inserted. Once the rows that the write takes back have been
// merged away, its repeat does not know them any more.
func TestARepeatAfterAMergeMakesTheReportsOfItsDayAnew(t *testing.T) {
	for name, day := range map[string]int{"today": 0, "after an outage of days": -3} { // minutes are kept for a week
		t.Run(name, func(t *testing.T) {
			r := tear(t, time.Now().UTC().Truncate(time.Hour).AddDate(0, 0, day))
			for range 2 { // killed once more
				r.repeat(t)
			}
			r.wantCounted(t, 1, 0, 1)
		})
	}
}

// Reports outlive runs, and must not be made anew of those that are left.
func TestReportsOfRunsThatRetentionTookStay(t *testing.T) {
	r := tear(t, time.Now().UTC().Truncate(time.Hour).AddDate(0, 0, -3))
	keep := logstore.DefaultRetention()
	keep.Jobs = map[job.Name]job.Keep{"ops/kept-for-an-hour": {Runs: job.Duration(time.Hour)}}
	if trimmed, err := r.store.Trim(t.Context(), time.Now(), keep); err != nil || trimmed.Runs != 1 {
		t.Fatalf("%d runs were trimmed, %v; want 1", trimmed.Runs, err)
	}
	r.repeat(t)
	r.wantCounted(t, 1, 1, 1) // the run of the day that was called off counts as both
}

// A day's reports that are made anew lose what was counted before, and must not forget
// which writes that was: ClickHouse removes what has no rows, soon after.
func TestARecountRemembersWhatWasCounted(t *testing.T) {
	address := chtest.Database(t)
	s := open(t, address)
	db := sql(t, address)
	exec(t, db, "CREATE TABLE removing (n UInt8) ENGINE = MergeTree ORDER BY n")
	for _, table := range append(counted, "removing") { // the pause counts from when a table is attached
		exec(t, db, "ALTER TABLE "+table+" MODIFY SETTING cleanup_delay_period = 1, cleanup_delay_period_random_add = 0, max_cleanup_delay_period = 1")
		exec(t, db, "DETACH TABLE "+table+" SYNC")
		exec(t, db, "ATTACH TABLE "+table)
	}
	at := time.Now().UTC().Truncate(logstore.Day).Add(-2 * logstore.Day) // minutes are kept for a week
	succeeded := endAt(at)
	write := func() {
		t.Helper()
		if err := s.WriteRuns(t.Context(), "EVT:1-1", []logstore.Update{succeeded}); err != nil {
			t.Fatal(err)
		}
	}
	write()
	if err := s.Repair(t.Context(), at); err != nil {
		t.Fatal(err)
	}
	for range 3 { // as long as it takes that of a table which was not told to keep it
		exec(t, db, "INSERT INTO removing VALUES (1)")
		exec(t, db, "ALTER TABLE removing DELETE WHERE true SETTINGS mutations_sync = 2")
		for count(t, db, "SELECT count() FROM system.parts WHERE active AND database = currentDatabase() AND table = 'removing'") > 0 { // asks until it is so
		}
	}
	write()
	for _, table := range counted {
		if n := count(t, db, "SELECT toUInt64(sum(succeeded)) FROM "+table); n != 1 {
			t.Errorf("%s has %d runs that succeeded, want 1", table, n)
		}
	}
}

// What kept an answer waiting may have been given up and tried again, and be at work still.
func TestARecountEndsTheOneBefore(t *testing.T) {
	address := chtest.Database(t)
	s := open(t, address)
	db := sql(t, address)
	at := time.Now().UTC().Truncate(logstore.Day).Add(-2 * logstore.Day)
	succeeded := endAt(at)
	if err := s.WriteRuns(t.Context(), "EVT:1-1", []logstore.Update{succeeded}); err != nil {
		t.Fatal(err)
	}
	exec(t, db, "CREATE TABLE slow (n UInt64) ENGINE = MergeTree ORDER BY n")
	before := make(chan error, 1)
	id := "carillon-recount-" + address[strings.LastIndex(address, "/")+1:]
	go func() {
		before <- db.Exec(ch.Context(t.Context(), ch.WithQueryID(id)), "INSERT INTO slow SELECT number + sleepEachRow(1) FROM numbers(600) SETTINGS max_block_size = 1, function_sleep_max_microseconds_per_block = 0")
	}()
	for count(t, db, "SELECT count() FROM system.processes WHERE query_id = '"+id+"'") == 0 { // asks until it is so
	}
	if err := s.Repair(t.Context(), at); err != nil {
		t.Error(err)
	}
	// Its own last statement, of the same id, may be in the list for a moment more.
	if n := count(t, db, "SELECT count() FROM system.processes WHERE query_id = '"+id+"' AND query LIKE 'INSERT INTO slow%'"); n != 0 {
		t.Fatal("the statement of the recount before is at work still")
	}
	if err := <-before; err == nil {
		t.Error("the statement of the recount before has come to its end")
	}
}
