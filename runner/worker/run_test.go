package worker

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/job"
)

func TestAProcessIsToldAllOfARun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, "normal")
	r := w.rehearse(t.Context(), "echo", map[string]any{"a": "<b>"}, map[string]string{"TOKEN": "a"}, func(t *bus.Trigger) {
		t.Piece, t.Item, t.Timeout = bus.Piece{Index: 1, Total: 3}, json.RawMessage(`"north"`), job.Duration(time.Hour)
		t.Cause, t.Step = job.CauseStep, "load"
	})
	want(t, r, job.StatusSucceeded, "")
	var got map[string]any
	if err := json.Unmarshal(r.Result, &got); err != nil {
		t.Fatal(err)
	}
	deadline, err := time.Parse(time.RFC3339, fmt.Sprint(got["deadline"]))
	if left := time.Until(deadline); err != nil || left < 50*time.Minute || left > time.Hour {
		t.Errorf("deadline %v", got["deadline"])
	}
	delete(got, "deadline")
	wanted := map[string]any{
		"type": "run", "id": "1", "handler": "echo", "run_id": string(job.FireRunID("g/job", 1767578400000, job.CauseSchedule)), "job": "g/job", "version": 3.0,
		"cause": "step", "step": "load", "attempt": 1.0, "delivery": 1.0, "fence": 1.0, "fire_time": "2026-01-05T02:00:00.000Z", "params": map[string]any{"a": "<b>"},
		"piece": map[string]any{"index": 1.0, "total": 3.0, "item": "north"}, "secrets": map[string]any{"TOKEN": "a"},
	}
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Errorf("the message (-want +got):\n%s", diff)
	}
}

func TestWhatAProcessSaysOfARunIsSaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, "normal")
	r := w.do(puppet{Lines: []string{
		`{"type":"log","id":"ID","text":"one\ntwo"}`, `{"type":"log","id":"ID","level":"debug","text":"three"}`, `{"type":"log","id":"ID","level":"error","text":"four"}`,
		`{"type":"progress","id":"ID","percent":40,"text":"row 4"}`, `{"type":"result","id":1,"result":{"rows": 4}}`, // a number, as some languages make it
	}})
	want(t, r, job.StatusSucceeded, "")
	if diff := cmp.Diff("log info: one\nlog info: two\nlog debug: three\nlog error: four\n", logOf(r)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]executor.Progress{{Percent: 40, Text: "row 4"}}, r.Progress); diff != "" {
		t.Error(diff)
	}
	if string(r.Result) != `{"rows":4}` {
		t.Errorf("result %s", r.Result)
	}
	if r := w.do(puppet{Lines: []string{`{"type":"result","id":"ID","result":null}`}}); r.Result != nil {
		t.Errorf("null is the result %s, want none", r.Result)
	}
}

func TestAnErrorFailsTheRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, "normal")
	r := w.do(puppet{Lines: []string{`{"type":"error","id":"ID","message":"no such customer"}`}})
	want(t, r, job.StatusFailed, "no such customer")
	if r.Final {
		t.Error("the failure is final")
	}
	r = w.do(puppet{Lines: []string{`{"type":"error","id":"ID","message":"no such customer","final":true}`}})
	if want(t, r, job.StatusFailed, "no such customer"); !r.Final {
		t.Error("the failure is not final")
	}
	r = w.do(puppet{Lines: []string{`{"type":"error","id":"ID","retry_after":"soon"}`}})
	want(t, r, job.StatusFailed, "said error, without a message")
	if text := logOf(r); !strings.Contains(text, "retry_after that is no duration") {
		t.Errorf("no warning in\n%s", text)
	}
}

// What is on standard error before the result belongs to the run, though it comes another way.
func TestStandardErrorIsLoggedByTheOnlyRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, "normal")
	for i := range 50 {
		text := fmt.Sprintf("warning %d", i)
		r := w.do(puppet{Stderr: text + "\n", Lines: []string{done("1")}})
		if diff := cmp.Diff("stderr warn: "+text+"\n", logOf(r)); diff != "" {
			t.Fatalf("run %d: %s", i, diff)
		}
	}
}

func TestStandardErrorOfSeveralRunsIsTheOperators(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, "slots", "2")
	m := newMeeting(t)
	secrets := map[string]string{"TOKEN": "hunter22"}
	one := w.begin(puppet{Meet: m.address(), Stderr: "hunter22 is wrong\n", Lines: []string{done("1")}}, secrets)
	first := m.next()
	two := w.begin(puppet{Meet: m.address(), Lines: []string{done("2")}}, nil)
	second := m.next()
	first.goOn()
	r := <-one.end
	if text := logOf(r); text != "" {
		t.Errorf("the run has the lines\n%s", text)
	}
	w.log.waitFor(t, `text="*** is wrong"`)
	second.goOn()
	want(t, <-two.end, job.StatusSucceeded, "")
}

func TestARunWaitsForAFreePlace(t *testing.T) {
	t.Parallel()
	for _, f := range []struct {
		slots            string
		processes, total int
	}{{"1", 1, 1}, {"2", 1, 2}, {"2", 2, 4}} {
		w := newWorld(t, func(c *Config) { c.Processes = f.processes }, "slots", f.slots)
		if got := w.workers.Slots(); got != f.total {
			t.Errorf("%d slots, want %d", got, f.total)
		}
		m := newMeeting(t)
		var all []*later
		for range f.total + 3 {
			all = append(all, w.begin(puppet{Meet: m.address(), Lines: []string{done("ATONCE")}}, nil))
		}
		var guests []*guest
		for range f.total { // all of them at once
			guests = append(guests, m.next())
		}
		for i := range all {
			guests[i].goOn()
			if len(guests) < len(all) {
				guests = append(guests, m.next())
			}
		}
		for _, l := range all {
			r := <-l.end
			if want(t, r, job.StatusSucceeded, ""); string(r.Result) > f.slots {
				t.Errorf("%s runs at once in a process of %s slots", r.Result, f.slots)
			}
		}
	}
}

func TestARunEndsThoughAnotherFloodsStandardError(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(cfg *Config) {
		cfg.Logger = slog.New(slog.NewTextHandler(io.Discard, nil)) //nolint:sloglint // it takes its time, which DiscardHandler does not
		cfg.KillAfter = 100 * time.Millisecond
	}, "slots", "2")
	m := newMeeting(t)
	one := w.begin(puppet{Meet: m.address(), Lines: []string{done("1")}}, nil, func(t *bus.Trigger) { t.Timeout = job.Duration(5 * time.Minute) })
	waiting := m.next()
	flood := w.begin(puppet{Meet: m.address(), Flood: true}, nil)
	m.next().goOn()
	m.next() // it floods
	waiting.goOn()
	want(t, <-one.end, job.StatusSucceeded, "")
	flood.cancel(executor.ErrStopping)
	<-flood.end
}

func TestALineThatIsNoMessageIsOfTheOnlyRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, "slots", "2")
	r := w.do(puppet{Lines: []string{"Hello", "", `"text"`, "{half", done("1")}})
	want(t, r, job.StatusSucceeded, "")
	if diff := cmp.Diff("stdout info: Hello\nstdout info: \"text\"\nstdout info: {half\n", logOf(r)); diff != "" {
		t.Error(diff)
	}
	m := newMeeting(t)
	other := w.begin(puppet{Meet: m.address(), Lines: []string{done("2")}}, nil)
	g := m.next()
	r = w.do(puppet{Lines: []string{"Hello again", done("1")}})
	if text := logOf(r); text != "" {
		t.Errorf("one of two runs has the lines\n%s", text)
	}
	w.log.waitFor(t, `msg="worker process printed a line that is no message" worker=1 text="Hello again"`)
	g.goOn()
	<-other.end
}

func TestAMessageThatIsWrongIsAWarning(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, "normal")
	f := func(line, warning, about string) {
		t.Helper()
		r := w.do(puppet{Lines: []string{line, done("1")}})
		want(t, r, job.StatusSucceeded, "")
		if text := logOf(r); !strings.Contains(text, warning+" "+about) {
			t.Errorf("no %q in the run's log\n%s", warning+" "+about, text)
		}
		w.log.waitFor(t, warning+`" worker=1 `+about)
	}
	f(`{"type":"result","id":"77","result":1}`, "about no run that it has", "type=result id=77")
	f(`{"type":"log","text":"a"}`, "about no run that it has", "type=log")
	f(`{"type":"dance","id":"ID"}`, "of an unknown type", "type=dance")
	f(`{}`, "of an unknown type", `type=""`)
	f(`{"type":"log","id":"ID","text":7}`, "cannot be read", `error="json: cannot unmarshal number`)
	f(`{"type":"log","id":"ID","level":"loud","text":"a"}`, "of an unknown level", "given=loud")
	f(`{"type":"log","id":"ID","text":"`+strings.Repeat("x", maxLine)+`"}`, "cannot be read", `error="its message has more than 1 MiB`)
	r := w.do(puppet{Lines: []string{`{"type":"register","handlers":[]}`, done("1")}})
	if text := logOf(r); !strings.Contains(text, "registered again, which is ignored") {
		t.Errorf("no warning in the run's log\n%s", text)
	}
}

func TestALineThatIsTooLongIsAWarningInTheLogOfItsRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, "slots", "2")
	m := newMeeting(t)
	long := `{"type":"log","id":"ID","text":"` + strings.Repeat("x", maxLine) + `"}`
	one := w.begin(puppet{Meet: m.address(), Lines: []string{long, done("1")}}, nil)
	first := m.next()
	two := w.begin(puppet{Meet: m.address(), Lines: []string{done("2")}}, nil)
	second := m.next()
	first.goOn()
	if text := logOf(<-one.end); !strings.Contains(text, "its message has more than 1 MiB") {
		t.Errorf("no warning in the run's log\n%s", text)
	}
	second.goOn()
	if text := logOf(<-two.end); text != "" {
		t.Errorf("the other run has the lines\n%s", text)
	}
}

// Else the run would wait for its end forever.
func TestAnEndThatCannotBeReadEndsTheRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, "normal")
	r := w.do(puppet{Lines: []string{done(`{"ratio": NaN}`)}})
	if want(t, r, job.StatusSucceeded, "invalid character 'N'"); r.Result != nil {
		t.Errorf("result %s", r.Result)
	}
	want(t, w.do(puppet{Lines: []string{done(`"` + strings.Repeat("x", maxLine) + `"`)}}), job.StatusSucceeded,
		"the result was left out: its message has more than 1 MiB, the most of one line; store it elsewhere, and return where it is")
	want(t, w.do(puppet{Lines: []string{`{"type":"error","id":"ID","message":7}`}}), job.StatusFailed, "cannot be read")
	for _, unordered := range []string{`{"id":"ID","result":NaN,"type":"result"}`, `{"id":"ID","result":"` + strings.Repeat("x", maxLine) + `","type":"result"}`, `{"type":"result","result":"` + strings.Repeat("x", maxLine) + `","id":"ID"}`} {
		want(t, w.do(puppet{Lines: []string{unordered}}), job.StatusSucceeded, "the result was left out")
	}
	want(t, w.do(puppet{Lines: []string{`{"id":"ID","message":"` + strings.Repeat("x", maxLine) + `","type":"error"}`}}), job.StatusFailed, "cannot be read")
}

func TestAnEndThatIsHalfWrittenIsNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, "normal")
	for _, half := range []string{
		`{"type":"result","id":"1","result":{"paid":`,
		`{"type":"result","id":"1","result":"` + strings.Repeat("x", maxLine),
		`{"type":"error","id":"1","final":true,"mess`,
	} {
		want(t, w.do(puppet{Half: half, Exit: 3}), job.StatusFailed, "the worker process ended: exit status 3")
	}
	whole := `{"type":"result","id":"1","result":7}`
	if r := w.do(puppet{Half: whole, Exit: 3}); string(r.Result) != "7" {
		t.Errorf("ended as %q with message %q and result %s", r.Status, r.Message, r.Result)
	}
}

func TestALineThatOnlyLooksLikeAnEndIsNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, "normal")
	line := `{"id": 1, "result": NaN}`
	r := w.do(puppet{Lines: []string{line, done("7")}})
	if want(t, r, job.StatusSucceeded, ""); string(r.Result) != "7" || logOf(r) != "stdout info: "+line+"\n" {
		t.Errorf("result %s, log %s", r.Result, logOf(r))
	}
	long := strings.Repeat("x", maxLine)
	for _, line := range []string{`{"result":"` + long + `"}`, `{"message":"` + long + `","level":300}`} {
		r := w.do(puppet{Lines: []string{line, done("8")}})
		if want(t, r, job.StatusSucceeded, ""); string(r.Result) != "8" || !strings.Contains(logOf(r), "cannot be read") {
			t.Errorf("result %s, log %s", r.Result, logOf(r))
		}
	}
}

func TestAResultThatIsNoUTF8IsMended(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, "normal")
	r := w.do(puppet{Lines: []string{`{"type":"result","id":"ID","result":"a` + badByte + `b"}`}})
	if want(t, r, job.StatusSucceeded, ""); string(r.Result) != "\"a\uFFFDb\"" {
		t.Errorf("result %q", r.Result)
	}
}
