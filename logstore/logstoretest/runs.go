package logstoretest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

func runGoesFromRecordToEnd(t *testing.T, s logstore.Store) {
	r := newRun()
	write(t, s, r.recorded(job.StatusPending))
	want := r.row(job.StatusPending)
	wantRun(t, s, want)

	write(t, s, r.started("worker-1", 1, ms(10)))
	want.Status, want.Instance, want.Delivery, want.StartedAt = job.StatusRunning, "worker-1", 1, epoch.Add(ms(10))
	wantRun(t, s, want)

	write(t, s, r.finished(job.StatusSucceeded, "worker-1", 2*time.Second))
	want.Status, want.FinishedAt = job.StatusSucceeded, epoch.Add(2*time.Second)
	wantRun(t, s, want)
	wantTimeline(t, s, r,
		"1: +5ms recorded pending",
		"1: +10ms started running worker-1/1",
		"1: +2s finished succeeded worker-1/1",
	)
}

// story is what the bus says about a run that was redelivered.
func story(r run) []logstore.Update {
	record := r.recorded(job.StatusPending)
	record.Reason, record.By = "noticed 20s late", "ann"
	end := r.finished(job.StatusFailed, "worker-2", 40*time.Second)
	end.Delivery, end.StartedAt, end.Message = 2, r.fire.Add(30*time.Second), "disk full"
	return []logstore.Update{record, r.started("worker-1", 1, ms(10)), r.started("worker-2", 2, 30*time.Second), end}
}

func endOfStory(r run) runlog.Run {
	want := r.row(job.StatusFailed)
	want.StartedAt, want.FinishedAt = r.fire.Add(30*time.Second), r.fire.Add(40*time.Second)
	want.Instance, want.Delivery, want.Message, want.Reason, want.By = "worker-2", 2, "disk full", "noticed 20s late", "ann"
	return want
}

func anyOrder(t *testing.T, s logstore.Store) {
	inAnyOrder(t, s, story, func(t *testing.T, r run) {
		t.Helper()
		wantRun(t, s, endOfStory(r))
		wantTimeline(t, s, r,
			"1: +5ms recorded pending: noticed 20s late",
			"1: +10ms started running worker-1/1",
			"1: +30s started running worker-2/2",
			"1: +40s finished failed worker-2/2: disk full",
		)
	})
}

// permute calls f with each order of 0..n-1, and in a short test, when they are many, with
// each seventh.
func permute(n int, f func([]int)) {
	seen, step := 0, 1
	if testing.Short() && n > 3 {
		step = 7
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	var visit func(int)
	visit = func(k int) {
		if k == n {
			if seen%step == 0 {
				f(order)
			}
			seen++
			return
		}
		for i := k; i < n; i++ {
			order[k], order[i] = order[i], order[k]
			visit(k + 1)
			order[k], order[i] = order[i], order[k]
		}
	}
	visit(0)
}

func repeatsChangeNothing(t *testing.T, s logstore.Store) {
	r := newRun()
	updates := story(r)
	write(t, s, updates...)
	before, told := getRun(t, s, r.id()), timeline(t, s, r)
	write(t, s, updates...)
	w := &writes{store: s}
	w.runs(t, updates...)
	w.runs(t, append(updates, updates...)...)
	wantRun(t, s, before...)
	wantTimeline(t, s, r, told...)
	if got := list(t, s, logstore.RunFilter{}).Runs; len(got) != 1 {
		t.Errorf("the list has %d rows; want 1", len(got))
	}
}

func wholeRunInOneWrite(t *testing.T, s logstore.Store) {
	r, plain := newRun(), newRun().of("billing/plain")
	w := &writes{store: s}
	updates := append(story(r), plain.finished(job.StatusSucceeded, "worker-1", ms(12)), plain.recorded(job.StatusPending))
	w.runs(t, updates...)
	wantRun(t, s, endOfStory(r))
	want := plain.row(job.StatusSucceeded)
	want.Instance, want.Delivery, want.StartedAt, want.FinishedAt = "worker-1", 1, epoch.Add(ms(10)), epoch.Add(ms(12))
	wantRun(t, s, want)
}

func firstEndStays(t *testing.T, s logstore.Store) {
	late := newRun().finished(job.StatusSucceeded, "worker-2", 9*time.Second)
	late.Delivery = 2
	first := newRun().finished(job.StatusTimedOut, "worker-1", 5*time.Second)
	want := []string{
		"1: +5ms recorded pending",
		"1: +10ms started running worker-1/1",
		"1: +5s finished timed_out worker-1/1",
		"1: +9s late succeeded worker-2/2",
	}
	write(t, s, newRun().recorded(job.StatusPending), first, late, first, late)
	wantTimeline(t, s, newRun(), want...)
	if got := getRun(t, s, newRun().id())[0]; got.Status != job.StatusTimedOut || got.Instance != "worker-1" || !got.FinishedAt.Equal(first.FinishedAt) {
		t.Errorf("the run is %+v; want the first end", got)
	}

	// The same in one write.
	r := newRun().at(epoch.Add(time.Hour))
	first, late = r.finished(job.StatusTimedOut, "worker-1", 5*time.Second), r.finished(job.StatusSucceeded, "worker-2", 9*time.Second)
	late.Delivery = 2
	w := &writes{store: s}
	w.runs(t, r.recorded(job.StatusPending), first, late)
	wantTimeline(t, s, r, want...)
}

func repeatedEndIsNotLate(t *testing.T, s logstore.Store) {
	r := newRun()
	end := r.finished(job.StatusLost, "", 20*time.Second) // the owner says so
	end.StartedAt, end.Delivery = time.Time{}, 0
	write(t, s, end, r.started("worker-1", 1, ms(10)), end, end)
	wantTimeline(t, s, r,
		"1: +5ms recorded pending",
		"1: +10ms started running worker-1/1",
		"1: +20s finished lost worker-1/1",
	)
}

func redelivery(t *testing.T, s logstore.Store) {
	r := newRun()
	write(t, s, r.recorded(job.StatusPending), r.started("worker-1", 1, ms(10)), r.started("worker-2", 2, 30*time.Second))
	want := r.row(job.StatusRunning)
	want.Instance, want.Delivery, want.StartedAt = "worker-2", 2, epoch.Add(30*time.Second)
	wantRun(t, s, want)
	write(t, s, r.started("worker-1", 1, ms(10)))
	wantRun(t, s, want)
}

func ownerReportsEnd(t *testing.T, s logstore.Store) {
	r := newRun()
	end := r.finished(job.StatusLost, "", 20*time.Second)
	end.StartedAt, end.Delivery, end.Message = time.Time{}, 0, "its executor vanished"
	write(t, s, r.started("worker-1", 1, ms(10)), end)
	want := r.row(job.StatusLost)
	want.Instance, want.Delivery, want.StartedAt, want.FinishedAt, want.Message = "worker-1", 1, epoch.Add(ms(10)), epoch.Add(20*time.Second), "its executor vanished"
	wantRun(t, s, want)
}

func severalFires(t *testing.T, s logstore.Store) {
	r := newRun()
	missed := r.recorded(job.StatusMissed)
	missed.Count, missed.Until, missed.Reason = 12, epoch.Add(11*time.Minute), "noticed 2h late"
	write(t, s, missed, missed)
	want := r.row(job.StatusMissed)
	want.Count, want.Until, want.Reason = 12, epoch.Add(11*time.Minute), "noticed 2h late"
	want.FinishedAt = missed.At
	wantRun(t, s, want)
	wantTimeline(t, s, r, "1: +5ms recorded missed: noticed 2h late")
}

func endKeepsItsInstance(t *testing.T, s logstore.Store) {
	r := newRun()
	end := r.finished(job.StatusFailed, "worker-1", 5*time.Second)
	write(t, s, end, r.started("worker-2", 2, 4*time.Second), r.recorded(job.StatusPending))
	want := r.row(job.StatusFailed)
	want.Instance, want.Delivery, want.StartedAt, want.FinishedAt = "worker-1", 1, epoch.Add(ms(10)), epoch.Add(5*time.Second)
	wantRun(t, s, want)
}

func queuedRun(t *testing.T, s logstore.Store) {
	r := newRun()
	queued, released := r.recorded(job.StatusQueued), r.recorded(job.StatusPending)
	queued.Reason, released.At = "a run is alive", epoch.Add(time.Minute)
	write(t, s, queued)
	want := r.row(job.StatusQueued)
	want.QueuedAt, want.CommittedAt, want.Reason = queued.At, time.Time{}, "a run is alive"
	wantRun(t, s, want)
	write(t, s, released, queued)
	want.Status, want.CommittedAt = job.StatusPending, released.At
	wantRun(t, s, want)
	if got := timeline(t, s, r); len(got) != 2 || !strings.Contains(got[0], "+5ms recorded queued: a run is alive") || !strings.Contains(got[1], "+1m0s recorded pending") {
		t.Errorf("the timeline is %q", got)
	}
}

func progress(t *testing.T, s logstore.Store) {
	r := newRun()
	write(t, s, r.recorded(job.StatusPending))
	var told []logstore.Update
	for second := range 60 {
		told = append(told, r.progress(float64(second), fmt.Sprintf("step %d", second), time.Duration(second)*time.Second))
	}
	w := &writes{store: s}
	for few := range slices.Chunk(told, 4) { // what is near to each other comes in one write, or in two
		w.runs(t, few...)
	}
	got := getRun(t, s, r.id())[0]
	if got.Status != job.StatusRunning || got.Progress != 59 || got.ProgressText != "step 59" || got.Instance != "worker-1" {
		t.Errorf("the run is %+v; want it running at 59", got)
	}
	write(t, s, r.progress(7, "step 7", 7*time.Second))
	if got := getRun(t, s, r.id())[0]; got.Progress != 59 {
		t.Errorf("an old progress set it back to %g", got.Progress)
	}
	points := 0
	for _, line := range timeline(t, s, r) {
		if strings.Contains(line, "progress") {
			points++
		}
	}
	if points < 1 || points > 6 {
		t.Errorf("60 s of progress made %d changes; want from 1 to 6", points)
	}
}

func attempts(t *testing.T, s logstore.Store) {
	r := newRun()
	write(t, s,
		r.recorded(job.StatusPending), r.finished(job.StatusFailed, "worker-1", ms(20)),
		r.try(2).finished(job.StatusFailed, "worker-2", time.Minute), r.try(3).started("worker-3", 1, 2*time.Minute))
	runs := getRun(t, s, r.id())
	var got []string
	for _, r := range runs {
		got = append(got, fmt.Sprintf("%d %s %s", r.Attempt, r.Status, r.Instance))
	}
	want := []string{"3 running worker-3", "2 failed worker-2", "1 failed worker-1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("attempts differ (-want +got):\n%s", diff)
	}
	if got := len(list(t, s, logstore.RunFilter{AllAttempts: true}).Runs); got != 3 {
		t.Errorf("the list has %d rows; want one for each of 3 attempts", got)
	}
}

func endDetails(t *testing.T, s logstore.Store) {
	for i, code := range []int{0, 1, 137} {
		r := newRun().at(epoch.Add(time.Duration(i) * time.Minute))
		end := r.finished(job.StatusFailed, "wörker", ms(20))
		end.ExitCode, end.LogLines = &code, 12345
		end.Message = strings.Repeat("日本\x00'\"\\\n", 1500)
		end.Result = json.RawMessage(`{"rows": [` + strings.Repeat("1, ", 20000) + `1]}`)
		write(t, s, end)
		want := r.row(job.StatusFailed)
		want.Instance, want.Delivery, want.StartedAt, want.FinishedAt = "wörker", 1, r.fire.Add(ms(10)), r.fire.Add(ms(20))
		want.ExitCode, want.LogLines, want.Message, want.Result = &code, 12345, reason.Text(end.Message), end.Result
		wantRun(t, s, want)
		if listed := list(t, s, logstore.RunFilter{Limit: 1}).Runs[0]; listed.Result != nil || string(listed.Message) != end.Message {
			t.Errorf("a list has %d bytes of result and %d of message; want 0 and %d", len(listed.Result), len(listed.Message), len(end.Message))
		}
	}
}

func invalidUpdates(t *testing.T, s logstore.Store) {
	w := &writes{store: s}
	refuse := func(field string, change func(*logstore.Update)) {
		t.Helper()
		bad := newRun().finished(job.StatusFailed, "worker-1", ms(20))
		change(&bad)
		wantInvalid(t, s.WriteRuns(t.Context(), w.token(), []logstore.Update{newRun().recorded(job.StatusPending), bad}), field)
	}
	refuse("run_id", func(u *logstore.Update) { u.RunID = "1234" })
	refuse("job", func(u *logstore.Update) { u.Job = "nogroup" })
	refuse("attempt", func(u *logstore.Update) { u.Attempt = 0 })
	refuse("kind", func(u *logstore.Update) { u.Kind = "ended" })
	refuse("status", func(u *logstore.Update) { u.Status = job.StatusSkipped })
	refuse("status", func(u *logstore.Update) { u.Status = "dead" })
	refuse("status", func(u *logstore.Update) { u.Kind, u.Status = runlog.KindRecorded, job.StatusRunning })
	refuse("broadcast_index", func(u *logstore.Update) { u.Piece = -1 })
	refuse("broadcast_total", func(u *logstore.Update) { u.Piece = 1 })
	refuse("parent_run_id", func(u *logstore.Update) { u.Parent = "1234" })
	refuse("cause", func(u *logstore.Update) { u.Cause = "whim" })
	refuse("at", func(u *logstore.Update) { u.At = time.Time{} })
	refuse("result", func(u *logstore.Update) { u.Result = json.RawMessage("{") })
	if got := list(t, s, logstore.RunFilter{}).Runs; len(got) != 0 {
		t.Errorf("%d runs of refused batches were written", len(got))
	}
	if err := s.WriteRuns(t.Context(), w.token(), nil); err != nil {
		t.Errorf("an empty batch is refused: %v", err)
	}
}

func unknownRun(t *testing.T, s logstore.Store) {
	write(t, s, newRun().recorded(job.StatusPending))
	id := newRun().of("billing/other").id()
	if _, err := s.Run(t.Context(), id); !errors.Is(err, job.ErrNotFound) {
		t.Errorf("Run returns %v; want job.ErrNotFound", err)
	}
	if _, err := s.Changes(t.Context(), id, runlog.Whole); !errors.Is(err, job.ErrNotFound) {
		t.Errorf("Changes returns %v; want job.ErrNotFound", err)
	}
	lines, err := s.Lines(t.Context(), logstore.LineFilter{RunID: id, Attempt: 1})
	if err != nil || len(lines) != 0 {
		t.Errorf("Lines returns %v and %v; want nothing", lines, err)
	}
	_, err = s.Run(t.Context(), "nonsense")
	wantInvalid(t, err, "run_id")
	_, err = s.Changes(t.Context(), "nonsense", runlog.Whole)
	wantInvalid(t, err, "run_id")
}

// A run belongs to one job, whatever other jobs' executors say of it.
func foreignUpdates(t *testing.T, s logstore.Store) {
	w := &writes{store: s}
	refused := func(want []int, updates ...logstore.Update) {
		t.Helper()
		err := s.WriteRuns(t.Context(), w.token()+tokenOf(updates...), updates)
		var foreign *logstore.ForeignError
		if len(want) == 0 && err == nil {
			return
		}
		if !errors.As(err, &foreign) {
			t.Fatalf("the error is %v; want a *ForeignError", err)
		}
		if got := slices.Sorted(maps.Keys(foreign.Updates)); !slices.Equal(got, want) {
			t.Errorf("updates %v are left out; want %v", got, want)
		}
		for _, err := range foreign.Updates {
			wantInvalid(t, err, "run_id")
		}
	}
	as := func(name job.Name, u logstore.Update) logstore.Update {
		u.Job, u.Cause = name, job.CauseManual
		return u
	}
	const intruder job.Name = "other/hello"

	// The owner's record and end come first, in all the ways that an end may be written.
	a := newRun()
	end := a.finished(job.StatusSucceeded, "worker-1", 2*time.Second)
	write(t, s, a.recorded(job.StatusPending), end)
	forged := a.finished(job.StatusFailed, "evil", 3*time.Second)
	forged.Message = "forged"
	second := a.try(2).finished(job.StatusFailed, "evil", 4*time.Second)
	piece := a.finished(job.StatusFailed, "evil", 5*time.Second)
	piece.Piece, piece.Total = runlog.PieceAt(0), 2
	for _, u := range []logstore.Update{
		as(intruder, forged), as(intruder, second), as(intruder, piece), as(intruder, a.started("evil", 3, time.Second)),
		as(intruder, a.finished(job.StatusSucceeded, "evil", 3*time.Second)), as(intruder, a.progress(7, "evil", time.Second)),
	} {
		refused([]int{0}, u)
	}
	want := a.row(job.StatusSucceeded)
	want.Instance, want.Delivery, want.StartedAt, want.FinishedAt = "worker-1", 1, epoch.Add(ms(10)), epoch.Add(2*time.Second)
	wantRun(t, s, want)
	wantTimeline(t, s, a, "1: +5ms recorded pending", "1: +10ms started running worker-1/1", "1: +2s finished succeeded worker-1/1")
	if n := list(t, s, logstore.RunFilter{Jobs: []job.Name{intruder}}).Runs; len(n) != 0 {
		t.Errorf("the intruder has runs: %+v", n)
	}

	// In one write, the job counts whose fire it is, and then who says it in a record.
	b := newRun().at(epoch.Add(time.Minute))
	refused([]int{0, 2}, as(intruder, b.started("evil", 1, 0)), b.recorded(job.StatusPending), as(intruder, b.finished(job.StatusFailed, "evil", ms(9))), b.finished(job.StatusSucceeded, "worker-1", time.Second))
	if got := getRun(t, s, b.id())[0]; got.Job != report || got.Status != job.StatusSucceeded || got.Instance != "worker-1" {
		t.Errorf("the run is %+v", got)
	}
	byHand := func(name job.Name, u logstore.Update) logstore.Update {
		u.RunID = job.WantedRunID(report, b.id())
		return as(name, u)
	}
	refused([]int{0}, byHand(intruder, b.started("evil", 1, 0)), byHand(report, b.recorded(job.StatusPending)))
	refused([]int{0}, byHand(intruder, b.finished(job.StatusFailed, "evil", ms(9))))
	refused(nil, byHand(report, b.finished(job.StatusSucceeded, "worker-1", time.Second)))
	if got := getRun(t, s, job.WantedRunID(report, b.id()))[0]; got.Job != report || got.Status != job.StatusSucceeded {
		t.Errorf("the run is %+v", got)
	}

	// Who takes an id before its fire keeps the owner from nothing but that row.
	c := newRun().at(epoch.Add(time.Hour))
	refused(nil, as(intruder, c.finished(job.StatusFailed, "evil", 0)))
	refused([]int{0}, c.finished(job.StatusSucceeded, "worker-1", time.Second))
	if got := getRun(t, s, c.id())[0]; got.Job != intruder || got.Instance != "evil" {
		t.Errorf("the row that was there first became %+v", got)
	}
}
