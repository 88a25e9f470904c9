package targets_test

import (
	"errors"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/cluster/clustertest"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/sqlite"
	"github.com/carillon-scheduler/carillon/logstore/targets"
)

// world is a broker, a history, and a finder.
type world struct {
	*testing.T
	broker *bustest.Broker
	conn   *cluster.Conn
	store  logstore.Store
	finder *targets.Finder
	writes int
}

func run(t *testing.T, f func(w *world)) {
	t.Helper()
	bustest.Run(t, time.Date(2026, time.March, 5, 3, 0, 0, 0, time.UTC), func(t *testing.T) {
		w := &world{T: t, broker: bustest.NewBroker(t)}
		var err error
		w.conn = clustertest.Setup(t, w.broker, "test", 4)
		w.store, err = sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "log.db"))
		w.check(err)
		t.Cleanup(func() { w.check(w.store.Close()) })
		w.finder = targets.New(w.conn, w.store)
		f(w)
	})
}

func (w *world) check(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// save gives a job a target, or none.
func (w *world) save(name job.Name, target *job.Target) {
	w.Helper()
	j := job.Job{Job: name, Schedule: job.Schedule{Cron: "0 * * * *"}, Task: job.Task{Shell: "true"}, Target: target}.WithDefaults()
	_, _, err := w.conn.Jobs().Put(w.Context(), j, cluster.Edit{At: time.Now()})
	w.check(err)
}

// ended has so many runs of a job end some time ago, each an hour before the other.
func (w *world) ended(name job.Name, n int, ago time.Duration, cause job.Cause, status job.Status, late time.Duration) {
	w.Helper()
	updates := make([]logstore.Update, n)
	for i := range updates {
		fire := time.Now().Add(-ago - time.Duration(i)*time.Hour)
		updates[i] = logstore.Update{
			Kind: runlog.KindFinished, RunID: job.NewRunID(fire), Job: name, Version: 1, Attempt: 1, Cause: cause, At: fire.Add(late + time.Second), Status: status,
			Instance: "w", Delivery: 1, CommittedAt: fire, StartedAt: fire.Add(late), FinishedAt: fire.Add(late + time.Second),
		}
	}
	w.writes++
	w.check(w.store.WriteRuns(w.Context(), "TEST:"+strconv.Itoa(w.writes), updates))
}

// missed returns what a round finds.
func (w *world) missed() (names []job.Name, all map[job.Name]cluster.MissedTarget) {
	w.Helper()
	w.check(w.finder.Round(w.Context()))
	m, err := w.conn.Targets().Missed(w.Context())
	w.check(err)
	all = map[job.Name]cluster.MissedTarget{}
	for _, one := range m.Jobs {
		names, all[one.Job] = append(names, one.Job), one
	}
	return names, all
}

func TestJobsThatMissTheirTargetsAreFoundWhileTheyDo(t *testing.T) {
	run(t, func(w *world) {
		want := func(want ...job.Name) map[job.Name]cluster.MissedTarget {
			t.Helper()
			names, all := w.missed()
			if diff := cmp.Diff(want, names); diff != "" {
				t.Errorf("jobs that miss their targets differ (-want +got):\n%s", diff)
			}
			return all
		}
		w.save("g/bad", &job.Target{SuccessRate: 90})
		w.save("g/good", &job.Target{SuccessRate: 90})
		w.save("g/late", &job.Target{StartDelay: job.Duration(time.Minute)})
		w.save("g/free", nil)
		w.save("g/new", &job.Target{SuccessRate: 100})
		want()
		for _, name := range []job.Name{"g/bad", "g/good", "g/late", "g/free"} {
			w.ended(name, 50, 24*time.Hour, job.CauseSchedule, job.StatusSucceeded, time.Second)
		}
		w.ended("g/bad", 10, time.Hour, job.CauseSchedule, job.StatusFailed, time.Second)
		w.ended("g/good", 10, time.Hour, job.CauseManual, job.StatusFailed, time.Hour) // which no schedule asked for
		w.ended("g/good", 40, 50*24*time.Hour, job.CauseSchedule, job.StatusFailed, time.Second)
		w.ended("g/free", 10, time.Hour, job.CauseSchedule, job.StatusFailed, time.Hour)
		w.ended("g/late", 10, time.Hour, job.CauseSchedule, job.StatusSucceeded, time.Hour)
		all := want("g/bad", "g/late")
		if bad := all["g/bad"]; bad.Runs != 60 || bad.Failures != 10 || bad.Budget != -4 || bad.SuccessRate != 90 {
			t.Errorf("of the failing job it says %+v", bad)
		}
		if late := all["g/late"]; late.StartDelay.Std() < 59*time.Minute || late.Verdict.StartDelay.Std() != time.Minute {
			t.Errorf("of the late job it says %+v", late)
		}

		w.save("g/late", &job.Target{StartDelay: job.Duration(2 * time.Hour)})
		w.save("g/free", &job.Target{SuccessRate: 99})
		want("g/free", "g/bad")
		w.check(w.conn.Jobs().Delete(w.Context(), "g/free", cluster.Edit{At: time.Now()}))
		w.save("g/bad", nil)
		want()
	})
}

func TestTargetsAreFoundAfterJOBSWasCreatedAgain(t *testing.T) {
	run(t, func(w *world) {
		for i := range 4 { // so that the sequence is ahead of that of the next bucket
			w.save("g/gone", &job.Target{SuccessRate: float64(90 + i)})
		}
		for _, name := range []job.Name{"g/gone", "g/bad"} {
			w.ended(name, 50, time.Hour, job.CauseSchedule, job.StatusFailed, time.Second)
		}
		if names, _ := w.missed(); len(names) != 1 {
			t.Errorf("before, %v miss their targets", names)
		}
		time.Sleep(time.Second) // in which nothing is created
		w.check(w.conn.JS.DeleteKeyValue(w.Context(), bus.BucketJobs))
		w.check(w.conn.Setup(w.Context(), cluster.Assets{Shards: 4}))
		w.save("g/bad", &job.Target{SuccessRate: 90})
		if names, _ := w.missed(); len(names) != 1 || names[0] != "g/bad" {
			t.Errorf("afterwards, %v miss their targets; want g/bad", names)
		}
	})
}

func TestTargetsAreFoundAfterJOBSHasLostItsEnd(t *testing.T) {
	run(t, func(w *world) {
		w.save("g/bad", &job.Target{SuccessRate: 90})
		w.ended("g/bad", 50, time.Hour, job.CauseSchedule, job.StatusFailed, time.Second)
		w.finder = targets.New(clustertest.Open(w, w.broker, "finder"), w.store)
		want := func(what string, n int) {
			t.Helper()
			if names, _ := w.missed(); len(names) != n {
				t.Errorf("%s, %v miss their targets; want %d", what, names, n)
			}
		}
		want("before", 1)
		w.broker.Outdate("finder")
		if err := w.finder.Round(w.Context()); !errors.Is(err, job.ErrUnavailable) {
			t.Errorf("the leader of JOBS lacks what is known, since it may be cut off: %v", err)
		}
		want("without the end", 0)
		w.broker.Heal("finder")
		want("after the versions were saved again", 1)
	})
}
