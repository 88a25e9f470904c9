package webapi

import (
	"net/http"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// again returns an update of a run as one about its second attempt.
func again(u logstore.Update) logstore.Update {
	u.Attempt = 2
	return u
}

// retried returns how an attempt ended that is to be followed by another.
func retried(u logstore.Update) logstore.Update {
	u = finished(started(u, "i1"), job.StatusFailed, 0, noon.Add(time.Minute))
	u.Retry = true
	return u
}

func TestARunThatIsTriedAgainHasNotEnded(t *testing.T) {
	w := newWorld(t)
	x, child := begun("billing/x", noon), begun("billing/child", noon.Add(time.Minute))
	child.Parent = x.RunID
	w.history(x, retried(x), child)
	detail := func() RunDetail {
		t.Helper()
		d, _ := want[RunDetail](w, http.StatusOK, "GET", "/api/v1/runs/"+string(x.RunID), nil)
		return d
	}
	if d := detail(); d.Status != job.StatusQueued || d.Attempts[0].Status != job.StatusFailed || !d.Attempts[0].Retrying {
		t.Errorf("between its attempts the run is %+v", d)
	}
	second := again(x)
	second.Status, second.Reason = job.StatusQueued, "attempt 1 failed; the next is due 10s later"
	w.history(second)
	if d := detail(); d.Status != job.StatusQueued || len(d.Attempts) != 2 || d.Attempts[0].Reason != reason.Text(second.Reason) || d.Attempts[1].Retrying {
		t.Errorf("before its second attempt the run is %+v", d)
	}
	count := func(parameters string, n int) {
		t.Helper()
		page, _ := want[RunPage](w, http.StatusOK, "GET", "/api/v1/runs?"+parameters, nil)
		if len(page.Items) != n {
			t.Errorf("%s lists %+v; want %d", parameters, page.Items, n)
		}
	}
	count("job=billing/x", 1)
	count("job=billing/x&attempts=all", 2)
	count("status=failed", 0)
	count("status=failed&attempts=all", 1)
	count("min_attempt=2", 1)
	count("parent="+string(x.RunID), 1)
	count("parent="+string(child.RunID), 0)
}

func TestPiecesAreListedAndCountedWithThoseNotHeardOf(t *testing.T) {
	w := newWorld(t)
	x := begun("billing/x", noon)
	x.Total = 5
	piece := func(u logstore.Update, index int) logstore.Update {
		u.Piece = runlog.PieceAt(index)
		return u
	}
	failed := piece(retried(x), 3)
	w.history(x, started(x, ""), piece(finished(started(x, "i1"), job.StatusSucceeded, 1, noon.Add(time.Second)), 1), failed)
	path := "/api/v1/runs/" + string(x.RunID)
	list, _ := want[PieceList](w, http.StatusOK, "GET", path+"/pieces", nil)
	if len(list.Items) != 2 || list.Items[0].Piece.Index() != 1 || list.Items[1].Piece.Index() != 3 || list.Total != 5 ||
		list.Counts[job.StatusPending] != 3 || list.Counts[job.StatusQueued] != 1 || list.Counts[job.StatusSucceeded] != 1 {
		t.Errorf("the pieces are %+v", list)
	}
	first, _ := want[PieceList](w, http.StatusOK, "GET", path+"/pieces?limit=1", nil)
	rest, _ := want[PieceList](w, http.StatusOK, "GET", path+"/pieces?from_index="+itoa(int64(first.NextIndex)), nil)
	if len(first.Items) != 1 || len(rest.Items) != 1 || rest.Items[0].Piece.Index() != 3 || rest.NextIndex != 0 {
		t.Errorf("pages are %+v and %+v", first, rest)
	}

	w.history(again(started(failed, "i2")))
	w.check(w.store.WriteLines(w.Context(), "", []runlog.Line{
		{RunID: x.RunID, Job: x.Job, Attempt: 2, Piece: runlog.PieceAt(3), Seq: 1, At: noon, Level: "info", Output: "stdout", Text: "once more"},
	}))
	page, _ := want[LogPage](w, http.StatusOK, "GET", path+"/logs?broadcast_index=3", nil)
	if len(page.Items) != 1 || page.Items[0].Text != "once more" || page.Attempt != 2 || page.BroadcastIndex.Index() != 3 {
		t.Errorf("the log of a piece is %+v", page)
	}
	if page, _ = want[LogPage](w, http.StatusOK, "GET", path+"/logs", nil); len(page.Items) != 0 {
		t.Errorf("the log of the whole is %+v", page)
	}
	w.history(again(finished(started(failed, "i2"), job.StatusSucceeded, 1, noon.Add(time.Hour))))
	l := w.listen(path + "/logs/tail?broadcast_index=3")
	if got, id := l.lines(1); got != "1" || id != "2:1" {
		t.Errorf("the tail of a piece has %s, id %s", got, id)
	}
	if end := l.end(); end.Run.Piece.Index() != 3 || end.Run.Status != job.StatusSucceeded || end.Missing != 0 {
		t.Errorf("it ends with %+v", end)
	}
}

func TestATailFollowsARunThroughItsAttempts(t *testing.T) {
	w := newWorld(t)
	x := begun("billing/x", noon)
	w.history(x, started(x, "i1"))
	w.printed(x, 1, 2)
	l, only := w.listen(tailOf(x)), w.listen(tailOf(x)+"?attempt=1")
	for _, l := range []*listener{l, only} {
		if got, _ := l.lines(2); got != "1 2" {
			t.Errorf("the first attempt has %s", got)
		}
	}
	e := bus.Event{
		Kind: bus.EventFinished, RunID: x.RunID, Job: x.Job, Version: 1, Shard: x.Job.Shard(shards), Attempt: 1, Cause: x.Cause, Retry: true,
		FireTime: x.At, At: time.Now(), StartedAt: x.At, FinishedAt: time.Now(), Status: job.StatusFailed, LogLines: 2, Instance: "i1",
	}
	m, err := bustest.Event(w.conn.Tokens(), &e)
	w.check(err)
	_, err = w.conn.JS.PublishMsg(w.Context(), m)
	w.check(err)
	if end := only.end(); end.Run.Attempt != 1 || end.Run.Status != job.StatusFailed || !end.Run.Retrying {
		t.Errorf("the tail of the first attempt ends with %+v", end)
	}
	w.check(w.store.WriteLines(w.Context(), "", []runlog.Line{
		{RunID: x.RunID, Job: x.Job, Attempt: 2, Seq: 1, At: noon, Level: "info", Output: "stdout", Text: "once more"},
	}))
	w.history(retried(x), again(x), again(finished(started(x, "i2"), job.StatusSucceeded, 1, noon.Add(time.Hour))))
	if got, id := l.lines(1); got != "1" || id != "2:1" {
		t.Errorf("the second attempt has %s, id %s", got, id)
	}
	if end := l.end(); end.Run.Attempt != 2 || end.Run.Status != job.StatusSucceeded || end.Missing != 0 {
		t.Errorf("the tail of the run ends with %+v", end)
	}
}

func TestATailEndsWithARunThatHasNoFurtherAttempt(t *testing.T) {
	w := newWorld(t)
	x := begun("billing/x", noon)
	w.history(x, retried(x))
	l := w.listen(tailOf(x))
	last := x
	last.Status, last.Reason = job.StatusFailed, "there is no further attempt"
	w.history(last)
	if end := l.end(); end.Run.Attempt != 1 || end.Run.Status != job.StatusFailed || end.Run.Retrying || string(end.Run.Reason) != last.Reason {
		t.Errorf("it ends with %+v", end)
	}
}

// Of an attempt in pieces only the pieces' ends are told: the next attempt ends it.
func TestATailOfARunInPiecesEndsThoughAPieceWasTriedAgain(t *testing.T) {
	w := newWorld(t)
	x := begun("billing/x", noon)
	x.Total = 2
	piece := func(u logstore.Update, index int) logstore.Update {
		u.Piece = runlog.PieceAt(index)
		return u
	}
	w.history(x, started(x, ""), piece(finished(started(x, "i1"), job.StatusSucceeded, 0, noon.Add(time.Second)), 0), piece(retried(x), 1))
	l, first := w.listen(tailOf(x)), w.listen(tailOf(x)+"?attempt=1")
	last := again(x)
	last.Kind, last.Status, last.Total = runlog.KindRecorded, job.StatusSucceeded, 2
	w.history(again(x), piece(again(finished(started(x, "i2"), job.StatusSucceeded, 0, noon.Add(time.Minute))), 1), last)
	if end := l.end(); end.Run.Attempt != 2 || end.Run.Status != job.StatusSucceeded {
		t.Errorf("the tail of the run ends with %+v", end)
	}
	if end := first.end(); end.Run.Attempt != 1 || end.Run.Status != job.StatusFailed || !end.Run.Retrying {
		t.Errorf("the tail of the first attempt ends with %+v", end)
	}
	detail, _ := want[RunDetail](w, http.StatusOK, "GET", "/api/v1/runs/"+string(x.RunID), nil)
	if a := detail.Attempts; len(a) != 2 || a[1].Status != job.StatusFailed || a[1].Reason != "" || detail.Status != job.StatusSucceeded {
		t.Errorf("the attempts are %+v", a)
	}
}
