package bus_test

import (
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// An executor in another language may not know the time limits of its trigger, or not keep to them.
func TestAnEndAfterItsTimeLimitIsTimedOutWhateverItsExecutorReports(t *testing.T) {
	decode := func(limits *bus.Trigger, change func(*bus.Event)) *bus.Event {
		t.Helper()
		e := everyEnd()
		e.StartedAt, e.FinishedAt = e.CommittedAt, e.CommittedAt.Add(12*time.Second)
		change(e)
		limits.RunID, limits.Job, limits.Attempt, limits.Piece = e.RunID, e.Job, e.Attempt, e.Piece
		m, err := e.Msg(tokens.Trigger(limits, true, noon))
		if err != nil {
			t.Fatal(err)
		}
		got, err := tokens.DecodeEvent(m.Subject, m.Header, m.Data, noon.Add(time.Hour), 64)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	within := func(d time.Duration) *bus.Trigger {
		return &bus.Trigger{TriggerBody: bus.TriggerBody{Timeout: job.Duration(d)}}
	}
	by := func(d time.Duration) *bus.Trigger { return &bus.Trigger{EndBy: noon.Add(d)} }
	status := func(s job.Status) func(*bus.Event) { return func(e *bus.Event) { e.Status = s } }
	piece := func(e *bus.Event) { e.Index, e.Total = 1, 3 }
	for _, c := range []struct {
		what   string
		limits *bus.Trigger
		change func(*bus.Event)
		want   job.Status
		text   string
	}{
		{"success", within(3 * time.Second), status(job.StatusSucceeded), job.StatusTimedOut, "took longer than its timeout of 3s; its executor reported that it succeeded; well done"},
		{"failure", within(3 * time.Second), status(job.StatusFailed), job.StatusTimedOut, "took longer than its timeout of 3s; its executor reported that it failed; well done"},
		{"piece", within(3 * time.Second), piece, job.StatusTimedOut, "took longer than its timeout of 3s; its executor reported that it succeeded; well done"},
		{"cancelled", within(3 * time.Second), status(job.StatusCancelled), job.StatusCancelled, "well done"},
		{"lost", within(3 * time.Second), status(job.StatusLost), job.StatusLost, "well done"},
		{"timed out", within(3 * time.Second), status(job.StatusTimedOut), job.StatusTimedOut, "well done"},
		{"just then", within(11500 * time.Millisecond), status(job.StatusSucceeded), job.StatusSucceeded, "well done"},
		{"in time", within(time.Minute), status(job.StatusSucceeded), job.StatusSucceeded, "well done"},
		{"no limit", within(0), status(job.StatusSucceeded), job.StatusSucceeded, "well done"},
		{"never begun", within(3 * time.Second), func(e *bus.Event) { e.StartedAt, e.DeliveredAt = time.Time{}, time.Time{} }, job.StatusSucceeded, "well done"},
		{"end by", by(10 * time.Second), status(job.StatusSucceeded), job.StatusTimedOut, "the run had to end by 2026-01-05T12:00:10Z, with all its attempts; its executor reported that it succeeded; well done"},
		{"short, and far too late", by(10 * time.Second), func(e *bus.Event) {
			e.StartedAt, e.FinishedAt = noon.Add(2*time.Minute), noon.Add(2*time.Minute+time.Second)
		}, job.StatusTimedOut, "the run had to end by 2026-01-05T12:00:10Z, with all its attempts; its executor reported that it succeeded; well done"},
		{"short, by another clock", by(10 * time.Second), func(e *bus.Event) {
			e.StartedAt, e.FinishedAt = noon.Add(40*time.Second), noon.Add(41*time.Second)
		}, job.StatusSucceeded, "well done"},
	} {
		got := decode(c.limits, c.change)
		if want := strings.ReplaceAll(c.text, "2026-01-05T12:00:10Z", noon.Add(10*time.Second).Format(time.RFC3339)); got.Status != c.want || got.Message != want {
			t.Errorf("%s: %s, %q; want %s, %q", c.what, got.Status, got.Message, c.want, want)
		}
		if string(got.Result) != "[1]" || got.ExitCode == nil {
			t.Errorf("%s: result %s, exit code %v", c.what, got.Result, got.ExitCode)
		}
	}
}

func TestNobodyChangesTheTermsOfAToken(t *testing.T) {
	e := everyEnd()
	of := &bus.Trigger{RunID: e.RunID, Job: e.Job, Attempt: e.Attempt, EndBy: noon.Add(time.Minute), TriggerBody: bus.TriggerBody{Timeout: job.Duration(3 * time.Second)}}
	token := tokens.Trigger(of, true, noon)
	bare, _, _ := strings.Cut(token, ".r")
	for _, terms := range []string{"", ".r", ".t3000", ".r.t3000", ".r.t03000", ".r.t+3000", ".r.t4000", token[len(bare):] + ".", ".", ".x", ".t", token[len(bare):] + ".e0"} {
		m, err := e.Msg(bare + terms)
		if err != nil {
			t.Fatal(err)
		}
		_, err = tokens.DecodeEvent(m.Subject, m.Header, m.Data, noon, 64)
		refusedToken(t, terms, m.Header, err)
	}
	m, err := e.Msg(token)
	if err == nil {
		_, err = tokens.DecodeEvent(m.Subject, m.Header, m.Data, noon, 64)
	}
	if err != nil {
		t.Errorf("unchanged: %v", err)
	}
}
