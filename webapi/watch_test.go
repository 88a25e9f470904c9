package webapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/journal"
	"github.com/carillon-scheduler/carillon/logstore"
)

// says publishes lines of a run as an executor does.
func (w *world) says(u logstore.Update, texts ...string) {
	w.Helper()
	l := bus.Log{RunID: u.RunID, Job: u.Job, Attempt: 1, Instance: "i1"}
	for i, text := range texts {
		l.Lines = append(l.Lines, bus.LogLine{Seq: int64(i + 1), At: noon, Level: bus.LevelInfo, Output: bus.OutputStdout, Text: text})
	}
	m, err := bustest.Log(w.conn.Tokens(), &l)
	w.check(err)
	_, err = w.conn.JS.PublishMsg(w.Context(), m)
	w.check(err)
}

// watched reads a watch until a line has this text, and returns the texts of all.
func (l *listener) watched(last string) (texts []string) {
	l.Helper()
	for {
		name, _, data := l.event()
		if name == "rate" {
			continue
		}
		var lines []runlog.Line
		if err := json.Unmarshal([]byte(data), &lines); err != nil || name != "lines" {
			l.Fatalf("event %q %s after %q", name, data, texts)
		}
		for _, line := range lines {
			texts = append(texts, string(line.Job)+" "+line.Text)
			if line.Text == last {
				return texts
			}
		}
	}
}

func TestAWatchGivesWhatAllRunsPrintThatMatches(t *testing.T) {
	w := newWorld(t)
	x, y := begun("billing/x", noon), begun("orders/y", noon)
	for query, expected := range map[string]string{
		"":                   "[billing/x a timeout orders/y none orders/y a Timeout orders/y end]",
		"?text=timeout+end":  "[]",
		"?text=timeout":      "[billing/x a timeout orders/y a Timeout]",
		"?group=orders":      "[orders/y none orders/y a Timeout orders/y end]",
		"?job=billing/x":     "[billing/x a timeout]",
		"?level=error":       "[]",
		"?level=info&text=a": "[billing/x a timeout orders/y a Timeout]",
	} {
		// What ends each is published to both, so that whichever is watched comes to its end.
		l := w.listen("/api/v1/logs/tail" + query)
		w.says(x, "a timeout")
		w.says(y, "none", "a Timeout", "end")
		rate := LogRate{}
		var got []string
		for rate.Lines == 0 && expected != "[]" || expected == "[]" && got == nil {
			name, _, data := l.event()
			switch name {
			case "lines":
				var lines []runlog.Line
				w.check(json.Unmarshal([]byte(data), &lines))
				for _, line := range lines {
					got = append(got, string(line.Job)+" "+line.Text)
				}
			case "rate":
				w.check(json.Unmarshal([]byte(data), &rate))
				if expected == "[]" {
					got = []string{}
				}
			}
		}
		if fmt.Sprint(got) != expected {
			t.Errorf("%s: %q, want %s", query, got, expected)
		}
	}
	w.problem(http.StatusBadRequest, "invalid", "GET", "/api/v1/logs/tail?group=A+B", nil, `"field":"group"`)
}

func TestAWatchNamesTheStepOfALine(t *testing.T) {
	w := newWorld(t)
	whole := begun("billing/x", noon)
	before, after := stepOf(whole, "extract", 1, noon), stepOf(whole, "load", 2, noon)
	w.history(whole, before, started(before, "i1"))
	l := w.listen("/api/v1/logs/tail?group=billing")
	record := journal.Record{Shard: whole.Job.Shard(shards), Epoch: 1, Commit: "c", Node: "n", At: noon, Outcomes: []journal.Outcome{{
		Status: job.StatusPending, Cause: job.CauseStep, FireTime: noon, Jobs: []string{journal.JobVersion(whole.Job, 1)},
		RunIDs: []job.RunID{after.RunID}, ParentRun: whole.RunID, Step: "load",
	}}}
	m, err := record.Msg()
	w.check(err)
	w.check(w.conn.NC.PublishMsg(m)) // as all who follow records hear it
	w.says(before, "extracts")
	w.says(after, "loads")
	w.says(begun("billing/y", noon), "end")
	var got []string
	for len(got) < 3 {
		name, _, data := l.event()
		if name == "rate" {
			continue
		}
		var hits []LogHit
		w.check(json.Unmarshal([]byte(data), &hits))
		for _, h := range hits {
			if h.Step != "" && h.Workflow != whole.RunID {
				t.Errorf("step %s is one of the run %q, want %s", h.Step, h.Workflow, whole.RunID)
			}
			got = append(got, h.Text+" "+h.Step)
		}
	}
	if diff := cmp.Diff([]string{"extracts extract", "loads load", "end "}, got); diff != "" {
		t.Error(diff)
	}
}

func TestAWatchShowsNoLinesOfTestsOfDrafts(t *testing.T) {
	w := newWorld(t)
	test := func(name job.Name) logstore.Update {
		u := begun(name, noon)
		u.Cause = job.CauseTest
		return u
	}
	before, after, other := test("billing/before"), test("billing/after"), begun("billing/x", noon)
	running := before
	running.Kind, running.Status, running.StartedAt, running.Instance = runlog.KindStarted, job.StatusRunning, noon, "i1"
	w.history(before, running)
	l := w.listen("/api/v1/logs/tail")
	e := bus.Event{
		Kind: bus.EventStarted, RunID: after.RunID, Job: after.Job, Version: 1, Shard: after.Job.Shard(shards), Attempt: 1, Cause: job.CauseTest,
		FireTime: noon, At: noon, StartedAt: noon, Instance: "i1",
	}
	m, err := bustest.Event(w.conn.Tokens(), &e)
	w.check(err)
	_, err = w.conn.JS.PublishMsg(w.Context(), m)
	w.check(err)
	w.says(before, "of a draft")
	w.says(after, "of another draft")
	w.says(other, "end")
	if got := fmt.Sprint(l.watched("end")); got != "[billing/x end]" {
		t.Errorf("the watch shows %s", got)
	}
}

func TestAWatchShowsSomeOfARushAndCountsAllOfIt(t *testing.T) {
	w := newWorld(t)
	x := begun("billing/x", noon)
	l := w.listen("/api/v1/logs/tail")
	texts := make([]string, 3000)
	for i := range texts {
		texts[i] = "line " + itoa(int64(i))
	}
	w.says(x, texts...)
	// A rate may be told between the lines' arrival and their showing: what counts is the sum.
	var total LogRate
	var shown []runlog.Line
	for total.Lines < len(texts) || total.Shown < len(shown) || len(shown) == 0 {
		name, _, data := l.event()
		switch name {
		case "lines":
			var lines []runlog.Line
			w.check(json.Unmarshal([]byte(data), &lines))
			shown = append(shown, lines...)
		case "rate":
			var rate LogRate
			w.check(json.Unmarshal([]byte(data), &rate))
			total.Lines += rate.Lines
			total.Shown += rate.Shown
			total.Dropped = total.Dropped || rate.Dropped
		default:
			t.Fatalf("event %q %s, want lines or the rate", name, data)
		}
	}
	const most = 500 // a second
	if len(shown) > most {
		t.Errorf("%d lines were shown at once, want %d at most", len(shown), most)
	}
	if last := shown[len(shown)-1].Text; last != "line 2999" {
		t.Errorf("the last line shown is %q, want the newest", last)
	}
	if want := (LogRate{Lines: len(texts), Shown: len(shown)}); total != want {
		t.Errorf("the rates add up to %+v, want %+v", total, want)
	}
}

func TestAWatchHasTheLogsThatOneMaySee(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	bob := ann.person("bob", rights.Access{Role: rights.Viewer, Group: "billing"}, rights.Access{Role: rights.Viewer, Group: "payroll", Grants: []rights.Grant{}})
	l := g.listen("/api/v1/logs/tail", bob.headers()...)
	other := g.listen("/api/v1/logs/tail?group=ops&job=billing/x", bob.headers()...)
	for _, name := range []job.Name{"ops/x", "payroll/x", "billing/x"} {
		g.says(begun(name, noon), "of "+string(name))
	}
	g.says(begun("billing/x", noon), "end")
	if got := fmt.Sprint(l.watched("end")); got != "[billing/x of billing/x billing/x end]" {
		t.Errorf("bob sees %s", got)
	}
	if name, _, data := other.event(); name != "" && name != "rate" {
		t.Errorf("of another group and job there is %q %s", name, data)
	}
}
