package logstoretest

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// ofPiece makes an update one about a piece.
func ofPiece(u logstore.Update, index, total int) logstore.Update {
	u.Piece, u.Total = runlog.PieceAt(index), total
	return u
}

// begun says that a piece of a run has begun.
func (r run) begun(after time.Duration) logstore.Update {
	return r.started("", 0, after)
}

func pieces(t *testing.T, s logstore.Store, f logstore.PieceFilter) logstore.PiecePage {
	t.Helper()
	page, err := s.Pieces(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// wantPieces compares pieces in a line each: index, attempt, status and instance.
func wantPieces(t *testing.T, page logstore.PiecePage, want ...string) {
	t.Helper()
	var got []string
	for _, p := range page.Pieces {
		line := fmt.Sprintf("%d/%d #%d %s", p.Piece.Index(), p.Total, p.Attempt, p.Status)
		if p.Retrying {
			line += " retrying"
		}
		got = append(got, line+" "+p.Instance)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pieces differ (-want +got):\n%s", diff)
	}
}

func broadcast(t *testing.T, s logstore.Store) {
	orders := inAnyOrder(t, s, func(r run) []logstore.Update {
		record := r.recorded(job.StatusPending)
		record.Total = 3
		return []logstore.Update{
			record, r.begun(ms(30)), r.begun(ms(20)),
			ofPiece(r.finished(job.StatusSucceeded, "worker-1", time.Second), 0, 3),
			ofPiece(r.started("worker-3", 1, ms(20)), 2, 3),
		}
	}, func(t *testing.T, r run) {
		t.Helper()
		want := r.row(job.StatusRunning)
		want.StartedAt, want.Total = r.fire.Add(ms(20)), 3
		wantRun(t, s, want)
		wantTimeline(t, s, r, "1: +5ms recorded pending", "1: +20ms started running")
		page := pieces(t, s, logstore.PieceFilter{RunID: r.id()})
		wantPieces(t, page, "0/3 #1 succeeded worker-1", "2/3 #1 running worker-3")
		if diff := cmp.Diff(map[job.Status]int{job.StatusSucceeded: 1, job.StatusRunning: 1}, page.Counts); diff != "" {
			t.Errorf("counts of pieces differ (-want +got):\n%s", diff)
		}
	})
	wantCounts(t, s, logstore.RunFilter{}, map[job.Status]int{job.StatusRunning: 2 * orders})

	// The owner says when all of it has ended. What a piece says then changes the piece.
	r := newRun()
	record := r.recorded(job.StatusPending)
	record.Total = 2
	write(t, s, record, r.begun(ms(10)), ofPiece(r.finished(job.StatusFailed, "worker-1", time.Second), 0, 2),
		r.record(job.StatusFailed, 3*time.Second, "1 of 2 pieces failed"), r.begun(ms(40)),
		ofPiece(r.finished(job.StatusSucceeded, "worker-2", 2*time.Second), 1, 2))
	want := r.row(job.StatusFailed)
	want.StartedAt, want.FinishedAt, want.Total, want.Reason = epoch.Add(ms(10)), epoch.Add(3*time.Second), 2, "1 of 2 pieces failed"
	wantRun(t, s, want)
	wantPieces(t, pieces(t, s, logstore.PieceFilter{RunID: r.id()}), "0/2 #1 failed worker-1", "1/2 #1 succeeded worker-2")
}

func piecesTriedAgain(t *testing.T, s logstore.Store) {
	r := newRun()
	failed := ofPiece(r.finished(job.StatusFailed, "worker-2", time.Second), 1, 2)
	failed.Retry = true
	write(t, s, ofPiece(r.finished(job.StatusSucceeded, "worker-1", time.Second), 0, 2), failed)
	all := logstore.PieceFilter{RunID: r.id()}
	page := pieces(t, s, all)
	wantPieces(t, page, "0/2 #1 succeeded worker-1", "1/2 #1 failed retrying worker-2")
	if diff := cmp.Diff(map[job.Status]int{job.StatusSucceeded: 1, job.StatusQueued: 1}, page.Counts); diff != "" {
		t.Errorf("counts of pieces differ (-want +got):\n%s", diff)
	}
	write(t, s, ofPiece(r.try(2).started("worker-1", 1, 3*time.Second), 1, 2))
	wantPieces(t, pieces(t, s, all), "0/2 #1 succeeded worker-1", "1/2 #2 running worker-1")
	first, second := all, all
	first.Attempt, second.Attempt = 1, 2
	wantPieces(t, pieces(t, s, first), "0/2 #1 succeeded worker-1", "1/2 #1 failed worker-2")
	wantPieces(t, pieces(t, s, second), "1/2 #2 running worker-1")

	// A run that has ended has no piece that is to be tried again.
	other := newRun().of("billing/other")
	failed = ofPiece(other.finished(job.StatusFailed, "worker-2", time.Second), 0, 1)
	failed.Retry = true
	write(t, s, failed, other.record(job.StatusFailed, 2*time.Second, ""))
	wantPieces(t, pieces(t, s, logstore.PieceFilter{RunID: other.id()}), "0/1 #1 failed worker-2")
}

func manyPieces(t *testing.T, s logstore.Store) {
	r := newRun()
	w := &writes{store: s}
	const total = 2500
	var updates []logstore.Update
	for i := range total {
		updates = append(updates, ofPiece(r.finished(job.StatusSucceeded, "worker-1", time.Second), i, total))
	}
	w.runs(t, append(updates, r.begun(ms(10)))...)
	f := logstore.PieceFilter{RunID: r.id(), Limit: 1000}
	seen := 0
	for n := 0; ; n++ {
		page := pieces(t, s, f)
		for _, p := range page.Pieces {
			if p.Piece.Index() != seen {
				t.Fatalf("piece %d comes where %d is next", p.Piece.Index(), seen)
			}
			seen++
		}
		if page.Counts[job.StatusSucceeded] != total {
			t.Errorf("page %d counts %v; want all %d", n, page.Counts, total)
		}
		if f.From = page.Next; f.From == runlog.Whole {
			break
		}
	}
	if seen != total {
		t.Errorf("pages hold %d pieces; want %d", seen, total)
	}
	if got := list(t, s, logstore.RunFilter{AllAttempts: true}).Runs; len(got) != 1 {
		t.Errorf("the list has %d rows; want the run only", len(got))
	}
	wantPieces(t, pieces(t, s, logstore.PieceFilter{RunID: r.of("billing/other").id()}))
	refuse := func(field string, f logstore.PieceFilter) {
		t.Helper()
		_, err := s.Pieces(t.Context(), f)
		wantInvalid(t, err, field)
	}
	refuse("run_id", logstore.PieceFilter{RunID: "1234"})
	refuse("attempt", logstore.PieceFilter{RunID: r.id(), Attempt: -1})
	refuse("limit", logstore.PieceFilter{RunID: r.id(), Limit: logstore.MaxRuns + 1})
	refuse("broadcast_index", logstore.PieceFilter{RunID: r.id(), From: -1})
}

func pieceTimeline(t *testing.T, s logstore.Store) {
	r := newRun()
	late := ofPiece(r.finished(job.StatusFailed, "worker-2", 9*time.Second), 4, 5)
	late.Delivery = 2
	end := ofPiece(r.finished(job.StatusSucceeded, "worker-1", time.Second), 4, 5)
	end.Result = json.RawMessage(`{"rows":1}`)
	write(t, s, r.recorded(job.StatusPending), ofPiece(r.progress(10, "step 1", ms(500)), 4, 5), end, end, late,
		ofPiece(r.finished(job.StatusSucceeded, "worker-3", time.Second), 3, 5))
	changes, err := s.Changes(t.Context(), r.id(), runlog.PieceAt(4))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range changes {
		if c.Piece != runlog.PieceAt(4) || c.RunID != r.id() || c.Job != r.job {
			t.Errorf("a change is of %s of %s, piece %d", c.RunID, c.Job, c.Piece.Index())
		}
		got = append(got, fmt.Sprintf("+%v %s %s %s", c.At.Sub(r.fire), c.Kind, c.Status, c.Instance))
	}
	want := []string{
		"+5ms recorded pending ", "+10ms started running worker-1", "+500ms progress running worker-1",
		"+1s finished succeeded worker-1", "+9s late failed worker-2",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the timeline of a piece differs (-want +got):\n%s", diff)
	}
	wantTimeline(t, s, r, "1: +5ms recorded pending")
	if _, err := s.Changes(t.Context(), r.id(), runlog.PieceAt(1)); err == nil {
		t.Error("the timeline of an unknown piece is found")
	}
}

func pieceLines(t *testing.T, s logstore.Store) {
	r := newRun()
	w := &writes{store: s}
	linesOf := func(index, from, to int) []runlog.Line {
		all := logOf(r, from, to)
		for i := range all {
			all[i].Piece = runlog.PieceAt(index)
			all[i].Text = fmt.Sprintf("piece %d says: %s", index, all[i].Text)
		}
		return all
	}
	w.lines(t, append(append(linesOf(1, 1, 3), logOf(r, 1, 2)...), linesOf(0, 1, 5)...)...)
	w.lines(t, linesOf(1, 2, 6)...)
	filter := logstore.LineFilter{RunID: r.id(), Attempt: 1}
	wantLines(t, s, filter, logOf(r, 1, 2))
	filter.Piece = runlog.PieceAt(0)
	wantLines(t, s, filter, linesOf(0, 1, 5))
	filter.Piece = runlog.PieceAt(1)
	wantLines(t, s, filter, linesOf(1, 1, 6))
	filter.Piece = runlog.PieceAt(2)
	wantLines(t, s, filter, nil)
	filter.Piece = -1
	_, err := s.Lines(t.Context(), filter)
	wantInvalid(t, err, "broadcast_index")
}

func trimPieces(t *testing.T, s logstore.Store) {
	old, kept := newRun().at(epoch.Add(-48*time.Hour)), newRun() // whole days apart, as in trim
	for _, r := range []run{old, kept} {
		write(t, s, r.recorded(job.StatusPending), ofPiece(r.started("worker-1", 1, ms(10)), 0, 2), ofPiece(r.started("worker-2", 1, ms(10)), 1, 2))
	}
	trimmed, err := s.Trim(t.Context(), epoch.Add(-time.Hour+day), keeping(days(1), forever))
	if err != nil || trimmed != (logstore.Trimmed{Runs: 1}) {
		t.Errorf("trim deleted %+v, with %v; want 1 run", trimmed, err)
	}
	wantPieces(t, pieces(t, s, logstore.PieceFilter{RunID: old.id()}))
	wantPieces(t, pieces(t, s, logstore.PieceFilter{RunID: kept.id()}), "0/2 #1 running worker-1", "1/2 #1 running worker-2")
}
