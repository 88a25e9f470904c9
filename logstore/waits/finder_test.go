package waits_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/cluster/clustertest"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/finding"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/journal"
	"github.com/carillon-scheduler/carillon/ledger"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/sqlite"
	"github.com/carillon-scheduler/carillon/logstore/waits"
)

const (
	hourly job.Name = "etl/hour"
	daily  job.Name = "etl/day"
	shards          = 2
)

// world is a broker, a history, a finder, and the owner of all steps.
type world struct {
	*testing.T
	conn   *cluster.Conn
	store  *mortal
	ledger *ledger.Ledger
	finder *waits.Finder
	told   []bus.WaitRequest
	writes int
}

// mortal is a history that may be away.
type mortal struct {
	logstore.Store
	away bool
}

var errAway = errors.New("the history is away")

func (m *mortal) OpenWaits(ctx context.Context, f logstore.WaitFilter) ([]runlog.Run, error) {
	if m.away {
		return nil, errAway
	}
	return m.Store.OpenWaits(ctx, f)
}

func run(t *testing.T, from time.Time, f func(w *world)) {
	t.Helper()
	bustest.Run(t, from, func(t *testing.T) {
		w := &world{T: t}
		broker := bustest.NewBroker(t)
		w.conn = clustertest.Setup(t, broker, "test", shards)
		store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "log.db"))
		w.check(err)
		t.Cleanup(func() { w.check(store.Close()) })
		w.store = &mortal{Store: store}
		w.ledger = ledger.New(w.conn, w.store, logstore.DefaultRetention())
		w.finder = waits.NewFinder(w.conn, w.store, w.ledger, slog.New(slog.DiscardHandler))
		for shard := range shards {
			sub, err := w.conn.NC.Subscribe(bus.SubjectCommand(shard, bus.VerbWait), func(m *nats.Msg) {
				var r bus.WaitRequest
				w.check(json.Unmarshal(m.Data, &r))
				w.check(r.Validate())
				w.told = append(w.told, r)
				w.check(bus.Respond(m, bus.TriggerReply{RunID: r.RunID, Step: r.Step, Round: 1, Status: job.StatusSucceeded}, nil))
			})
			w.check(err)
			t.Cleanup(func() { w.check(sub.Unsubscribe()) })
		}
		f(w)
	})
}

func (w *world) check(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// save saves a job that fires every hour, as the schedule says.
func (w *world) save(change func(j *job.Job)) {
	w.Helper()
	j := job.Job{Job: hourly, Schedule: job.Schedule{Cron: "0 * * * *"}, Task: job.Task{Shell: "true"}}
	if change != nil {
		change(&j)
	}
	_, _, err := w.conn.Jobs().Put(w.Context(), j.WithDefaults(), cluster.Edit{At: time.Now().Add(-time.Millisecond)})
	w.check(err)
}

func (w *world) write(updates ...logstore.Update) {
	w.Helper()
	w.writes++
	w.check(w.store.WriteRuns(w.Context(), fmt.Sprintf("TEST:%d", w.writes), updates))
}

// ran has the history say how the run of the hourly fire at an instant has ended.
func (w *world) ran(at time.Time, s job.Status, change ...func(*logstore.Update)) {
	w.Helper()
	u := logstore.Update{
		Kind: runlog.KindRecorded, RunID: job.FireRunID(hourly, at.UnixMilli(), job.CauseSchedule), Job: hourly, Version: 1, Attempt: 1,
		Cause: job.CauseSchedule, At: time.Now(), Status: s,
	}
	for _, f := range change {
		f(&u)
	}
	w.write(u)
}

// decided moves the cursors of all shards.
func (w *world) decided(to time.Time) {
	w.Helper()
	for shard := range shards {
		m, err := (&journal.Cursor{Shard: shard, Epoch: 1, Node: "n", Commit: "1.1", Done: to, JobsSeq: 1000}).Msg()
		w.check(err)
		bus.Rollup(m)
		_, err = w.conn.JS.PublishMsg(w.Context(), m)
		w.check(err)
	}
}

// waits has the run of the daily fire at an instant wait for hourly runs.
func (w *world) waits(fire time.Time, of runlog.AwaitedRuns) job.RunID {
	w.Helper()
	u := waiting(daily, fire, of)
	w.write(u)
	return u.Parent
}

// waiting is what the history says of the run of a job's fire once it waits for runs, hourly ones if of names no job.
func waiting(name job.Name, fire time.Time, of runlog.AwaitedRuns) logstore.Update {
	id := job.FireRunID(name, fire.UnixMilli(), job.CauseSchedule)
	if of.Job == "" {
		of.Job = hourly
	}
	return logstore.Update{
		Kind: runlog.KindRecorded, RunID: job.StepRunID(id, "hours"), Job: name, Version: 1, Attempt: 1, Cause: job.CauseStep, At: time.Now(),
		Status: job.StatusQueued, Parent: id, Step: "hours",
		Wait: &runlog.Wait{Kind: runlog.WaitRuns, Since: time.Now().UTC().Truncate(time.Millisecond), Runs: &of},
	}
}

// look looks once, and returns how often the owner was told then.
func (w *world) look() int {
	w.Helper()
	before := len(w.told)
	_, err := w.finder.Look(w.Context())
	w.check(err)
	return len(w.told) - before
}

// says checks what a person reads of a wait.
func (w *world) says(fire time.Time, of runlog.AwaitedRuns, have string, missing ...string) {
	w.Helper()
	of.Job = hourly
	v, err := waits.NewReader(w.ledger, w.store).Read(w.Context(), &of, fire)
	w.check(err)
	var got []string
	for _, m := range v.Missing {
		got = append(got, string(m))
	}
	if d := cmp.Diff(append([]string{have}, missing...), append([]string{fmt.Sprintf("%d of %d", v.Have, v.Of)}, got...)); d != "" {
		w.Error(d)
	}
}

// result returns with what the owner was told first.
func (w *world) result() (r waits.Result) {
	w.Helper()
	w.check(json.Unmarshal(w.told[0].Result, &r))
	return r
}

var wholeDay = runlog.AwaitedRuns{From: midnight, To: hour(24)}

// 24 runs come one after the other; the step is told once all are there, within a second, and told again while it waits.
func TestAStepIsToldOnceAllRunsAreThere(t *testing.T) {
	run(t, midnight, func(w *world) {
		w.save(nil)
		time.Sleep(24*time.Hour + 30*time.Minute)
		w.decided(time.Now())
		for n := range 23 {
			w.ran(hour(n), job.StatusSucceeded)
		}
		w.ran(hour(23), job.StatusRunning, func(u *logstore.Update) { u.Kind, u.StartedAt = runlog.KindStarted, time.Now() })
		id := w.waits(time.Now(), wholeDay)
		if n := w.look(); n != 0 {
			w.Fatalf("told %d times", n)
		}
		w.says(time.Now(), wholeDay, "23 of 24", finding.AwaitedRun.With(hour(23), job.StatusRunning))
		w.ran(hour(23), job.StatusSucceeded)
		time.Sleep(time.Second)
		if n := w.look(); n != 1 {
			w.Fatalf("told %d times", n)
		}
		r := w.told[0]
		if r.RunID != id || r.Job != daily || r.Step != "hours" || r.Act != bus.WaitMet || r.Since.IsZero() {
			w.Errorf("%+v", r)
		}
		of := w.result()
		if of.Met != 24 || of.Of != 24 || len(of.Runs) != 24 || of.Runs[23].RunID != job.FireRunID(hourly, hour(23).UnixMilli(), job.CauseSchedule) {
			w.Errorf("%+v", of)
		}
		if n := w.look(); n != 0 {
			w.Errorf("told again at once, %d times", n)
		}
		time.Sleep(10 * time.Second)
		if n := w.look(); n != 1 || w.told[1].ID != r.ID {
			w.Errorf("told again %d times, by %v", n, w.told)
		}
	})
}

// A day in Berlin has 23 hours when the clocks go forward, and 25 when they go back.
func TestADayHasAsManyFiresAsHours(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		day   time.Time
		hours int
	}{
		{time.Date(2026, time.March, 29, 0, 0, 0, 0, berlin), 23},
		{time.Date(2026, time.October, 25, 0, 0, 0, 0, berlin), 25},
		{time.Date(2026, time.October, 26, 0, 0, 0, 0, berlin), 24},
	} {
		run(t, c.day.Add(-time.Hour).UTC(), func(w *world) {
			w.save(func(j *job.Job) { j.Schedule.Zone, j.Schedule.Cron = "Europe/Berlin", "0 * * * *" })
			next := c.day.AddDate(0, 0, 1)
			time.Sleep(time.Until(next) + time.Minute)
			w.decided(time.Now())
			of := runlog.AwaitedRuns{From: c.day.UTC(), To: next.UTC()}
			w.waits(next, of)
			for at := c.day; at.Before(next); at = at.Add(time.Hour) {
				if n := w.look(); n != 0 {
					w.Fatalf("told before the run of %s is there", at)
				}
				w.ran(at, job.StatusSucceeded)
				time.Sleep(time.Minute)
			}
			if n := w.look(); n != 1 || w.result().Of != c.hours || w.result().Met != c.hours {
				w.Errorf("told %d times: %+v; want %d hours", n, w.told, c.hours)
			}
		})
	}
}

// What failed is repeated: by a backfill, or as a rerun of the run. What was skipped by a pause is, too.
func TestARepeatOfAFireMeetsIt(t *testing.T) {
	run(t, midnight, func(w *world) {
		w.save(nil)
		time.Sleep(5 * time.Hour)
		w.decided(time.Now())
		of := runlog.AwaitedRuns{From: midnight, To: hour(4)}
		w.waits(hour(5), of)
		w.ran(hour(0), job.StatusSucceeded)
		w.ran(hour(1), job.StatusFailed)
		w.ran(hour(2), job.StatusFailed)
		w.ran(hour(3), job.StatusSkipped, func(u *logstore.Update) { u.Reason = reason.JobPaused.String() })
		w.says(hour(5), of, "1 of 4", finding.AwaitedRun.With(hour(1), job.StatusFailed), finding.AwaitedRun.With(hour(2), job.StatusFailed), finding.AwaitedSkipped.With(hour(3), reason.JobPaused))
		again := func(at time.Time, cause job.Cause, s job.Status, key string) {
			w.Helper()
			owed := job.FireRunID(hourly, at.UnixMilli(), job.CauseSchedule)
			w.ran(at, s, func(u *logstore.Update) { u.RunID, u.Cause, u.Parent = job.RetryRunID(owed, key), cause, owed })
			time.Sleep(time.Minute)
		}
		again(hour(1), job.CauseBackfill, job.StatusSucceeded, "b")
		again(hour(2), job.CauseRerun, job.StatusFailed, "one")
		again(hour(2), job.CauseRerun, job.StatusPending, "two")
		if n := w.look(); n != 0 {
			w.Fatalf("told %d times", n)
		}
		again(hour(2), job.CauseRerun, job.StatusSucceeded, "three")
		again(hour(3), job.CauseManual, job.StatusSucceeded, "of no fire")
		if n := w.look(); n != 0 {
			w.Fatalf("told %d times", n)
		}
		again(hour(3), job.CauseBackfill, job.StatusSucceeded, "b")
		if n := w.look(); n != 1 || w.result().Met != 4 {
			w.Errorf("told %d times: %+v", n, w.told)
		}
	})
}

// Somebody had a fire run early: its run met it, though the fire itself was skipped.
func TestARunInThePlaceOfAFireMeetsIt(t *testing.T) {
	run(t, midnight, func(w *world) {
		w.save(nil)
		time.Sleep(2 * time.Hour)
		w.decided(time.Now())
		of := runlog.AwaitedRuns{From: midnight, To: hour(1)}
		w.waits(hour(1), of)
		early := job.NewRunID(hour(0).Add(-time.Minute))
		w.ran(hour(0), job.StatusSkipped, func(u *logstore.Update) { u.Reason = reason.AskedEarly.With("ann", early) })
		if n := w.look(); n != 0 {
			w.Fatalf("told %d times", n)
		}
		w.ran(hour(0), job.StatusSucceeded, func(u *logstore.Update) { u.RunID, u.Cause = early, job.CauseManual })
		time.Sleep(time.Minute)
		if n := w.look(); n != 1 || w.result().Runs[0].RunID != early {
			w.Errorf("told %d times: %+v", n, w.told)
		}
	})
}

func TestFiresThatACalendarExcludesAreNotOwed(t *testing.T) {
	run(t, midnight, func(w *world) {
		w.save(nil)
		time.Sleep(4 * time.Hour)
		w.decided(time.Now())
		of := runlog.AwaitedRuns{From: midnight, To: hour(3)}
		w.waits(hour(4), of)
		w.ran(hour(0), job.StatusSucceeded)
		w.ran(hour(1), job.StatusSkipped, func(u *logstore.Update) { u.Reason = reason.CalendarExcludes.With("night") })
		w.ran(hour(2), job.StatusSkipped, func(u *logstore.Update) { u.Reason = reason.CalendarsOmit.String() })
		if n := w.look(); n != 1 || w.result().Of != 1 {
			w.Errorf("told %d times: %+v", n, w.told)
		}
	})
}

func TestAWaitForAJobThatIsDeletedSaysSo(t *testing.T) {
	run(t, midnight, func(w *world) {
		w.says(hour(1), wholeDay, "0 of 0", finding.AwaitedNoJob.With(hourly))
		w.save(nil)
		time.Sleep(90 * time.Minute)
		w.check(w.conn.Jobs().Delete(w.Context(), hourly, cluster.Edit{At: time.Now()}))
		time.Sleep(time.Hour)
		w.decided(time.Now())
		w.ran(hour(0), job.StatusSucceeded)
		w.ran(hour(1), job.StatusFailed)
		w.says(hour(24), wholeDay, "1 of 2", finding.AwaitedRun.With(hour(1), job.StatusFailed), finding.AwaitedDeleted.With(hourly))
		w.waits(hour(24), wholeDay)
		if n := w.look(); n != 0 {
			w.Errorf("told %d times", n)
		}
	})
}

// Nothing is found while the history is away, and all once it is back. Nobody else waits for that.
func TestAStepWaitsLongerWhileTheHistoryIsAway(t *testing.T) {
	run(t, midnight, func(w *world) {
		w.save(nil)
		time.Sleep(2 * time.Hour)
		w.decided(time.Now())
		w.ran(hour(0), job.StatusSucceeded)
		w.waits(hour(1), runlog.AwaitedRuns{From: midnight, To: hour(1)})
		w.store.away = true
		ctx, stop := context.WithCancel(w.Context())
		failed := 0
		done := make(chan struct{})
		go func() {
			defer close(done)
			for ctx.Err() == nil {
				if err := w.finder.Round(ctx); err != nil {
					failed++
				}
			}
		}()
		time.Sleep(10 * time.Minute)
		if len(w.told) != 0 || failed < 30 || failed > 61 {
			w.Errorf("told %d times; failed %d times", len(w.told), failed)
		}
		w.store.away = false
		time.Sleep(11 * time.Second)
		if len(w.told) == 0 {
			w.Error("nobody was told")
		}
		stop()
		<-done
	})
}

// A job that nobody here can read holds up those alone that wait for its runs.
func TestAJobThatCannotBeReadHoldsUpNoOtherStep(t *testing.T) {
	run(t, midnight, func(w *world) {
		const newer job.Name = "etl/newer"
		kv, err := w.conn.JS.KeyValue(w.Context(), bus.BucketJobs)
		w.check(err)
		_, err = kv.Put(w.Context(), bus.JobKey(newer.Shard(shards), newer), fmt.Appendf(nil, `{"version":1,"format":%d}`, job.VersionFormat+1))
		w.check(err)
		w.save(nil)
		time.Sleep(2 * time.Hour)
		w.decided(time.Now())
		w.ran(hour(0), job.StatusSucceeded)
		w.waits(hour(1), runlog.AwaitedRuns{Job: newer, From: midnight, To: hour(1)})
		w.waits(hour(2), runlog.AwaitedRuns{From: midnight, To: hour(1)})
		open, err := w.finder.Look(w.Context())
		if _, ok := errors.AsType[*cluster.FormatError](err); !ok || open != 2 || len(w.told) != 1 {
			w.Errorf("%d wait, told %d times: %v", open, len(w.told), err)
		}
		if n := w.look(); n != 0 {
			w.Errorf("told %d times", n)
		}
	})
}

// Each run waits for the one before it, whatever became of that.
func TestTheLastFiresAreThoseBeforeTheStepsOwn(t *testing.T) {
	run(t, midnight, func(w *world) {
		w.save(nil)
		time.Sleep(30 * time.Hour)
		w.decided(time.Now())
		last := func(n int) runlog.AwaitedRuns { return runlog.AwaitedRuns{Last: n} }
		w.says(midnight, last(1), "0 of 0")
		for n := range 30 {
			w.ran(hour(n), []job.Status{job.StatusSucceeded, job.StatusFailed}[n%2])
		}
		w.says(hour(5), last(1), "1 of 1")
		w.says(hour(6), last(1), "0 of 1", finding.AwaitedRun.With(hour(5), job.StatusFailed))
		w.says(hour(6), last(3), "1 of 3", finding.AwaitedRun.With(hour(3), job.StatusFailed), finding.AwaitedRun.With(hour(5), job.StatusFailed))
		w.says(hour(29), last(500), "15 of 29", func() (all []string) {
			for n := 1; n < 29; n += 2 {
				all = append(all, finding.AwaitedRun.With(hour(n), job.StatusFailed))
			}
			return all
		}()...)
		w.waits(hour(5), last(1))
		w.waits(hour(6), last(1))
		if n := w.look(); n != 1 || w.told[0].RunID != job.FireRunID(daily, hour(5).UnixMilli(), job.CauseSchedule) {
			w.Errorf("told %d times: %+v", n, w.told)
		}
	})
}

// A step that lacks much is judged less often than one whose last run is under way.
func TestAStepThatIsFarFromMetIsSeldomJudged(t *testing.T) {
	run(t, midnight, func(w *world) {
		w.save(nil)
		time.Sleep(2 * time.Hour)
		w.decided(time.Now())
		w.ran(hour(0), job.StatusFailed)
		of := runlog.AwaitedRuns{From: midnight, To: hour(1)}
		w.waits(hour(1), of)
		for range 65 {
			w.look()
			time.Sleep(time.Second)
		}
		owed := job.FireRunID(hourly, hour(0).UnixMilli(), job.CauseSchedule)
		w.ran(hour(0), job.StatusSucceeded, func(u *logstore.Update) { u.RunID, u.Cause, u.Parent = job.RetryRunID(owed, "k"), job.CauseRerun, owed })
		waited := 0
		for ; w.look() == 0; waited++ {
			time.Sleep(time.Second)
		}
		if waited < 2 || waited > 15 {
			w.Errorf("it was judged after %d s", waited)
		}
	})
}
