package ingest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/journal"
	"github.com/carillon-scheduler/carillon/logstore"
)

// line publishes a record made so long after a fire, of one line about its run.
func (w *world) line(f fire, after time.Duration, o journal.Outcome) {
	w.t.Helper()
	if o.FireTime = f.time(); o.Cause == "" {
		o.Cause = job.CauseSchedule
	}
	o.Jobs = []string{journal.JobVersion(f.job, 3)}
	r := &journal.Record{Shard: 1, Epoch: 1, Commit: fmt.Sprint(f, after, o.Status), Node: "a", At: f.time().Add(after), Outcomes: []journal.Outcome{o}}
	w.publish(r.Msg())
}

// history returns a run, its timeline and its log, in a line for each point and each line.
func (w *world) history(id job.RunID) (runlog.Run, []string) {
	w.t.Helper()
	runs, err := w.store.Run(w.t.Context(), id)
	if err != nil || len(runs) != 1 {
		w.t.Fatalf("run %s is %+v, with %v", id, runs, err)
	}
	changes, err := w.store.Changes(w.t.Context(), id, runlog.Whole)
	if err != nil {
		w.t.Fatal(err)
	}
	var all []string
	for _, c := range changes {
		all = append(all, fmt.Sprintf("+%v %s %s %s %s", c.At.Sub(id.Time()), c.Kind, c.Status, c.Instance, c.Detail))
	}
	lines, err := w.store.Lines(w.t.Context(), logstore.LineFilter{RunID: id, Attempt: 1})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, l := range lines {
		all = append(all, fmt.Sprintf("%d +%v %s %s: %s", l.Seq, l.At.Sub(id.Time()), l.Level, l.Output, l.Text))
	}
	return runs[0], all
}

func (w *world) wantHistory(want runlog.Run, points ...string) {
	w.t.Helper()
	run, got := w.history(want.RunID)
	if d := cmp.Diff(want, run); d != "" {
		w.t.Errorf("the run differs (-want +got):\n%s", d)
	}
	if d := cmp.Diff(points, got); d != "" {
		w.t.Errorf("timeline and log differ (-want +got):\n%s", d)
	}
}

func (f fire) expected() journal.Outcome {
	return journal.Outcome{Status: job.StatusQueued, Reason: "expects_ping"}
}

// pingBegan and pingEnded are lines about a ping that came from a host.
func (f fire) pingBegan(host string, after time.Duration) journal.Outcome {
	return journal.Outcome{Status: job.StatusRunning, Ping: &runlog.Ping{ID: "01", Host: host, By: "token", StartedAt: f.time().Add(after)}}
}

func (f fire) pingEnded(status job.Status, host string, after time.Duration) journal.Outcome {
	return journal.Outcome{Status: status, Ping: &runlog.Ping{ID: "02", Host: host, By: "token", FinishedAt: f.time().Add(after)}}
}

func TestARunThatPingsReportIsInTheHistoryLikeOneOfAnExecutor(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		exit := 3
		f := fire{report, 1}
		end := f.pingEnded(job.StatusFailed, "web1", time.Minute)
		end.Ping.ExitCode, end.Ping.Message, end.Ping.Output, end.Ping.OutputCut = &exit, "disk full", "copying\r\nno space\n\n", 17
		w.line(f, time.Second, f.expected())
		w.line(f, 6*time.Second, f.pingBegan("web1", 5*time.Second))
		w.line(f, 61*time.Second, end)
		time.Sleep(settled)
		want := runlog.Run{
			RunID: f.id(), Job: f.job, Version: 3, Attempt: 1, Status: job.StatusFailed, Cause: job.CauseSchedule, FireTime: f.time(), Count: 1,
			QueuedAt: f.time().Add(time.Second), StartedAt: f.time().Add(5 * time.Second), FinishedAt: f.time().Add(time.Minute),
			Instance: "host:web1", Reported: true, ExitCode: &exit, Message: "exit code 3: disk full", LogLines: 4,
		}
		w.wantHistory(want,
			"+1s recorded queued  expects_ping",
			"+5s started running host:web1 ",
			"+1m0s finished failed host:web1 exit code 3: disk full",
			"1 +1m0s info stdout: copying", "2 +1m0s info stdout: no space", "3 +1m0s info stdout: ", "4 +1m0s warn system: 17 bytes of the output were left out",
		)
	})
}

func TestALateEndIsBesideTheMissThatCameFirst(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		f, g := fire{report, 1}, fire{report, 2}
		w.line(f, 0, f.expected())
		w.line(f, 10*time.Minute, journal.Outcome{Status: job.StatusMissed, Reason: "no_ping"})
		w.line(f, 41*time.Minute, f.pingEnded(job.StatusSucceeded, "web1", 40*time.Minute))
		w.line(g, 0, g.expected())
		w.line(g, time.Minute, g.pingEnded(job.StatusSucceeded, "web1", time.Minute))
		again := g.pingEnded(job.StatusFailed, "web2", 2*time.Minute)
		again.Reason = "the run had ended already"
		w.line(g, 2*time.Minute, again)
		time.Sleep(settled)
		missed, points := w.history(f.id())
		if missed.Status != job.StatusMissed || !missed.FinishedAt.Equal(f.time().Add(10*time.Minute)) {
			t.Errorf("the run %s at %s, want missed after 10m", missed.Status, missed.FinishedAt)
		}
		if d := cmp.Diff([]string{"+0s recorded queued  expects_ping", "+10m0s recorded missed  no_ping", "+40m0s late succeeded host:web1 "}, points); d != "" {
			t.Errorf("timeline of the missed run (-want +got):\n%s", d)
		}
		ended, points := w.history(g.id())
		if ended.Status != job.StatusSucceeded || !ended.FinishedAt.Equal(g.time().Add(time.Minute)) {
			t.Errorf("the run %s at %s, want succeeded after 1m", ended.Status, ended.FinishedAt)
		}
		if d := cmp.Diff([]string{"+0s recorded queued  expects_ping", "+1m0s finished succeeded host:web1 ", "+2m0s late failed host:web2 the run had ended already"}, points); d != "" {
			t.Errorf("timeline of the run with two ends (-want +got):\n%s", d)
		}
	})
}

func TestARunThatNoFireAskedForShowsWhoReportedIt(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		f := fire{report, 1}
		id := job.PingRunID(f.job, "02", f.time().UnixMilli())
		o := f.pingEnded(job.StatusSucceeded, "", 0)
		o.Cause, o.Reason, o.RunIDs = job.CausePing, "unasked", []job.RunID{id}
		w.line(f, time.Second, o)
		time.Sleep(settled)
		w.wantHistory(runlog.Run{
			RunID: id, Job: f.job, Version: 3, Attempt: 1, Status: job.StatusSucceeded, Cause: job.CausePing, FireTime: f.time(), Count: 1,
			CommittedAt: f.time(), FinishedAt: f.time(), Instance: "host:", Reported: true, Reason: "unasked", By: "token",
		}, "+0s recorded pending  unasked", "+0s finished succeeded host: ")
	})
}

// A crash between the updates and the lines of one write must lose neither.
func TestWhatAReportedRunPrintedSurvivesACrash(t *testing.T) {
	run(t, func(w *world) {
		f := fire{report, 1}
		end := f.pingEnded(job.StatusSucceeded, "web1", time.Minute)
		end.Ping.Output = "one\ntwo"
		w.line(f, 0, f.expected())
		w.line(f, time.Minute, end)
		first := w.start("a")
		first.crashAfterWrite()
		time.Sleep(settled)
		w.store.hook(nil, nil)
		time.Sleep(leaseEnd)
		w.start("b")
		time.Sleep(leaseEnd)
		_, points := w.history(f.id())
		if d := cmp.Diff([]string{"+0s recorded queued  expects_ping", "+1m0s finished succeeded host:web1 ", "1 +1m0s info stdout: one", "2 +1m0s info stdout: two"}, points); d != "" {
			t.Errorf("timeline and log (-want +got):\n%s", d)
		}
	})
}

func TestAPingOfAJobThatIsNoLongerDoneElsewhereIsNotLost(t *testing.T) {
	run(t, func(w *world) {
		in := w.start("a")
		f := fire{report, 1}
		id := job.PingRunID(f.job, "02", f.time().UnixMilli())
		o := f.pingEnded(job.StatusSkipped, "web1", 0)
		o.Cause, o.Reason, o.RunIDs = job.CausePing, "the job was deleted", []job.RunID{id}
		w.line(f, time.Second, o)
		time.Sleep(settled)
		w.wantHistory(runlog.Run{
			RunID: id, Job: f.job, Version: 3, Attempt: 1, Status: job.StatusSkipped, Cause: job.CausePing, FireTime: f.time(), Count: 1,
			CommittedAt: f.time().Add(time.Second), FinishedAt: f.time().Add(time.Second), Reason: "the job was deleted", By: "token",
		}, "+1s recorded skipped  the job was deleted")
		if n := in.counter("carillon_ingest_refused_total"); n != 0 {
			t.Errorf("%v messages were refused", n)
		}
	})
}
