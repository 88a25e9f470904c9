package logstoretest

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

func countHits(t *testing.T, s logstore.Store, f logstore.HitCountFilter) logstore.HitCounts {
	t.Helper()
	counts, err := s.CountHits(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	return counts
}

// patient is more time than counting what a test has written takes anywhere.
const patient = time.Hour

func hitsOverTime(t *testing.T, s logstore.Store) {
	w := &writes{store: s}
	levels := []string{"debug", "info", "info", "warn", "error", "notice"}
	for hour := range 4 {
		lines := logOf(newRun().at(epoch.Add(time.Duration(hour)*time.Hour)), 1, len(levels))
		for i := range lines {
			lines[i].Level = levels[i]
		}
		w.lines(t, lines[:6-hour]...)
	}
	want := func(f logstore.HitCountFilter, from, step time.Duration, want ...string) {
		t.Helper()
		f.Within = patient
		counts := countHits(t, s, f)
		var got []string
		for i, b := range counts.Buckets {
			if at := f.From.Add(time.Duration(i) * step); !b.At.Equal(at) {
				t.Errorf("bucket %d begins at %v, want %v", i, b.At, at)
			}
			got = append(got, fmt.Sprint(b.Debug, b.Info, b.Warn, b.Error, b.Other))
		}
		counts.Buckets = nil
		end := logstore.HitCounts{From: epoch.Add(from), To: f.To, Step: step, Since: epoch.Add(from)}
		if diff := cmp.Diff(want, got) + cmp.Diff(end, counts); diff != "" || !counts.Complete() {
			t.Errorf("the counts for %+v differ (-want +got):\n%s", f, diff)
		}
	}
	span := func(from, to time.Duration, parts int, f logstore.SearchFilter) logstore.HitCountFilter {
		f.From, f.To = epoch.Add(from), epoch.Add(to)
		return logstore.HitCountFilter{SearchFilter: f, Parts: parts}
	}
	const h = time.Hour
	all := logstore.SearchFilter{}
	want(span(0, 4*h, 4, all), 0, h, "1 2 1 1 1", "1 2 1 1 0", "1 2 1 0 0", "1 2 0 0 0")
	want(span(0, 4*h, 2, all), 0, 2*h, "2 4 2 2 1", "2 4 1 0 0")
	want(span(h, 3*h, 1, all), h, 2*h, "2 4 2 1 0")
	want(span(ms(1), 2*h, 2, all), ms(1), h, "1 2 1 1 0", "0 0 0 0 0")
	want(span(-48*h, 2*h, 2, all), -48*h, 25*h, "0 0 0 0 0", "2 4 2 2 1")
	want(span(0, 2*h, 1, logstore.SearchFilter{Levels: []string{"warn", "notice"}}), 0, 2*h, "0 0 2 0 1")
	want(span(0, 2*h, 1, logstore.SearchFilter{Text: "absent"}), 0, 2*h, "0 0 0 0 0")
	want(span(0, 2*h, 1, logstore.SearchFilter{Groups: []string{}}), 0, 2*h, "0 0 0 0 0")
	want(span(0, 2*h, 1, logstore.SearchFilter{Jobs: []job.Name{"billing/other"}}), 0, 2*h, "0 0 0 0 0")
	want(span(0, 4*h, 1, logstore.SearchFilter{RunID: newRun().at(epoch.Add(h)).id()}), 0, 4*h, "1 2 1 1 0")
	// Parts that do not fit are rounded up, so that there are fewer.
	want(span(0, ms(10), 4, all), 0, ms(3), "1 2 1 1 1", "0 0 0 0 0", "0 0 0 0 0", "0 0 0 0 0")
	want(span(0, ms(9), 7, all), 0, ms(2), "1 2 1 1 1", "0 0 0 0 0", "0 0 0 0 0", "0 0 0 0 0", "0 0 0 0 0")

	refuse := func(field string, f logstore.HitCountFilter) {
		t.Helper()
		_, err := s.CountHits(t.Context(), f)
		wantInvalid(t, err, field)
	}
	refuse("from", logstore.HitCountFilter{SearchFilter: logstore.SearchFilter{To: epoch}, Parts: 1})
	refuse("to", logstore.HitCountFilter{SearchFilter: logstore.SearchFilter{From: epoch}, Parts: 1})
	refuse("to", span(0, ms(9), 10, all))
	refuse("to", logstore.HitCountFilter{SearchFilter: logstore.SearchFilter{From: epoch.AddDate(-1900, 0, 0), To: epoch}, Parts: 1})
	refuse("to", logstore.HitCountFilter{SearchFilter: logstore.SearchFilter{From: epoch, To: epoch.AddDate(11, 0, 0)}, Parts: 1})
	refuse("parts", span(0, h, 0, all))
	refuse("parts", span(0, h, logstore.MaxParts+1, all))
	refuse("text", span(0, h, 1, logstore.SearchFilter{Text: `"open`}))
	refuse("run_id", span(0, h, 1, logstore.SearchFilter{RunID: "1234"}))
}

// writeDays writes lines of runs every two hours for some days, of several jobs, and
// returns what selects them in steps of three hours.
func writeDays(t *testing.T, s logstore.Store) logstore.HitCountFilter {
	t.Helper()
	const days = 5
	var lines []runlog.Line
	for n := range days * 12 {
		r := newRun().of(job.Name(fmt.Sprintf("billing/job-%d", n%3))).at(epoch.Add(time.Duration(n) * 2 * time.Hour))
		for seq := range n%4 + 1 {
			lines = append(lines, r.said(seq+1, fmt.Sprintf("line of run %d", n)))
		}
	}
	w := &writes{store: s}
	w.lines(t, lines...)
	return logstore.HitCountFilter{SearchFilter: logstore.SearchFilter{From: epoch, To: epoch.Add(days * logstore.Day)}, Parts: days * 8}
}

// hitsLikeTheSearch compares each bucket with what a search with its range finds.
func hitsLikeTheSearch(t *testing.T, s logstore.Store) {
	f := writeDays(t, s)
	f.Within = patient
	for _, text := range []string{"", "line", `"of run 7"`, "17", "absent"} {
		f.Text = text
		counts := countHits(t, s, f)
		for _, b := range counts.Buckets {
			search := f.SearchFilter
			search.From, search.To, search.Limit = b.At, b.At.Add(counts.Step), logstore.MaxHits
			if n := len(findLines(t, s, search).Lines); b.Info != n {
				t.Errorf("%q: %d hits are counted from %v on, and %d are found", text, b.Info, b.At, n)
			}
		}
	}
}

func hitsInTime(t *testing.T, s logstore.Store) {
	f := writeDays(t, s)
	f.Within = patient
	all := countHits(t, s, f)
	for _, within := range []time.Duration{1, 100 * time.Microsecond, time.Millisecond, 5 * time.Millisecond, 20 * time.Millisecond} {
		f.Within = within
		counts := countHits(t, s, f)
		for i, b := range counts.Buckets {
			want := all.Buckets[i]
			if b.At.Before(counts.Since) {
				want = runlog.HitBucket{At: b.At}
			}
			if b != want {
				t.Errorf("within %v, counted since %v: the bucket is %+v; want %+v", within, counts.Since, b, want)
			}
		}
		if within == 1 && (counts.Complete() || counts.Since.Before(counts.From) || counts.Since.After(counts.To)) {
			t.Errorf("in no time it was counted since %v, from %v to %v", counts.Since, counts.From, counts.To)
		}
	}
}
