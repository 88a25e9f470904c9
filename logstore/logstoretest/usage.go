package logstoretest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// usageOf returns the usage of the group of most runs, in a line for each part: how many waited
// on average, the longest wait, how many started and ended, and how many slots were in use.
func usageOf(t *testing.T, s logstore.Store, f logstore.UsageFilter) []string {
	t.Helper()
	parts, err := s.Usage(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for i, p := range parts {
		if at := f.From.Add(f.To.Sub(f.From) / time.Duration(f.Parts) * time.Duration(i)); !p.At.Equal(at) {
			t.Errorf("part %d begins at %v, want %v", i, p.At, at)
		}
		lines = append(lines, fmt.Sprintf("%g waited, %v at most; +%d -%d, %g ran", p.Waiting, time.Duration(p.LongestWait)*time.Millisecond, p.Started, p.Ended, p.SlotsInUse))
	}
	return lines
}

func minutes(from, to int) logstore.UsageFilter {
	return logstore.UsageFilter{
		Group: report.Group(), From: epoch.Add(time.Duration(from) * time.Minute), To: epoch.Add(time.Duration(to) * time.Minute), Parts: to - from,
	}
}

// took is what is written of a run that was committed, began and ended at some instants; those
// that have not come are zero.
func took(r run, committed, started, finished time.Time) []logstore.Update {
	updates := []logstore.Update{r.recorded(job.StatusPending)}
	if !started.IsZero() {
		updates = append(updates, r.started("worker-1", 1, 0))
	}
	if !finished.IsZero() {
		updates = append(updates, r.finished(job.StatusSucceeded, "worker-1", 0))
	}
	for i := range updates {
		u := &updates[i]
		u.At, u.CommittedAt = committed, committed
		if u.Kind != runlog.KindRecorded {
			u.StartedAt, u.At = started, started
		}
		if u.Kind == runlog.KindFinished {
			u.FinishedAt, u.At = finished, finished
		}
	}
	return updates
}

func usage(t *testing.T, s logstore.Store) {
	want := func(f logstore.UsageFilter, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, usageOf(t, s, f)); diff != "" {
			t.Errorf("the usage for %+v differs (-want +got):\n%s", f, diff)
		}
	}
	const none = "0 waited, 0s at most; +0 -0, 0 ran"
	want(minutes(0, 1), none)

	at := func(seconds int) time.Time { return epoch.Add(time.Duration(seconds) * time.Second) }
	never := time.Time{}
	w := &writes{store: s}
	run := func(name job.Name, committed, started, finished time.Time) {
		t.Helper()
		w.runs(t, took(newRun().of(name).at(committed), committed, started, finished)...)
	}
	run("billing/short", at(10), at(40), at(55))      // waits for 30 s and runs for 15 s in the first minute
	run("billing/long", at(0), at(90), at(210))       // waits through the edge, and runs through two
	run("ops/other", at(0), at(30), at(300))          // is of another group
	run("billing/before", at(-90), at(-50), at(30))   // has begun before
	run("billing/over", at(-600), at(-500), at(-400)) // and has ended, too
	want(
		minutes(0, 4),
		"1.5 waited, 1m0s at most; +1 -2, 0.75 ran",
		"0.5 waited, 1m30s at most; +1 -0, 0.5 ran",
		"0 waited, 0s at most; +0 -0, 1 ran",
		"0 waited, 0s at most; +0 -1, 0.5 ran",
	)
	want(minutes(-1, 1), "0.167 waited, 40s at most; +1 -0, 0.833 ran", "1.5 waited, 1m0s at most; +1 -2, 0.75 ran")

	ofJob := func(name job.Name, from, to int) logstore.UsageFilter {
		f := minutes(from, to)
		f.Job = name
		return f
	}
	want(ofJob("billing/short", 0, 2), "0.5 waited, 30s at most; +1 -1, 0.25 ran", none)
	want(ofJob("billing/before", 0, 1), "0 waited, 0s at most; +0 -1, 0.5 ran")
	want(ofJob("billing/unknown", 0, 1), none)

	// What is alive counts to the end, however long ago it fired; so does a backfill.
	run("billing/weeks", at(-30*86400), at(-29*86400), never)
	run("billing/stuck", at(-2*86400), never, never)
	old := newRun().of("billing/backfilled").at(at(-40 * 86400))
	backfilled := took(old, at(70), at(75), at(105))
	for i := range backfilled {
		backfilled[i].Cause = job.CauseBackfill
	}
	w.runs(t, backfilled...)
	want(
		minutes(0, 3),
		"2.5 waited, 48h1m0s at most; +1 -2, 1.75 ran",
		"1.583 waited, 48h2m0s at most; +2 -1, 2 ran",
		"1 waited, 48h3m0s at most; +0 -0, 2 ran",
	)

	want(ofJob("billing/stuck", 0, 1), "1 waited, 48h1m0s at most; +0 -0, 0 ran")
	want(ofJob("billing/weeks", 0, 1), "0 waited, 0s at most; +0 -0, 1 ran")
	want(ofJob("billing/backfilled", 1, 2), "0.083 waited, 5s at most; +1 -1, 0.5 ran")

	// Of a range that is not over, what has come counts.
	begun := minutes(0, 3)
	begun.Now = at(90)
	want(begun, "2.5 waited, 48h1m0s at most; +1 -2, 1.75 ran", "2.167 waited, 48h1m30s at most; +1 -0, 1.5 ran")

	// One that never began waited until it ended; what has never been handed out has not waited.
	cancelled := newRun().of("billing/cancelled").at(at(600))
	w.runs(t, cancelled.recorded(job.StatusPending), cancelled.record(job.StatusCancelled, 20*time.Second, ""))
	skipped := newRun().of("billing/skipped").at(at(610))
	w.runs(t, skipped.recorded(job.StatusSkipped))
	w.runs(t, newRun().of("billing/queued").at(at(620)).recorded(job.StatusQueued))
	want(minutes(10, 11), "1.333 waited, 48h11m0s at most; +0 -0, 1 ran")

	refuse := func(field string, change func(*logstore.UsageFilter)) {
		t.Helper()
		f := minutes(0, 4)
		change(&f)
		_, err := s.Usage(t.Context(), f)
		wantInvalid(t, err, field)
	}
	refuse("group", func(f *logstore.UsageFilter) { f.Group = "" })
	refuse("group", func(f *logstore.UsageFilter) { f.Group = "No" })
	refuse("job", func(f *logstore.UsageFilter) { f.Job = "ops/other" })
	refuse("job", func(f *logstore.UsageFilter) { f.Job = "billing/No" })
	refuse("from", func(f *logstore.UsageFilter) { f.From = time.Time{}; f.To = f.From.Add(time.Hour) })
	refuse("to", func(f *logstore.UsageFilter) { f.To = f.From })
	refuse("from", func(f *logstore.UsageFilter) { f.Now = f.From })
	refuse("to", func(f *logstore.UsageFilter) { f.To = f.From.AddDate(0, 2, 0) })
	refuse("parts", func(f *logstore.UsageFilter) { f.Parts = 0 })
	refuse("parts", func(f *logstore.UsageFilter) { f.Parts = logstore.MaxUsageParts + 1 })
}

// usageInPieces has a run in pieces wait as one, and each piece take a slot; and of a run that
// was tried again it counts both attempts.
func usageInPieces(t *testing.T, s logstore.Store) {
	r := newRun()
	record := r.recorded(job.StatusPending)
	record.Total = 2
	first, second := ofPiece(r.finished(job.StatusSucceeded, "worker-1", 30*time.Second), 0, 2), ofPiece(r.started("worker-2", 1, 12*time.Second), 1, 2)
	first.StartedAt = epoch.Add(6 * time.Second)
	writeInTwo(t, s, record, r.begun(6*time.Second), first, second)

	again := newRun().of("billing/again")
	failed := again.finished(job.StatusFailed, "worker-1", 15*time.Second)
	failed.StartedAt, failed.Retry = epoch.Add(3*time.Second), true
	next := again.try(2).recorded(job.StatusPending)
	next.At, next.CommittedAt = epoch.Add(30*time.Second), epoch.Add(30*time.Second)
	goesOn := again.try(2).started("worker-2", 1, 45*time.Second)
	goesOn.CommittedAt = next.CommittedAt
	writeInTwo(t, s, again.recorded(job.StatusPending), failed, next, goesOn)
	want := func(want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, usageOf(t, s, minutes(0, 1))); diff != "" {
			t.Errorf("the usage differs (-want +got):\n%s", diff)
		}
	}
	want("0.4 waited, 15s at most; +4 -2, 1.65 ran")

	// So it does if it fired long ago, and is alive or of a backfill; that of another group does not.
	const day = 24 * time.Hour
	inPieces := func(name job.Name, fired time.Duration, cause job.Cause, ends bool) []logstore.Update {
		r := newRun().of(name).at(epoch.Add(-fired))
		committed := r.fire
		if cause == job.CauseBackfill {
			committed = epoch
		}
		record := r.recorded(job.StatusPending)
		record.At, record.Total = committed, 2
		updates := []logstore.Update{record, r.begun(fired + 6*time.Second)}
		for i := range 2 {
			updates = append(updates, ofPiece(r.started("worker-1", 1, fired+time.Duration(6+6*i)*time.Second), i, 2))
			if i == 0 || ends {
				end := r.finished(job.StatusSucceeded, "worker-1", fired+time.Duration(30+6*i)*time.Second)
				end.StartedAt = epoch.Add(time.Duration(6+6*i) * time.Second)
				updates = append(updates, ofPiece(end, i, 2))
			}
		}
		if ends {
			updates = append(updates, r.record(job.StatusSucceeded, fired+36*time.Second, ""))
		}
		for i := range updates {
			updates[i].Cause = cause
			updates[i].CommittedAt = committed
		}
		return updates
	}
	over := inPieces("billing/over", 2*day, job.CauseSchedule, true)
	writeInTwo(t, s, slices.Concat(over[:2], inPieces("ops/other", 2*day, job.CauseSchedule, false), inPieces("ops/backfilled", 40*day, job.CauseBackfill, true))...)
	writeInTwo(t, s, over[2:]...)
	want("0.4 waited, 15s at most; +4 -2, 1.65 ran")
	writeInTwo(t, s, inPieces("billing/alive", 2*day, job.CauseSchedule, false)...)
	want("0.5 waited, 48h0m6s at most; +6 -3, 2.85 ran")
	writeInTwo(t, s, slices.Concat(inPieces("billing/backfilled", 40*day, job.CauseBackfill, true), inPieces("billing/backfilling", 40*day, job.CauseBackfill, false))...)
	want("0.7 waited, 48h0m6s at most; +10 -6, 4.85 ran")
}

// usageLikeTheModel compares the usage with that of a slow and obvious function, for runs that
// come and go at random.
func usageLikeTheModel(t *testing.T, s logstore.Store) {
	random := rand.New(rand.NewPCG(1, 2))
	type span struct{ begin, end int64 } // milliseconds from epoch on
	const forever = math.MaxInt64
	var waits, runs []span
	w := &writes{store: s}
	var all []logstore.Update
	for n := range 300 {
		later := func(after int64, most time.Duration) int64 { return after + random.Int64N(most.Milliseconds()) }
		committed := later(-(3 * time.Hour).Milliseconds(), 5*time.Hour)
		started := later(committed, 20*time.Minute)
		finished := later(started, 40*time.Minute)
		switch n % 10 {
		case 0:
			started, finished = forever, forever
		case 1:
			finished = forever
		}
		if waits = append(waits, span{committed, started}); started != forever {
			runs = append(runs, span{started, finished})
		}
		instant := func(at int64) time.Time {
			if at == forever {
				return time.Time{}
			}
			return epoch.Add(time.Duration(at) * time.Millisecond)
		}
		all = append(all, took(newRun().of(job.Name(fmt.Sprintf("billing/job-%d", n))).at(instant(committed)), instant(committed), instant(started), instant(finished))...)
	}
	w.runs(t, all...)
	for _, f := range []logstore.UsageFilter{minutes(0, 60), minutes(-30, 10), {Group: "billing", From: epoch, To: epoch.Add(time.Hour), Parts: 7}} {
		got, err := s.Usage(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range got {
			from, to := p.At.Sub(epoch).Milliseconds(), f.To.Sub(epoch).Milliseconds()
			if i+1 < len(got) {
				to = got[i+1].At.Sub(epoch).Milliseconds()
			}
			within := func(at int64) bool { return at >= from && at < to }
			want := runlog.UsagePart{At: p.At}
			average := func(spans []span) float64 {
				var sum int64
				for _, s := range spans {
					sum += max(min(s.end, to)-max(s.begin, from), 0)
				}
				return math.Round(1000*float64(sum)/float64(to-from)) / 1000
			}
			want.Waiting, want.SlotsInUse = average(waits), average(runs)
			for _, s := range waits {
				if s.begin < to && s.end >= from {
					want.LongestWait = max(want.LongestWait, min(s.end, to)-s.begin)
				}
			}
			for _, s := range runs {
				if within(s.begin) {
					want.Started++
				}
				if within(s.end) {
					want.Ended++
				}
			}
			if diff := cmp.Diff(want, p); diff != "" {
				t.Errorf("part %d of %+v differs (-want +got):\n%s", i, f, diff)
			}
		}
	}
}
