package logstoretest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// logOf returns lines from to to of a run, inclusive.
func logOf(r run, from, to int) []runlog.Line {
	var all []runlog.Line
	for seq := from; seq <= to; seq++ {
		level := "info"
		if seq%10 == 0 {
			level = "error"
		}
		all = append(all, runlog.Line{
			RunID: r.id(), Job: r.job, Attempt: r.attempt, Seq: int64(seq), At: r.fire.Add(ms(seq)),
			Level: level, Output: "stdout", Text: fmt.Sprintf("line %d of a log that says something", seq),
		})
	}
	return all
}

func wantLines(t *testing.T, s logstore.Store, filter logstore.LineFilter, want []runlog.Line) {
	t.Helper()
	got, err := s.Lines(t.Context(), filter)
	if err != nil {
		t.Fatal(err)
	}
	if len(want) == 0 && len(got) == 0 {
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines of %+v differ (-want +got):\n%s", filter, diff)
	}
}

func lines(t *testing.T, s logstore.Store) {
	r := newRun()
	w := &writes{store: s}
	for from := 1; from < 3000; from += 300 {
		w.lines(t, slices.Concat(logOf(r, from, from+299), logOf(r.of("billing/other"), from, from+9), logOf(r.try(2), from, from+9))...)
	}
	all := logstore.LineFilter{RunID: r.id(), Attempt: 1}
	want := func(change func(*logstore.LineFilter), from, to int) {
		t.Helper()
		filter := all
		change(&filter)
		wantLines(t, s, filter, logOf(r, from, to))
	}
	want(func(*logstore.LineFilter) {}, 1, logstore.DefaultLines)
	want(func(f *logstore.LineFilter) { f.Limit = 10000 }, 1, 3000)
	want(func(f *logstore.LineFilter) { f.Limit = 1 }, 1, 1)
	want(func(f *logstore.LineFilter) { f.FromSeq, f.Limit = 1234, 100 }, 1234, 1333)
	want(func(f *logstore.LineFilter) { f.FromSeq, f.ToSeq = 299, 302 }, 299, 302)
	want(func(f *logstore.LineFilter) { f.FromSeq = 2990 }, 2990, 3000)
	want(func(f *logstore.LineFilter) { f.FromSeq = 3001 }, 1, 0)
	want(func(f *logstore.LineFilter) { f.Tail, f.Limit = true, 1 }, 3000, 3000)
	want(func(f *logstore.LineFilter) { f.Tail, f.Limit = true, 700 }, 2301, 3000)
	want(func(f *logstore.LineFilter) { f.Tail, f.Limit, f.ToSeq = true, 5, 1500 }, 1496, 1500)
	want(func(f *logstore.LineFilter) { f.Tail, f.Limit, f.FromSeq = true, 500, 2995 }, 2995, 3000)
	wantLines(t, s, logstore.LineFilter{RunID: r.id(), Attempt: 2, Limit: 3}, logOf(r.try(2), 1, 3))
	wantLines(t, s, logstore.LineFilter{RunID: r.id(), Attempt: 3}, nil)
}

func lastLines(t *testing.T, s logstore.Store) {
	r := newRun()
	w := &writes{store: s}
	forged := slices.Concat(logOf(r, 900, 901), logOf(r.try(4), 1, 2))
	for i := range forged {
		forged[i].Job = "other/hello"
	}
	piece := logOf(r, 700, 701)
	for i := range piece {
		piece[i].Piece = runlog.PieceAt(0)
	}
	w.lines(t, slices.Concat(logOf(r, 5, 20), logOf(r, 1, 4), logOf(r.try(2), 1, 3), logOf(r.try(101), 300, 300), logOf(r.of("billing/other"), 1, 950), forged, piece)...)
	w.lines(t, logOf(r, 7, 20)...)
	want := func(id job.RunID, name job.Name, want map[int]int64) {
		t.Helper()
		got, err := s.LastLines(t.Context(), id, name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("the last lines of run %s of %s differ (-want +got):\n%s", id, name, diff)
		}
	}
	want(r.id(), r.job, map[int]int64{1: 20, 2: 3, 101: 300})
	want(r.id(), "other/hello", map[int]int64{1: 901, 4: 2})
	want(r.id(), "other/more", nil)
	if _, err := s.LastLines(t.Context(), "x", r.job); !errors.Is(err, job.ErrInvalid) {
		t.Errorf("of no run: %v", err)
	}
}

func linesOfOthers(t *testing.T, s logstore.Store) {
	r := newRun()
	w := &writes{store: s}
	forged := logOf(r, 3, 8)
	for i := range forged {
		forged[i].Job, forged[i].Text = "other/hello", "forged"
	}
	w.lines(t, forged...)
	w.lines(t, logOf(r, 1, 10)...)
	wantLines(t, s, logstore.LineFilter{RunID: r.id(), Job: r.job, Attempt: 1}, logOf(r, 1, 10))
	wantLines(t, s, logstore.LineFilter{RunID: r.id(), Job: r.job, Attempt: 1, Tail: true, Limit: 4}, logOf(r, 7, 10))
	wantLines(t, s, logstore.LineFilter{RunID: r.id(), Job: "other/hello", Attempt: 1}, forged)
	wantLines(t, s, logstore.LineFilter{RunID: r.id(), Job: "other/more", Attempt: 1}, nil)
}

func linesTwice(t *testing.T, s logstore.Store) {
	r := newRun()
	w := &writes{store: s}
	w.lines(t, logOf(r, 1, 10)...)
	w.lines(t, logOf(r, 1, 10)...)
	other := logOf(r, 5, 20)
	for i := range other[:6] {
		other[i].Text = "another text, which came later"
	}
	w.lines(t, other...)
	w.lines(t, append(logOf(r, 21, 25), logOf(r, 21, 25)...)...)
	filter := logstore.LineFilter{RunID: r.id(), Attempt: 1}
	wantLines(t, s, filter, logOf(r, 1, 25))
	filter.Tail, filter.Limit = true, 18
	wantLines(t, s, filter, logOf(r, 8, 25))
	filter.FromSeq, filter.ToSeq, filter.Tail, filter.Limit = 7, 12, false, 3
	wantLines(t, s, filter, logOf(r, 7, 9))
}

func linesInAnyCut(t *testing.T, s logstore.Store) {
	r := newRun()
	w := &writes{store: s}
	w.lines(t, logOf(r, 400, 900)...)
	w.lines(t, slices.Concat(logOf(r, 901, 905), logOf(r, 1, 399))...)
	w.lines(t, slices.Concat(logOf(r, 910, 920), logOf(r, 930, 930))...) // with gaps
	w.lines(t, logOf(r, 350, 906)...)
	reversed := logOf(r, 940, 950)
	slices.Reverse(reversed)
	w.lines(t, reversed...)
	want := slices.Concat(logOf(r, 1, 906), logOf(r, 910, 920), logOf(r, 930, 930), logOf(r, 940, 950))
	filter := logstore.LineFilter{RunID: r.id(), Attempt: 1, Limit: 5000}
	wantLines(t, s, filter, want)
	for _, limit := range []int{1, 20, 300, 600, 928} {
		filter.Limit = limit
		wantLines(t, s, filter, want[:limit])
		filter.Tail = true
		wantLines(t, s, filter, want[len(want)-limit:])
		filter.Tail = false
	}
}

func linesByLevel(t *testing.T, s logstore.Store) {
	r := newRun()
	w := &writes{store: s}
	w.lines(t, logOf(r, 1, 2000)...)
	var errs []runlog.Line
	for _, l := range logOf(r, 1, 2000) {
		if l.Level == "error" {
			errs = append(errs, l)
		}
	}
	filter := logstore.LineFilter{RunID: r.id(), Attempt: 1, Levels: []string{"warn", "error"}, Limit: 150}
	wantLines(t, s, filter, errs[:150])
	filter.Tail = true
	wantLines(t, s, filter, errs[50:])
	filter.Levels = []string{"debug"}
	wantLines(t, s, filter, nil)
}

func lineTexts(t *testing.T, s logstore.Store) {
	r := newRun()
	lines := logOf(r, 1, 6)
	lines[0].Text = ""
	lines[1].Text = strings.Repeat("x", 32<<10)
	lines[2].Text = "日本語 \x00 \t ' \" \\ \u2028 🎉 \x1b[31mred"
	lines[3].Level, lines[3].Output = "fatal", "journal"
	lines[4].At = lines[3].At.Add(-time.Hour) // a clock that steps back
	lines[5].Text = strings.Repeat("日本", 16<<9)
	w := &writes{store: s}
	w.lines(t, lines...)
	wantLines(t, s, logstore.LineFilter{RunID: r.id(), Attempt: 1}, lines)
}

// linesOfAllKinds has what executors with faults, or of newer versions, may send.
func linesOfAllKinds(t *testing.T, s logstore.Store) {
	r := newRun()
	lines := logOf(r, 1, 6)
	lines[0].Text = strings.Repeat("long and longer ", 1<<16) // 1 MiB
	lines[1].Text = "no text: \xff\xfe\xc3 needle"
	lines[2].Level, lines[2].Output = "notice", "telemetry" // of a newer executor
	lines[3].At = time.Date(2099, 12, 31, 0, 0, 0, 0, time.UTC)
	lines[4].At = time.Date(1971, 1, 1, 0, 0, 0, 0, time.UTC)
	lines[5].Text = strings.Repeat("x", 300) + " needle" // a word that is longer than any search
	w := &writes{store: s}
	w.lines(t, lines...)
	wantLines(t, s, logstore.LineFilter{RunID: r.id(), Attempt: 1}, lines)
	wantHits(t, s, logstore.SearchFilter{Text: "needle"}, "0/1:6", "0/1:2")
	wantHits(t, s, logstore.SearchFilter{Text: "longer long", Levels: []string{"info"}}, "0/1:1")
	wantHits(t, s, logstore.SearchFilter{Levels: []string{"notice"}}, "0/1:3")

	// The id of a run of another job: which of the two lies is not known here, and neither
	// takes the other's lines away.
	other := logOf(r, 1, 2)
	for i := range other {
		other[i].Job, other[i].Seq = "billing/other", int64(100+i)
	}
	w.lines(t, other...)
	wantLines(t, s, logstore.LineFilter{RunID: r.id(), Attempt: 1, ToSeq: 6}, lines)
	wantHits(t, s, logstore.SearchFilter{Text: "needle", Jobs: []job.Name{"billing/other"}})
}

func invalidLines(t *testing.T, s logstore.Store) {
	w := &writes{store: s}
	refuse := func(field string, change func(*runlog.Line)) {
		t.Helper()
		lines := logOf(newRun(), 1, 2)
		change(&lines[1])
		wantInvalid(t, s.WriteLines(t.Context(), w.token(), lines), field)
	}
	refuse("run_id", func(l *runlog.Line) { l.RunID = "1234" })
	refuse("job", func(l *runlog.Line) { l.Job = "nogroup" })
	refuse("attempt", func(l *runlog.Line) { l.Attempt = 0 })
	refuse("seq", func(l *runlog.Line) { l.Seq = 0 })
	refuse("at", func(l *runlog.Line) { l.At = time.Time{} })
	refuse("level", func(l *runlog.Line) { l.Level = strings.Repeat("x", 300) })
	wantLines(t, s, logstore.LineFilter{RunID: newRun().id(), Attempt: 1}, nil)

	refuseFilter := func(field string, f logstore.LineFilter) {
		t.Helper()
		_, err := s.Lines(t.Context(), f)
		wantInvalid(t, err, field)
	}
	id := newRun().id()
	refuseFilter("run_id", logstore.LineFilter{RunID: "1234", Attempt: 1})
	refuseFilter("attempt", logstore.LineFilter{RunID: id})
	refuseFilter("from_seq", logstore.LineFilter{RunID: id, Attempt: 1, FromSeq: -1})
	refuseFilter("to_seq", logstore.LineFilter{RunID: id, Attempt: 1, FromSeq: 5, ToSeq: 4})
	refuseFilter("limit", logstore.LineFilter{RunID: id, Attempt: 1, Limit: logstore.MaxLines + 1})
}
