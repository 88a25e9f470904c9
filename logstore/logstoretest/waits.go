package logstoretest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// waits is what a step has begun to wait for, some time after its fire time.
func waits(r run, kind runlog.WaitKind, after time.Duration, w runlog.Wait) logstore.Update {
	w.Kind, w.Since = kind, r.fire.Add(ms(5))
	u := r.record(job.StatusQueued, after, "it waits")
	u.Cause, u.Parent, u.Step, u.Wait = job.CauseStep, newRun().id(), "ok", &w
	return u
}

// waitingStep shows that a row tells what a step waits for, with all approvals whatever the order in which they came, also
// after its end.
func waitingStep(t *testing.T, s logstore.Store) {
	orders := inAnyOrder(t, s, func(r run) []logstore.Update {
		wait := runlog.Wait{By: []string{"role:operator"}, Min: 2, Expires: r.fire.Add(time.Hour)}
		begun := waits(r, runlog.WaitApproval, ms(5), wait)
		wait.Approvals = []runlog.Approval{{By: "ann", At: r.fire.Add(ms(7)), Note: "fine"}}
		approved := waits(r, runlog.WaitApproval, ms(7), wait)
		end := r.record(job.StatusSucceeded, ms(9), "approved")
		end.Cause, end.Parent, end.Step, end.By = job.CauseStep, newRun().id(), "ok", "bob"
		gave := end
		gave.Kind, gave.FinishedAt, gave.Result, gave.CommittedAt = runlog.KindFinished, gave.At, json.RawMessage(`{"by":["ann","bob"]}`), time.Time{}
		return []logstore.Update{begun, approved, gave, end}
	}, func(t *testing.T, r run) {
		t.Helper()
		got := getRun(t, s, r.id())[0]
		want := &runlog.Wait{
			Kind: runlog.WaitApproval, Since: r.fire.Add(ms(5)), Expires: r.fire.Add(time.Hour), By: []string{"role:operator"}, Min: 2,
			Approvals: []runlog.Approval{{By: "ann", At: r.fire.Add(ms(7)), Note: "fine"}},
		}
		if diff := cmp.Diff(want, got.Wait, cmpopts.EquateEmpty()); diff != "" || got.Status != job.StatusSucceeded || got.By != "bob" || !got.QueuedAt.Equal(r.fire.Add(ms(5))) {
			t.Errorf("%+v\n%s", got, diff)
		}
	})
	if orders == 0 {
		t.Error("nothing was tried")
	}
	wantWaits(t, s, runlog.WaitApproval, 10)
}

// openWaits shows that steps that wait are found by kind, the oldest first, and those that have ended are not, nor what is
// queued and waits for nothing.
func openWaits(t *testing.T, s logstore.Store) {
	at := func(n int) run { return newRun().at(epoch.Add(ms(n))) }
	runs := runlog.Wait{Runs: &runlog.AwaitedRuns{Job: "etl/hour", From: epoch.Add(-time.Hour), To: epoch, Need: "80%"}}
	queued := at(0).recorded(job.StatusQueued)
	over := at(3).record(job.StatusTimedOut, time.Second, "nothing came")
	over.Cause, over.Parent, over.Step = job.CauseStep, newRun().id(), "ok"
	writeInTwo(t, s, waits(at(5), runlog.WaitRuns, ms(6), runs), waits(at(2), runlog.WaitRuns, ms(3), runs), queued,
		waits(at(3), runlog.WaitRuns, ms(4), runs), over, waits(at(4), runlog.WaitSignal, ms(5), runlog.Wait{Signal: "paid", Key: `"17"`}),
		waits(at(1), runlog.WaitTime, ms(5), runlog.Wait{At: epoch.Add(time.Hour)}))
	wantWaits(t, s, runlog.WaitRuns, 10, at(2).id(), at(5).id())
	wantWaits(t, s, runlog.WaitRuns, 1, at(2).id())
	wantWaits(t, s, runlog.WaitSignal, 10, at(4).id())
	wantWaits(t, s, runlog.WaitTime, 10, at(1).id())
	wantWaits(t, s, runlog.WaitApproval, 10)
	found, err := s.OpenWaits(t.Context(), logstore.WaitFilter{Kind: runlog.WaitRuns, Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	want := runs
	want.Kind, want.Since = runlog.WaitRuns, at(2).fire.Add(ms(5))
	if r := found[0]; r.Status != job.StatusQueued || r.Step != "ok" || r.Parent != newRun().id() || r.Job != report || !cmp.Equal(r.Wait, &want) {
		t.Errorf("%+v\n%+v", r, r.Wait)
	}
}

// openWaitsOfGroups shows that a group in which many steps wait hides none of another one, and that groups share a limit.
func openWaitsOfGroups(t *testing.T, s logstore.Store) {
	of := func(group string, n int) run { return newRun().of(job.Name(group + "/report")).at(epoch.Add(ms(n))) }
	var updates []logstore.Update
	for n := range 9 {
		updates = append(updates, waits(of("many", n), runlog.WaitApproval, ms(20), runlog.Wait{}))
	}
	updates = append(updates, waits(of("few", 10), runlog.WaitApproval, ms(20), runlog.Wait{}), waits(of("few", 11), runlog.WaitApproval, ms(20), runlog.Wait{}),
		waits(of("one", 12), runlog.WaitApproval, ms(20), runlog.Wait{}), waits(of("other", 1), runlog.WaitSignal, ms(20), runlog.Wait{Signal: "paid"}))
	writeInTwo(t, s, updates...)
	for _, c := range []struct {
		limit  int
		groups []string
		want   []run
	}{
		{5, nil, []run{of("many", 0), of("many", 1), of("few", 10), of("few", 11), of("one", 12)}},
		{3, nil, []run{of("many", 0), of("few", 10), of("one", 12)}},
		{2, nil, []run{of("many", 0), of("few", 10)}},
		{6, nil, []run{of("many", 0), of("many", 1), of("many", 2), of("few", 10), of("few", 11), of("one", 12)}},
		{2, []string{"few", "one"}, []run{of("few", 10), of("one", 12)}},
		{9, []string{"few", "none"}, []run{of("few", 10), of("few", 11)}},
		{9, []string{}, nil},
	} {
		var want []job.RunID
		for _, r := range c.want {
			want = append(want, r.id())
		}
		wantWaitsOf(t, s, logstore.WaitFilter{Kind: runlog.WaitApproval, Groups: c.groups, Limit: c.limit}, want...)
	}
	over := of("few", 10).record(job.StatusTimedOut, time.Second, "nobody came")
	over.Cause, over.Parent, over.Step = job.CauseStep, newRun().id(), "ok"
	write(t, s, over)
	wantWaitsOf(t, s, logstore.WaitFilter{Kind: runlog.WaitApproval, Groups: []string{"few"}, Limit: 1}, of("few", 11).id())
}

func wantWaits(t *testing.T, s logstore.Store, kind runlog.WaitKind, limit int, want ...job.RunID) {
	t.Helper()
	wantWaitsOf(t, s, logstore.WaitFilter{Kind: kind, Limit: limit}, want...)
}

func wantWaitsOf(t *testing.T, s logstore.Store, f logstore.WaitFilter, want ...job.RunID) {
	t.Helper()
	found, err := s.OpenWaits(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	var got []job.RunID
	for _, r := range found {
		got = append(got, r.RunID)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("open waits of %+v (-want +got):\n%s", f, diff)
	}
}
