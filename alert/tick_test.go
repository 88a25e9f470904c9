package alert_test

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
	"github.com/carillon-scheduler/carillon/job/fleet"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/journal"
)

func TestAtLengthARunThatIsNotBegunOrNotDoneInTimeIsTold(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		w.rule(alerting.Condition{StartsWithin: job.Duration(time.Minute)})
		w.rule(alerting.Condition{EndsWithin: job.Duration(5 * time.Minute)}, func(r *alerting.Rule) { r.Alert = "s" })
		waits, runs := w.trigger("billing/waits"), w.trigger("billing/runs")
		for _, tr := range []*bus.Trigger{waits, runs} {
			body, err := tr.Encode()
			if err != nil {
				w.t.Fatal(err)
			}
			w.put(bus.AppendTrigger(nil, tr, body), bus.SubjectTrigger(tr.Shard, "billing"))
		}
		w.publish(bus.EventOf(runs, bus.EventStarted, time.Now()))
		time.Sleep(50 * time.Second)
		w.wantSent()
		time.Sleep(20 * time.Second)
		w.wantSent("opened billing/waits has not started 1m after its fire time")
		w.publish(bus.EventOf(waits, bus.EventStarted, time.Now()))
		time.Sleep(settled)
		w.wantSent("recovered Resolved: billing/waits has not started 1m after its fire time")
		time.Sleep(5 * time.Minute)
		w.wantSent("opened billing/waits has not ended 5m after its fire time", "opened billing/runs has not ended 5m after its fire time")
		e := bus.EventOf(runs, bus.EventFinished, time.Now())
		e.Status = job.StatusFailed
		w.publish(e)
		time.Sleep(settled)
		w.wantSent() // it is late no longer, but has failed
	})
}

func TestARunThatWillLikelyEndLateIsToldBefore(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		w.rule(alerting.Condition{EndsWithin: job.Duration(10 * time.Minute), Predict: true})
		takes := func(name job.Name, d time.Duration) {
			w.ends(name, job.StatusSucceeded, func(e *bus.Event) { e.StartedAt = e.FinishedAt.Add(-d) })
		}
		for range 5 {
			takes("billing/begins", 8*time.Minute)
			takes("billing/waits", 8*time.Minute)
		}
		takes("billing/new", 8*time.Minute) // too few runs for an estimate
		trigger := func(name job.Name) *bus.Trigger {
			tr := w.trigger(name)
			body, err := tr.Encode()
			if err != nil {
				w.t.Fatal(err)
			}
			w.put(bus.AppendTrigger(nil, tr, body), bus.SubjectTrigger(tr.Shard, "billing"))
			return tr
		}
		waits, begins, _ := trigger("billing/waits"), trigger("billing/begins"), trigger("billing/new")
		w.publish(bus.EventOf(begins, bus.EventStarted, time.Now()))
		time.Sleep(110 * time.Second)
		w.wantSent()
		time.Sleep(20 * time.Second)
		expected, err := time.Parse(time.RFC3339, w.incidents()[0].SummaryParams["expected"])
		if late := expected.Sub(waits.FireTime.Add(10 * time.Minute)); err != nil || late < 0 || late > 10*time.Second {
			w.t.Errorf("the run is expected %s too late, %v", late, err)
		}
		what := "billing/waits will likely not end within 10m of its fire time: half of its runs take 8m or less, so it is expected to end at " +
			expected.Format("2006-01-02 15:04:05 MST")
		w.wantSent("opened " + what)

		// It ends in time all the same.
		e := bus.EventOf(waits, bus.EventFinished, time.Now())
		e.Status = job.StatusSucceeded
		w.publish(e)
		time.Sleep(settled)
		w.wantSent("recovered Resolved: " + what)

		// What lasts longer than ever ends at any moment, and is late only then.
		time.Sleep(7 * time.Minute)
		w.wantSent()
		time.Sleep(time.Minute)
		w.wantSent("opened billing/begins has not ended 10m after its fire time", "opened billing/new has not ended 10m after its fire time")
	})
}

// Its trigger is acknowledged only after the event of its end.
func TestARunThatHasJustEndedIsNotExpectedToBeginAgain(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		w.rule(alerting.Condition{EndsWithin: job.Duration(10 * time.Minute), Predict: true})
		for range 5 {
			w.ends(report, job.StatusSucceeded, func(e *bus.Event) { e.StartedAt = e.FinishedAt.Add(-8 * time.Minute) })
		}
		ends := w.trigger(report)
		body, err := ends.Encode()
		if err != nil {
			w.t.Fatal(err)
		}
		w.put(bus.AppendTrigger(nil, ends, body), bus.SubjectTrigger(ends.Shard, "billing"))
		w.publish(bus.EventOf(ends, bus.EventStarted, time.Now()))
		time.Sleep(time.Minute)
		e := bus.EventOf(ends, bus.EventFinished, time.Now())
		e.Status = job.StatusSucceeded
		w.publish(e)
		time.Sleep(5 * time.Minute)
		w.wantSent()
	})
}

// Whoever is on call must not go to sleep because a late run was given up.
func TestALateRunThatEndsBadlyIsNotResolved(t *testing.T) {
	for _, status := range []job.Status{job.StatusMissed, job.StatusLost, job.StatusCancelled, job.StatusFailed, job.StatusTimedOut} {
		run(t, func(w *world) {
			w.start("a")
			w.rule(alerting.Condition{StartsWithin: job.Duration(time.Minute)})
			late := w.trigger("billing/late")
			body, err := late.Encode()
			if err != nil {
				w.t.Fatal(err)
			}
			w.put(bus.AppendTrigger(nil, late, body), bus.SubjectTrigger(late.Shard, "billing"))
			time.Sleep(70 * time.Second)
			w.wantSent("opened billing/late has not started 1m after its fire time")
			e := bus.EventOf(late, bus.EventFinished, time.Now())
			e.Status = status
			w.publish(e)
			time.Sleep(settled)
			w.wantSent()
			inc := w.incidents()[0]
			if inc.State != alerting.Open || inc.Count != 1 || inc.SummaryCode != "run_ended" || inc.SummaryParams["status"] != string(status) || inc.Jobs[0].Status != status {
				w.t.Errorf("after the run was %s the incident is %+v", status, inc)
			}
			w.publish(bus.EventOf(w.trigger("billing/late"), bus.EventStarted, time.Now()))
			time.Sleep(settled)
			w.wantSent("recovered Resolved: " + inc.Summary)
		})
	}
}

func TestANodeThatTakesOverKnowsWhichRunsHaveBegun(t *testing.T) {
	run(t, func(w *world) {
		a := w.start("a")
		w.rule(alerting.Condition{StartsWithin: job.Duration(time.Minute)})
		runs := w.trigger("billing/runs")
		body, err := runs.Encode()
		if err != nil {
			w.t.Fatal(err)
		}
		w.put(bus.AppendTrigger(nil, runs, body), bus.SubjectTrigger(runs.Shard, "billing"))
		w.publish(bus.EventOf(runs, bus.EventStarted, time.Now()))
		time.Sleep(10 * time.Second)
		a.crash()
		time.Sleep(leaseEnd)
		w.start("b")
		time.Sleep(time.Hour)
		w.wantSent()
	})
}

// The event of the first attempt may be older than what the alerter has read.
func TestARunThatIsTriedAgainHasBegun(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		w.rule(alerting.Condition{StartsWithin: job.Duration(time.Minute)})
		again := w.trigger("billing/again")
		again.Attempt = 2
		body, err := again.Encode()
		if err != nil {
			w.t.Fatal(err)
		}
		w.put(bus.AppendTrigger(nil, again, body), bus.SubjectTrigger(again.Shard, "billing"))
		time.Sleep(2 * time.Minute)
		w.wantSent()
	})
}

func TestARunThatIsMuchSlowerThanUsualIsTold(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		w.rule(alerting.Condition{Slower: 3})
		takes := func(d time.Duration) {
			w.t.Helper()
			w.ends(report, job.StatusSucceeded, func(e *bus.Event) { e.StartedAt = e.FinishedAt.Add(-d) })
		}
		takes(50 * time.Minute)
		for range 20 {
			takes(2 * time.Second)
		}
		takes(5 * time.Second)
		w.wantSent()
		takes(16 * time.Second)
		w.wantSent("opened billing/report took 16s, longer than usual: 95 % of its runs take 5s at most")
	})
}

func TestJobsWhoseRunsAreDoneElsewhereNeedNoExecutor(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		w.rule(alerting.Condition{NoExecutor: job.Duration(time.Minute)})
		j, err := job.Decode([]byte(`{"job": "billing/report", "task": {"watch": "10m"}}`))
		if err == nil {
			_, _, err = w.conn.Jobs().Put(w.t.Context(), j, cluster.Edit{At: time.Now()})
		}
		if err != nil {
			w.t.Fatal(err)
		}
		time.Sleep(fleet.InstanceTTL + 5*time.Minute)
		w.wantSent()
	})
}

func TestARunThatIsDoneElsewhereHasBegunWhenAPingSaysSo(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		w.rule(alerting.Condition{StartsWithin: job.Duration(time.Minute)})
		for name, told := range map[job.Name]journal.PingState{"billing/begun": {StartedAt: time.Now()}, "billing/silent": {}} {
			tr := w.trigger(name)
			body, err := tr.Encode()
			if err != nil {
				w.t.Fatal(err)
			}
			m, err := (&journal.Deferred{Kind: journal.DeferredExpected, Job: name, Reported: &told, Trigger: bus.AppendTrigger(nil, tr, body)}).Msg(tr.Shard)
			if err != nil {
				w.t.Fatal(err)
			}
			if _, err := w.conn.JS.PublishMsg(w.t.Context(), m); err != nil {
				w.t.Fatal(err)
			}
		}
		time.Sleep(70 * time.Second)
		w.wantSent("opened billing/silent has not started 1m after its fire time")
	})
}

func TestAGroupWithoutExecutorIsTold(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		w.rule(alerting.Condition{NoExecutor: job.Duration(time.Minute)})
		j, err := job.Decode([]byte(`{"job": "billing/report", "task": {"shell": "true"}}`))
		if err == nil {
			_, _, err = w.conn.Jobs().Put(w.t.Context(), j, cluster.Edit{At: time.Now()})
		}
		if err != nil {
			w.t.Fatal(err)
		}
		w.beat("billing")
		time.Sleep(fleet.InstanceTTL + 50*time.Second)
		w.wantSent()
		time.Sleep(20 * time.Second)
		w.wantSent("opened group billing has jobs, but no executor to run them")
		w.beat("billing")
		time.Sleep(10 * time.Second)
		w.wantSent("recovered Resolved: group billing has jobs, but no executor to run them")

		// While the group is paused it needs none.
		if _, _, err := w.conn.Pauses().Set(w.t.Context(), "billing", true, time.Now().Add(10*time.Minute), cluster.Edit{At: time.Now()}); err != nil {
			w.t.Fatal(err)
		}
		time.Sleep(9 * time.Minute)
		w.wantSent()
		time.Sleep(3 * time.Minute)
		w.wantSent("opened group billing has jobs, but no executor to run them")
	})
}

func TestAStreamThatFillsUpIsTold(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		w.rule(alerting.Condition{StreamFull: 80})
		time.Sleep(10 * time.Second)
		w.wantSent()
		for range 14 {
			w.put(make([]byte, 64<<10), "trig.0.any.x")
		}
		time.Sleep(10 * time.Second)
		if sent := w.incidents(); len(sent) != 1 || sent[0].Subject != "stream TRIG" || !strings.HasPrefix(sent[0].Summary, "stream TRIG is 8") {
			w.t.Errorf("incidents %+v", sent)
		}
		w.put(make([]byte, 64<<10), "trig.0.any.x")
		time.Sleep(2 * time.Minute)
		if inc := w.incidents()[0]; !strings.HasPrefix(inc.Summary, "stream TRIG is 9") || inc.Count != 1 {
			w.t.Errorf("with a stream that is fuller the incident is %q, found %d times; want 9x %%, found once", inc.Summary, inc.Count)
		}
	})
}

// A stream of lines that is full of what the log store has is as it should be.
func TestLinesThatWaitForTheLogStoreAreToldBeforeTheyAreLost(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		w.rule(alerting.Condition{StreamFull: 80})
		lines, err := w.conn.JS.Consumer(w.t.Context(), bus.StreamLog, bus.ConsumerLogs)
		if err != nil {
			w.t.Fatal(err)
		}
		wave := func() (waiting jetstream.MessageBatch) {
			for range 14 {
				noise := make([]byte, 64<<10)
				_, _ = rand.Read(noise) // never fails; the stream is compressed
				w.put(noise, "log.billing.x")
			}
			batch, err := lines.Fetch(14, jetstream.FetchMaxWait(time.Second))
			if err != nil {
				w.t.Fatal(err)
			}
			return batch
		}
		for m := range wave().Messages() { // ingest has them at once
			if err := m.Ack(); err != nil {
				w.t.Fatal(err)
			}
		}
		time.Sleep(10 * time.Second)
		if all := w.incidents(); len(all) != 0 {
			w.t.Errorf("with all lines in the store there are the incidents %+v", all)
		}
		var taken []jetstream.Msg
		for m := range wave().Messages() {
			taken = append(taken, m)
		}
		time.Sleep(10 * time.Second)
		if all := w.incidents(); len(all) != 1 || all[0].Subject != "stream LOG" || all[0].State != alerting.Open {
			w.t.Errorf("with lines that wait there are the incidents %+v", all)
		}
		for _, m := range taken {
			if err := m.Ack(); err != nil {
				w.t.Fatal(err)
			}
		}
		time.Sleep(10 * time.Second)
		if all := w.incidents(); len(all) != 1 || all[0].State != alerting.Resolved {
			w.t.Errorf("with all lines in the store again there are the incidents %+v", all)
		}
	})
}

func TestADiskOfTheLogStoreThatFillsUpIsTold(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		w.rule(alerting.Condition{StoreFull: 90})
		measured := func(free int64, incidents int, state alerting.State) {
			w.t.Helper()
			if err := w.conn.Ingest().PutStoreDisk(w.t.Context(), &cluster.StoreDisk{Total: 1000, Free: free, At: time.Now()}); err != nil {
				w.t.Fatal(err)
			}
			time.Sleep(10 * time.Second)
			all := w.incidents()
			if len(all) != incidents || incidents > 0 && (all[0].Subject != "disk of the log store" || all[0].State != state) {
				w.t.Errorf("with %d of 1000 free there are the incidents %+v; want %d, the newest %s", free, all, incidents, state)
			}
		}
		time.Sleep(10 * time.Second) // nothing is measured yet
		measured(110, 0, "")
		measured(95, 1, alerting.Open)
		measured(120, 1, alerting.Open) // not clearly less full
		measured(200, 1, alerting.Resolved)
		measured(100, 2, alerting.Open)
		time.Sleep(15 * time.Minute) // while the store is away
		if all := w.incidents(); len(all) != 2 || all[0].State != alerting.Open {
			w.t.Errorf("without measurement the incidents are %+v", all)
		}
	})
}

func TestAJobThatMissesItsTargetIsToldOnceAndUntilItMeetsItAgain(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		w.rule(alerting.Condition{TargetMissed: true}, func(r *alerting.Rule) { r.Match.Groups = []string{report.Group()} })
		put := func(m cluster.MissedTargets) {
			w.t.Helper()
			if err := w.conn.Targets().PutMissed(w.t.Context(), &m); err != nil {
				w.t.Fatal(err)
			}
			time.Sleep(10 * time.Second)
		}
		missed := func(jobs ...cluster.MissedTarget) {
			w.t.Helper()
			put(cluster.MissedTargets{At: time.Now(), Jobs: jobs})
		}
		rate := cluster.MissedTarget{Job: report, Runs: 200, Failures: 5, Verdict: runlog.Verdict{SuccessRate: 99, Budget: -3}}
		late := cluster.MissedTarget{Job: "billing/late", Runs: 200, StartDelay: job.Duration(time.Hour), Verdict: runlog.Verdict{StartDelay: job.Duration(time.Minute)}}
		other := rate
		other.Job = "orders/other"
		missed()
		w.wantSent()
		missed(rate, other)
		w.wantSent("opened billing/report misses its target: 5 of 200 scheduled runs of the last 30 days did not succeed; 99 % allows 2")
		worse := rate
		worse.Runs, worse.Failures, worse.Budget = 210, 7, -5
		missed(worse)
		w.wantSent()
		const now = "billing/report misses its target: 7 of 210 scheduled runs of the last 30 days did not succeed; 99 % allows 2"
		if inc := w.incidents()[0]; inc.Summary != now || inc.Jobs[0].Message != now {
			w.t.Errorf("the incident is %q, of its job %q; want both %q", inc.Summary, inc.Jobs[0].Message, now)
		}
		put(cluster.MissedTargets{At: time.Now().Add(-time.Hour)}) // it says nothing about now
		put(cluster.MissedTargets{At: time.Now(), More: true})     // nor does it say that the job meets its target
		w.wantSent()
		if all := w.incidents(); len(all) != 1 || all[0].Count != 1 {
			w.t.Errorf("the incidents are %+v; want one that was found once", all)
		}
		missed(late)
		w.wantSent("opened billing/late misses its target: 5 % of the scheduled runs of the last 30 days started at least 1h late; the target is 1m",
			"recovered Resolved: "+now)
		if all := w.incidents(); len(all) != 2 {
			w.t.Errorf("the incidents are %+v; want two", all)
		}
	})
}

// An incident lists 50 jobs. It must not grow by those that it does not list, each time that they
// are looked at.
func TestManyJobsThatMissTheirTargetsAreOneIncidentThatChangesOnlyWithThem(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		w.rule(alerting.Condition{TargetMissed: true}, func(r *alerting.Rule) { r.GroupBy = alerting.ByGroup })
		var all []cluster.MissedTarget
		for n := range 60 {
			all = append(all, cluster.MissedTarget{Job: job.Name(fmt.Sprintf("billing/j%d", n)), Runs: 200, Failures: 5, Verdict: runlog.Verdict{SuccessRate: 99, Budget: -3}})
		}
		put := func(m cluster.MissedTargets) {
			w.t.Helper()
			m.At = time.Now()
			if err := w.conn.Targets().PutMissed(w.t.Context(), &m); err != nil {
				w.t.Fatal(err)
			}
			time.Sleep(10 * time.Second)
		}
		// want checks that one incident lists so many jobs, and after many looks is as it was.
		want := func(first job.Name, listed, more, count int) {
			w.t.Helper()
			before := w.incidents()
			time.Sleep(2 * time.Minute)
			after := w.incidents()
			if diff := cmp.Diff(before, after); diff != "" {
				w.t.Errorf("while nothing changed the incidents did (-before +after):\n%s", diff)
			}
			if len(after) != 1 || after[0].State != alerting.Open || len(after[0].Jobs) != listed || after[0].More != more || after[0].Count != count || after[0].Jobs[0].Job != first {
				w.t.Fatalf("the incidents are %+v; want one that lists %d jobs, first %s, has %d more and a count of %d", after, listed, first, more, count)
			}
			title := string(first) + " misses its target: 5 of 200 scheduled runs of the last 30 days did not succeed; 99 % allows 2"
			switch n := listed + more - 1; n {
			case 0:
			case 1:
				title += ", and 1 other job"
			default:
				title += fmt.Sprintf(", and %d other jobs", n)
			}
			if after[0].Summary != title {
				w.t.Errorf("the summary is %q, want %q", after[0].Summary, title)
			}
		}
		put(cluster.MissedTargets{Jobs: all})
		want(all[0].Job, 50, 10, 60)
		w.wantSent("opened billing/j0 misses its target: 5 of 200 scheduled runs of the last 30 days did not succeed; 99 % allows 2, and 59 other jobs")
		slices.Reverse(all)
		put(cluster.MissedTargets{Jobs: all})
		want("billing/j0", 50, 10, 60)
		put(cluster.MissedTargets{Jobs: all[:59]}) // without j0: one that was not listed takes its place
		want("billing/j1", 50, 9, 60)
		put(cluster.MissedTargets{Jobs: all[:58], More: true}) // j1 may miss its target all the same
		want("billing/j1", 50, 9, 60)
		put(cluster.MissedTargets{Jobs: all[56:58]})
		want("billing/j2", 2, 0, 60)
		put(cluster.MissedTargets{Jobs: all[55:58]})
		want("billing/j2", 3, 0, 61)
		put(cluster.MissedTargets{Jobs: all[55:56]})
		want("billing/j4", 1, 0, 61)
		w.wantSent()
		put(cluster.MissedTargets{})
		w.wantSent("recovered Resolved: billing/j4 misses its target: 5 of 200 scheduled runs of the last 30 days did not succeed; 99 % allows 2")
	})
}
