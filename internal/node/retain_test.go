package node

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/cluster/clustertest"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/sqlite"
)

func TestAClockThatIsAheadDeletesNoHistory(t *testing.T) {
	start := time.Date(2026, time.January, 5, 3, 0, 0, 0, time.UTC)
	bustest.Run(t, start, func(t *testing.T) {
		broker := bustest.NewBroker(t)
		conn := clustertest.Setup(t, broker, "a", 8)
		store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "history.db"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		fire := start.Add(-60 * logstore.Day)
		err = store.WriteRuns(t.Context(), "TRIG:1-1", []logstore.Update{{
			Kind: runlog.KindRecorded, RunID: job.NewRunID(fire), Job: "billing/report", Version: 1, Attempt: 1, Cause: job.CauseSchedule, At: fire, Status: job.StatusSkipped,
		}})
		if err != nil {
			t.Fatal(err)
		}
		trim := func(keepRuns, ahead time.Duration) (logstore.Trimmed, error) {
			kept := job.Retention{Default: job.Keep{Runs: job.Duration(keepRuns), Logs: job.Duration(keepRuns)}}
			if _, err := conn.Retention().Put(t.Context(), kept, cluster.Edit{At: time.Now()}); err != nil {
				t.Fatal(err)
			}
			return nodeConfig{node: "a"}.trim(t.Context(), conn, store, time.Now().Add(ahead))
		}
		if got, err := trim(90*logstore.Day, 365*logstore.Day); !errors.Is(err, job.ErrConflict) || !strings.Contains(err.Error(), "clock is 8760h0m0s ahead of that of NATS") || got.Runs != 0 {
			t.Errorf("with a clock that is a year ahead it deletes %+v, with %v", got, err)
		}
		if got, err := trim(90*logstore.Day, time.Minute); err != nil || got.Runs != 0 {
			t.Errorf("of what is kept for longer it deletes %+v, with %v", got, err)
		}
		if got, err := trim(30*logstore.Day, time.Minute); err != nil || got.Runs != 1 {
			t.Errorf("of what is too old it deletes %+v, with %v", got, err)
		}
		if got, err := trim(30*logstore.Day, -time.Hour); err != nil {
			t.Errorf("with a clock that is behind it deletes %+v, with %v", got, err)
		}
	})
}
