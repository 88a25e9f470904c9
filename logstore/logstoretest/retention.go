package logstoretest

import (
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

const (
	day     = logstore.Day
	forever = job.Duration(job.MaxKeep)
)

func keeping(runs, logs job.Duration) job.Retention {
	return job.Retention{Default: job.Keep{Runs: runs, Logs: logs}}
}

func days(n int) job.Duration { return job.Duration(n) * job.Duration(day) }

func wantTrimmed(t *testing.T, s logstore.Store, now time.Time, r job.Retention, want logstore.Trimmed) {
	t.Helper()
	effect, err := s.Preview(t.Context(), now, r)
	if err != nil {
		t.Fatal(err)
	}
	if got := (logstore.Trimmed{Runs: effect.Frees.Runs, Lines: effect.Frees.Lines}); got != want {
		t.Errorf("the preview promises %+v; want %+v", got, want)
	}
	got, err := s.Trim(t.Context(), now, r)
	if err != nil || got != want {
		t.Errorf("trim deleted %+v, with %v; want %+v", got, err, want)
	}
}

func trimRuns(t *testing.T, s logstore.Store) {
	w := &writes{store: s}
	// Whole days, as a store may keep a day of which a part is to stay.
	midnight := epoch.Truncate(day)
	at := func(n int) run { return newRun().at(midnight.Add(time.Duration(n) * day)) }
	var updates []logstore.Update
	for minute := range 2500 {
		updates = append(updates, newRun().of("billing/minute").at(midnight.Add(-time.Duration(minute+1)*time.Minute)).recorded(job.StatusPending))
	}
	for n := range 4 {
		updates = append(updates, at(n).started("worker-1", 1, ms(10)), at(n).finished(job.StatusFailed, "worker-1", ms(20)))
	}
	w.runs(t, updates...)
	for n := range 4 {
		w.lines(t, logOf(at(n), 1, 3)...)
	}
	wantTrimmed(t, s, at(1).fire, keeping(days(5), forever), logstore.Trimmed{})
	wantTrimmed(t, s, at(10).fire, keeping(days(9), forever), logstore.Trimmed{Runs: 2501})

	left := list(t, s, logstore.RunFilter{}).Runs
	if len(left) != 3 || !left[2].FireTime.Equal(at(1).fire) {
		t.Errorf("%d runs are left; want 3, from day 1 on", len(left))
	}
	if got := len(timeline(t, s, at(1))); got != 3 {
		t.Errorf("the oldest run that is left has %d changes; want 3", got)
	}
	for n := range 4 {
		wantLines(t, s, logstore.LineFilter{RunID: at(n).id(), Attempt: 1}, logOf(at(n), 1, 3))
	}

	// What comes back from the bus begins anew.
	write(t, s, at(0).recorded(job.StatusPending))
	wantTimeline(t, s, at(0), "1: +5ms recorded pending")
}

func trimRunsByRule(t *testing.T, s logstore.Store) {
	r := keeping(days(9), forever)
	r.Groups = map[string]job.Keep{"audit": {Runs: days(20)}, "noise": {Runs: days(2)}}
	r.Jobs = map[job.Name]job.Keep{"noise/loud": {Runs: days(12)}}
	midnight := epoch.Truncate(day)
	late := day - time.Minute // in the day, where it does not matter that a store drops whole days
	jobs := []job.Name{"audit/a", "billing/b", "noise/c", "noise/loud"}
	w := &writes{store: s}
	for n := range 3 {
		for _, name := range jobs {
			each := newRun().of(name).at(midnight.Add(time.Duration(n)*day + late))
			w.runs(t, each.started("worker-1", 1, ms(10)), each.finished(job.StatusFailed, "worker-1", ms(20)))
		}
	}
	counts := func(now, audit, billing, noise, loud int) {
		t.Helper()
		for i, want := range []int{audit, billing, noise, loud} {
			if got := len(list(t, s, logstore.RunFilter{Jobs: jobs[i : i+1]}).Runs); got != want {
				t.Errorf("after %d days there are %d runs of %s; want %d", now, got, jobs[i], want)
			}
		}
	}
	at := func(n int) time.Time { return midnight.Add(time.Duration(n)*day + time.Hour) }
	wantTrimmed(t, s, at(4), r, logstore.Trimmed{Runs: 2})
	counts(4, 3, 3, 1, 3)
	wantTrimmed(t, s, at(10), r, logstore.Trimmed{Runs: 2})
	counts(10, 3, 2, 0, 3)
	wantTrimmed(t, s, at(15), r, logstore.Trimmed{Runs: 5})
	counts(15, 3, 0, 0, 0)
	wantTrimmed(t, s, at(30), r, logstore.Trimmed{Runs: 3})
	counts(30, 0, 0, 0, 0)
}

// keepBackfilled has runs whose fires are long past, as those of a backfill.
func keepBackfilled(t *testing.T, s logstore.Store) {
	now := time.Now().UTC()
	old, filled := newRun().at(now.Add(-300*day).Truncate(time.Millisecond)), newRun().at(now.Add(-301*day).Truncate(time.Millisecond))
	update := filled.finished(job.StatusSucceeded, "worker-1", ms(20))
	update.CommittedAt = now.Add(-time.Minute)
	w := &writes{store: s}
	w.runs(t, old.finished(job.StatusSucceeded, "worker-1", ms(20)), update)
	w.lines(t, logOf(filled, 1, 3)...)
	wantTrimmed(t, s, now, keeping(days(30), days(7)), logstore.Trimmed{Runs: 1})
	wantLines(t, s, logstore.LineFilter{RunID: filled.id(), Attempt: 1}, logOf(filled, 1, 3))
	if got := list(t, s, logstore.RunFilter{}).Runs; len(got) != 1 || got[0].RunID != filled.id() {
		t.Errorf("the runs are %+v; want the one that came late", got)
	}
	wantTrimmed(t, s, now.Add(31*day), keeping(days(30), days(7)), logstore.Trimmed{Runs: 1, Lines: 3})
}

// futureLines writes three lines of a run on each of some days from today on. The store
// notes when it wrote them, and days that are to come end after that.
func futureLines(t *testing.T, s logstore.Store, today time.Time, n int, jobs ...job.Name) {
	t.Helper()
	w := &writes{store: s, n: 1000 * n}
	for _, name := range jobs {
		w.lines(t, logOf(newRun().of(name).at(today.Add(time.Duration(n)*day)), 1, 3)...)
	}
}

func wantDays(t *testing.T, s logstore.Store, today time.Time, name job.Name, want ...int) {
	t.Helper()
	var got []int
	for n := range 4 {
		r := newRun().of(name).at(today.Add(time.Duration(n) * day))
		lines, err := s.Lines(t.Context(), logstore.LineFilter{RunID: r.id(), Attempt: 1})
		if err != nil {
			t.Fatal(err)
		}
		if len(lines) > 0 {
			got = append(got, n)
		}
	}
	if len(got) != len(want) || len(want) > 0 && got[0] != want[0] {
		t.Errorf("there are lines of %s of the days %v; want %v", name, got, want)
	}
}

func trimLines(t *testing.T, s logstore.Store) {
	r := keeping(forever, days(7))
	r.Groups = map[string]job.Keep{"noise": {Logs: days(1)}}
	s.SetRetention(r)
	today := time.Now().UTC().Truncate(day)
	for n := range 4 {
		futureLines(t, s, today, n, report, "noise/a")
	}
	at := func(n int) time.Time { return today.Add(time.Duration(n) * day) }
	wantTrimmed(t, s, at(2).Add(-time.Hour), r, logstore.Trimmed{})
	wantTrimmed(t, s, at(3), r, logstore.Trimmed{Lines: 6})
	wantDays(t, s, today, report, 0, 1, 2, 3)
	wantDays(t, s, today, "noise/a", 2, 3)
	if hits := findLines(t, s, logstore.SearchFilter{Text: `"line 1 of"`, Group: "noise"}).Lines; len(hits) != 2 {
		t.Errorf("a search finds %+v; want a line of each day that is left", hits)
	}
	wantTrimmed(t, s, at(8), r, logstore.Trimmed{Lines: 9})
	wantDays(t, s, today, report, 1, 2, 3)
	wantTrimmed(t, s, at(40), r, logstore.Trimmed{Lines: 9})
	wantDays(t, s, today, report)
}

func changeRetention(t *testing.T, s logstore.Store) {
	today := time.Now().UTC().Truncate(day)
	at := func(n int) time.Time { return today.Add(time.Duration(n) * day) }
	r := keeping(forever, days(7))
	s.SetRetention(r)
	futureLines(t, s, today, 0, report)
	futureLines(t, s, today, 1, report, "noise/a")

	r.Groups = map[string]job.Keep{"billing": {Logs: days(2)}} // shorter, for what is there
	s.SetRetention(r)
	wantTrimmed(t, s, at(3), r, logstore.Trimmed{Lines: 3})
	wantTrimmed(t, s, at(4), r, logstore.Trimmed{}) // another job's lines of that day and class stay

	r.Groups["billing"] = job.Keep{Logs: days(90)} // longer, for what comes
	s.SetRetention(r)
	futureLines(t, s, today, 2, report)
	wantDays(t, s, today, report, 1, 2)
	wantTrimmed(t, s, at(9), r, logstore.Trimmed{Lines: 6})
	wantDays(t, s, today, report, 2)
	wantTrimmed(t, s, at(92), r, logstore.Trimmed{})
	wantTrimmed(t, s, at(93), r, logstore.Trimmed{Lines: 3})
}

func previewTrim(t *testing.T, s logstore.Store) {
	today := time.Now().UTC().Truncate(day)
	r := keeping(days(30), days(10))
	s.SetRetention(r)
	w := &writes{store: s}
	for n := range 7 {
		each := newRun().at(today.Add(-time.Duration(n) * day))
		w.runs(t, each.finished(job.StatusSucceeded, "worker-1", ms(20)))
		w.lines(t, logOf(each, 1, 100)...)
	}
	effect, err := s.Preview(t.Context(), today.Add(12*time.Hour), r)
	if err != nil {
		t.Fatal(err)
	}
	if effect.Now.Runs != 7 || effect.Now.Lines != 700 || effect.Now.Bytes <= 0 {
		t.Errorf("there is %+v; want 7 runs and 700 lines", effect.Now)
	}
	if effect.Frees != (runlog.Amount{}) {
		t.Errorf("a trim frees %+v; want nothing", effect.Frees)
	}
	if e := effect.Expected; e.Runs < 30 || e.Runs > 35 || e.Lines < 1000 || e.Lines > 1150 || e.Bytes <= 0 {
		t.Errorf("%+v is expected; want about 30 runs and 1000 lines", e)
	}
	shorter, err := s.Preview(t.Context(), today.Add(12*time.Hour), keeping(days(30), days(1)))
	if err != nil || shorter.Expected.Lines > 120 || shorter.Expected.Bytes >= effect.Expected.Bytes {
		t.Errorf("with a day of lines, %+v is expected, with %v", shorter.Expected, err)
	}
	later, err := s.Preview(t.Context(), today.Add(20*day), r)
	if err != nil || later.Frees.Lines != 700 || later.Frees.Bytes <= 0 || later.Frees.Runs != 0 {
		t.Errorf("20 days later a trim frees %+v, with %v; want all lines", later.Frees, err)
	}
	if got := len(list(t, s, logstore.RunFilter{}).Runs); got != 7 {
		t.Errorf("after previews there are %d runs", got)
	}
}
