package clickhouse_test

import (
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/internal/chserver/chtest"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// A ClickHouse that is killed may know the token of a block and not have the block. It takes
// a repeat under this token for done.
func TestARepeatBringsWhatClickHouseTakesForStored(t *testing.T) {
	address := chtest.Database(t)
	s, db := open(t, address), sql(t, address)
	ended := endAt(time.Now().UTC().Truncate(time.Hour))
	ended.Kind = runlog.KindFinished
	started := ended
	started.Kind, started.Status = runlog.KindStarted, ""
	updates, lines := []logstore.Update{started, ended}, []runlog.Line{line(1)}
	if err := s.WriteRuns(t.Context(), "EVT:1-2", updates); err != nil {
		t.Fatal(err)
	}
	if err := s.WriteLines(t.Context(), "LOG:1-1", lines); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"runs", "run_events", "run_logs"} {
		exec(t, db, "ALTER TABLE "+table+" DELETE WHERE true SETTINGS mutations_sync = 2")
	}
	for range 2 { // killed once more
		if err := s.Repeats().WriteRuns(t.Context(), "EVT:1-2", updates); err != nil {
			t.Fatal(err)
		}
		if err := s.Repeats().WriteLines(t.Context(), "LOG:1-1", lines); err != nil {
			t.Fatal(err)
		}
	}
	wantStored(t, s, 1, 1)
	wantEachCounted(t, address, 1)
	changes, err := s.Changes(t.Context(), ended.RunID, runlog.Whole)
	if err != nil || len(changes) < 2 {
		t.Errorf("the timeline is %v, %v; want a start and an end", changes, err)
	}
}

// A killed ClickHouse may also have some views of a block and not others.
func TestARepeatMakesReportsCountOnceWhateverTheyHad(t *testing.T) {
	address := chtest.Database(t)
	s, db := open(t, address), sql(t, address)
	updates := []logstore.Update{endAt(time.Now().UTC().Truncate(time.Hour))}
	if err := s.WriteRuns(t.Context(), "EVT:1-1", updates); err != nil {
		t.Fatal(err)
	}
	exec(t, db, "TRUNCATE TABLE report_hour")
	exec(t, db, "INSERT INTO report_minute SELECT * FROM report_minute SETTINGS insert_deduplicate = 0")
	if err := s.Repeats().WriteRuns(t.Context(), "EVT:1-1", updates); err != nil {
		t.Fatal(err)
	}
	wantEachCounted(t, address, 1)
}

func wantEachCounted(t *testing.T, address string, succeeded uint64) {
	t.Helper()
	db := sql(t, address)
	for _, table := range counted {
		if n := count(t, db, "SELECT toUInt64(sum(succeeded)) FROM "+table); n != succeeded {
			t.Errorf("%s has %d runs that succeeded; want %d", table, n, succeeded)
		}
	}
}
