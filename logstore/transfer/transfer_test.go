package transfer_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/carillon-scheduler/carillon/internal/chserver/chtest"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/clickhouse"
	"github.com/carillon-scheduler/carillon/logstore/sqlite"
	"github.com/carillon-scheduler/carillon/logstore/transfer"
)

func TestMain(m *testing.M) { chtest.Main(m) }

func TestACopyInClickHouseTellsWhatSQLiteTells(t *testing.T) {
	from, to := openSQLite(t), openClickHouse(t)
	fill(t, from)
	result, err := transfer.Copy(t.Context(), from, to, func(int, int) {})
	if err != nil {
		t.Fatal(err)
	}
	if !result.Equal() || len(result.Days) != 2 || len(result.Facts) != 1 {
		t.Errorf("the comparison is %+v", result)
	}
	wantSame(t, from, to)
}

func TestACopyThatWasCutGoesOn(t *testing.T) {
	from, to := openSQLite(t), openClickHouse(t)
	fill(t, from)
	cut := errors.New("cut")
	for left := range 12 { // each time a little later
		_, err := transfer.Copy(t.Context(), from, &cutting{Store: to, left: left, err: cut}, func(int, int) {})
		if err != nil && !errors.Is(err, cut) {
			t.Fatal(err)
		}
	}
	result, err := transfer.Copy(t.Context(), from, to, func(int, int) {})
	if err != nil || !result.Equal() {
		t.Errorf("the comparison is %+v, %v", result, err)
	}
	wantSame(t, from, to)
}

func TestATargetWithAnotherHistoryIsRefused(t *testing.T) {
	from, other, to := openSQLite(t), openSQLite(t), openClickHouse(t)
	fill(t, from)
	fill(t, to)
	none := func(int, int) {}
	if _, err := transfer.Copy(t.Context(), from, to, none); !errors.Is(err, job.ErrConflict) {
		t.Errorf("a target with a history: %v", err)
	}
	copied := openClickHouse(t)
	if _, err := transfer.Copy(t.Context(), from, copied, none); err != nil {
		t.Fatal(err)
	}
	if _, err := transfer.Copy(t.Context(), other, copied, none); !errors.Is(err, job.ErrConflict) {
		t.Errorf("a target with a copy of another: %v", err)
	}
}

func TestTheComparisonNamesTheDayThatDiffers(t *testing.T) {
	from, to := openSQLite(t), openClickHouse(t)
	fill(t, from)
	if _, err := transfer.Copy(t.Context(), from, to, func(int, int) {}); err != nil {
		t.Fatal(err)
	}
	r := runAt(monday, 0)
	if err := from.WriteLines(t.Context(), "late", []runlog.Line{line(r, 9, "late")}); err != nil {
		t.Fatal(err)
	}
	result, err := transfer.Copy(t.Context(), from, to, func(int, int) {})
	if err != nil {
		t.Fatal(err)
	}
	if monday := result.Days[0]; result.Equal() || monday.Equal || monday.Lines != (transfer.Sides{Source: 7, Target: 6}) || !result.Days[1].Equal {
		t.Errorf("the comparison is %+v", result)
	}
}

// cutting is a store that fails from the write after the next ones on.
type cutting struct {
	*clickhouse.Store
	left int
	err  error
}

func (c *cutting) allow() error {
	if c.left--; c.left < 0 {
		return c.err
	}
	return nil
}

func (c *cutting) WriteRuns(ctx context.Context, token string, updates []logstore.Update) error {
	return errors.Join(c.Store.WriteRuns(ctx, token, updates), c.allow())
}

func (c *cutting) WriteLines(ctx context.Context, token string, lines []runlog.Line) error {
	return errors.Join(c.Store.WriteLines(ctx, token, lines), c.allow())
}

func (c *cutting) Repeats() logstore.Writer { return &cuttingRepeats{c.Store.Repeats(), c} }

type cuttingRepeats struct {
	logstore.Writer
	c *cutting
}

func (r *cuttingRepeats) WriteRuns(ctx context.Context, token string, updates []logstore.Update) error {
	return errors.Join(r.c.allow(), r.Writer.WriteRuns(ctx, token, updates))
}

func openSQLite(t *testing.T) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "history.db"))
	return closing(t, s, err)
}

func openClickHouse(t *testing.T) *clickhouse.Store {
	t.Helper()
	s, err := clickhouse.Open(chtest.Database(t), clickhouse.Config{})
	s = closing(t, s, err)
	keep := logstore.DefaultRetention()
	keep.Default.Logs = job.Duration(5 * 365 * logstore.Day)
	s.SetRetention(keep)
	return s
}

func closing[S logstore.Store](t *testing.T, s S, err error) S {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

var (
	monday  = time.Now().UTC().Truncate(logstore.Day).Add(-3*logstore.Day + 9*time.Hour)
	tuesday = monday.Add(logstore.Day)
)

func runAt(fire time.Time, n int) logstore.Update {
	name, fire := job.Name("billing/report"), fire.Add(time.Duration(n)*time.Minute)
	return logstore.Update{
		Kind: runlog.KindRecorded, RunID: job.FireRunID(name, fire.UnixMilli(), job.CauseSchedule), Job: name, Version: 3, Attempt: 1,
		Cause: job.CauseSchedule, Status: job.StatusPending, At: fire.Add(5 * time.Millisecond), CommittedAt: fire.Add(5 * time.Millisecond),
	}
}

func line(u logstore.Update, seq int64, text string) runlog.Line {
	return runlog.Line{RunID: u.RunID, Job: u.Job, Attempt: u.Attempt, Piece: u.Piece, Seq: seq, At: u.At, Level: "info", Output: "stdout", Text: text}
}

func with(u logstore.Update, kind runlog.Kind, after time.Duration, change func(*logstore.Update)) logstore.Update {
	u.Kind, u.Status, u.At = kind, "", u.CommittedAt.Add(after)
	if kind != runlog.KindRecorded {
		u.Instance, u.Delivery, u.StartedAt, u.DeliveredAt = "worker-1", 1, u.CommittedAt.Add(time.Second), u.CommittedAt.Add(900*time.Millisecond)
	}
	change(&u)
	return u
}

// fill writes runs of all kinds on two days.
func fill(t *testing.T, s logstore.Store) {
	t.Helper()
	code := 3
	ended := func(status job.Status) func(*logstore.Update) {
		return func(u *logstore.Update) { u.Status, u.FinishedAt = status, u.At }
	}
	var updates []logstore.Update
	var lines []runlog.Line

	plain := runAt(monday, 0)
	updates = append(updates, plain,
		with(plain, runlog.KindStarted, time.Second, func(*logstore.Update) {}),
		with(plain, runlog.KindProgress, 20*time.Second, func(u *logstore.Update) { u.Progress, u.ProgressText = 40, "rows" }),
		with(plain, runlog.KindFinished, time.Minute, func(u *logstore.Update) {
			ended(job.StatusSucceeded)(u)
			u.Result, u.LogLines = []byte(`{"rows":7}`), 2
		}))
	lines = append(lines, line(plain, 1, "数据库"), line(plain, 2, "done"))

	tried := runAt(monday, 1)
	second := tried
	second.Attempt, second.At, second.CommittedAt, second.Cause = 2, tried.At.Add(2*time.Minute), tried.At.Add(2*time.Minute), job.CauseRerun
	updates = append(updates, tried,
		with(tried, runlog.KindFinished, time.Minute, func(u *logstore.Update) {
			ended(job.StatusFailed)(u)
			u.ExitCode, u.Message, u.Retry = &code, "exit status 3", true
		}),
		second,
		with(second, runlog.KindFinished, time.Minute, func(u *logstore.Update) { ended(job.StatusTimedOut)(u); u.Instance = "worker-2" }),
		with(second, runlog.KindMarked, time.Hour, func(u *logstore.Update) {
			u.Status, u.Instance, u.Delivery, u.Mark, u.By, u.Reason = job.StatusTimedOut, "", 0, job.MarkHandled, "ann", "known"
		}))
	lines = append(lines, line(tried, 1, "first"), line(second, 1, "second"))

	heldAt := with(second, runlog.KindOnHold, time.Second, func(u *logstore.Update) {
		u.Status, u.Instance, u.Delivery, u.By, u.Reason = job.StatusRunning, "", 0, "ann", "disk is full"
	})
	resumed := heldAt
	resumed.Kind, resumed.At, resumed.By, resumed.Reason = runlog.KindResumed, heldAt.At.Add(time.Second), "bob", ""
	updates = append(updates, heldAt, resumed)

	missed := runAt(monday, 2)
	missed.Status, missed.Reason, missed.Count, missed.Until, missed.By = job.StatusMissed, "the server was away", 5, missed.RunID.Time().Add(5*time.Minute), "ann"
	queued := runAt(monday, 9)
	queued.Status, queued.Reason, queued.CommittedAt = job.StatusQueued, "another run is in progress", time.Time{}
	updates = append(updates, missed, queued)

	cut := runAt(monday, 10) // lost by the record, and ended after all
	lost := cut
	lost.Status, lost.Reason, lost.At = job.StatusLost, "its executor went silent", cut.At.Add(time.Minute)
	updates = append(updates, cut, lost)
	late := with(cut, runlog.KindFinished, 2*time.Minute, ended(job.StatusSucceeded))

	for n := range 3 {
		r := runAt(tuesday, n)
		r.Total = 2
		updates = append(updates, r)
		for piece := range 2 {
			p := r
			p.Piece = runlog.PieceAt(piece)
			updates = append(updates, with(p, runlog.KindFinished, time.Second*time.Duration(piece+2), ended(job.StatusSucceeded)))
			lines = append(lines, line(p, 1, fmt.Sprintf("piece %d", piece)))
		}
	}
	lines = append(lines, line(cut, 1, "cut"), line(cut, 2, "cut"))
	if err := s.WriteRuns(t.Context(), "fill", updates); err != nil {
		t.Fatal(err)
	}
	if err := s.WriteRuns(t.Context(), "late", []logstore.Update{late}); err != nil {
		t.Fatal(err)
	}
	if err := s.WriteLines(t.Context(), "fill", lines); err != nil {
		t.Fatal(err)
	}
	fact := logstore.Fact{Kind: logstore.FactAudit, ID: "a-1", At: monday, Revision: 1, Who: "ann", What: "save", Object: "billing/report", State: "done", Doc: []byte(`{"a":1}`)}
	if err := s.WriteFacts(t.Context(), "fill", []logstore.Fact{fact}); err != nil {
		t.Fatal(err)
	}
}

// wantSame compares all that two stores tell.
func wantSame(t *testing.T, from, to logstore.Store) {
	t.Helper()
	want, got := told(t, from), told(t, to)
	if len(want) < 40 {
		t.Errorf("the history has %d parts", len(want))
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("the copy differs (-want +got):\n%s", diff)
	}
}

func told(t *testing.T, s logstore.Store) (all []any) {
	t.Helper()
	add := func(v any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	page, err := s.Runs(t.Context(), logstore.RunFilter{})
	add(page.Runs, err)
	for _, r := range page.Runs {
		attempts, err := s.Run(t.Context(), r.RunID)
		add(attempts, err)
		changes, err := s.Changes(t.Context(), r.RunID, runlog.Whole)
		add(changes, err)
		for _, a := range attempts {
			pieces, err := s.Pieces(t.Context(), logstore.PieceFilter{RunID: a.RunID, Attempt: a.Attempt})
			add(pieces, err)
			for _, p := range append(pieces.Pieces, a) {
				lines, err := s.Lines(t.Context(), logstore.LineFilter{RunID: p.RunID, Attempt: p.Attempt, Piece: p.Piece})
				add(lines, err)
			}
		}
	}
	report, err := s.Report(t.Context(), logstore.ReportFilter{From: monday.Truncate(logstore.Day), To: tuesday.Add(logstore.Day).Truncate(logstore.Day), Step: runlog.StepDay})
	add(report, err)
	facts, err := s.Facts(t.Context(), logstore.FactFilter{Kind: logstore.FactAudit})
	add(facts, err)
	return all
}

// Figures are in docs/how-to/move-history-to-clickhouse.md.
func BenchmarkCopy(b *testing.B) {
	const runs, linesPerRun = 20_000, 5
	from, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "history.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = from.Close() }()
	var updates []logstore.Update
	var lines []runlog.Line
	for n := range runs {
		r := runAt(monday, 0)
		r.RunID = job.FireRunID(r.Job, monday.Add(time.Duration(n)*time.Second).UnixMilli(), job.CauseSchedule)
		updates = append(updates, r, with(r, runlog.KindFinished, time.Minute, func(u *logstore.Update) { u.Status, u.FinishedAt = job.StatusSucceeded, u.At }))
		for seq := range int64(linesPerRun) {
			lines = append(lines, line(r, seq+1, fmt.Sprintf("line %d of run %d", seq, n)))
		}
	}
	if err := errors.Join(from.WriteRuns(b.Context(), "fill", updates), from.WriteLines(b.Context(), "fill", lines)); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		to, err := clickhouse.Open(chtest.Database(b), clickhouse.Config{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := transfer.Copy(b.Context(), from, to, func(int, int) {}); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := to.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	b.ReportMetric(float64(runs*b.N)/b.Elapsed().Seconds(), "runs/s")
}
