package worker

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/job"
)

// answersOf returns what the process was told of its starts, without the ids of runs.
func answersOf(t *testing.T, r executor.Rehearsed) (all []string) {
	t.Helper()
	var answers []map[string]any
	if err := json.Unmarshal(r.Result, &answers); err != nil {
		t.Fatalf("result %s: %v", r.Result, err)
	}
	for _, a := range answers {
		if id, given := a["run_id"]; given {
			if _, err := job.ParseRunID(fmt.Sprint(id)); err != nil {
				t.Error(err)
			}
			a["run_id"] = "RUN"
		}
		text, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(text))
	}
	return all
}

func TestAProcessStartsRunsOfOtherJobs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, "normal")
	r := w.do(puppet{Await: 4, Lines: []string{
		`{"type":"start","id":"ID","ref":1,"request":{"job":"g/letter","params":{"n":1152921504606846977,"a":{"c":1,"b":2}},"in":"24h","expires":"1h","labels":{"zone":"eu"}}}`,
		`{"type":"start","id":"ID","ref":"two","request":{"job":"g/letter","params":{"a":{"b":2,"c":1},"n":1152921504606846977}}}`,
		`{"type":"start","id":"ID","request":{"job":"g/letter","at":"2026-01-06T02:00:00Z"}}`,
		`{"type":"start","id":"ID","request":{"job":"g/letter","params":null}}`,
	}})
	want(t, r, job.StatusSucceeded, "")
	params := json.RawMessage(`{"a":{"b":2,"c":1},"n":1152921504606846977}`)
	wanted := []executor.Started{
		{Job: "g/letter", Params: params, In: job.Duration(24 * time.Hour), Expires: job.Duration(time.Hour), Labels: job.Labels{"zone": "eu"}},
		{Job: "g/letter", Params: params, Count: 1},
		{Job: "g/letter", At: time.Date(2026, time.January, 6, 2, 0, 0, 0, time.UTC)},
		{Job: "g/letter", Count: 1},
	}
	if diff := cmp.Diff(wanted, r.Started); diff != "" {
		t.Errorf("the starts (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{
		`{"id":"1","ref":1,"run_id":"RUN","type":"started"}`, `{"id":"1","ref":"two","run_id":"RUN","type":"started"}`,
		`{"id":"1","run_id":"RUN","type":"started"}`, `{"id":"1","run_id":"RUN","type":"started"}`,
	}, answersOf(t, r)); diff != "" {
		t.Errorf("the answers (-want +got):\n%s", diff)
	}
}

func TestAStartThatIsRefusedIsAnsweredWithItsError(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, "normal")
	r := w.do(puppet{Await: 3, Lines: []string{
		`{"type":"start","id":"ID","ref":1,"request":{"job":"g/letter","in":"soon"}}`,
		`{"type":"start","id":"ID","ref":2}`,
		`{"type":"start","id":"ID","ref":3,"request":"` + strings.Repeat("x", maxLine) + `"}`,
	}})
	want(t, r, job.StatusSucceeded, "")
	answers := strings.Join(answersOf(t, r), "\n")
	for _, part := range []string{`"request is wrong: `, `"request is missing"},"id":"1","ref":2`, `the message cannot be read: ` + errTooLong.Error()} {
		if !strings.Contains(answers, part) {
			t.Errorf("the answers do not say %s:\n%s", part, answers)
		}
	}
	if n := strings.Count(answers, `"kind":"invalid"`); n != 3 {
		t.Errorf("%d answers are of kind invalid, want 3:\n%s", n, answers)
	}
}

func TestStartsForWhichAProcessDoesNotWaitAreDoneBeforeTheRunEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, "normal")
	const result = `{"type":"result","id":"ID"}`
	r := w.do(puppet{Lines: []string{`{"type":"start","id":"ID","request":{"job":"g/a"}}`, `{"type":"start","id":"ID","request":{"job":"g/b"}}`, result}})
	want(t, r, job.StatusSucceeded, "")
	if len(r.Started) != 2 {
		t.Errorf("started %+v, want 2", r.Started)
	}
	r = w.do(puppet{Lines: []string{`{"type":"start","id":"ID","request":{"job":"g/a","in":"soon"}}`, result}})
	want(t, r, job.StatusSucceeded, "")
	if said := logOf(r); !strings.Contains(said, "warn: start of a run refused error=\"request is wrong: ") {
		t.Errorf("the run's log has %q", said)
	}
}

func TestARunThatHasToEndStartsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, "normal")
	m := newMeeting(t)
	l := w.begin(puppet{Meet: m.address(), Await: 1, Cancel: []string{`{"type":"start","id":"ID","request":{"job":"g/a"}}`}}, nil)
	m.next()
	l.cancel(fmt.Errorf("%w by ann", executor.ErrCancelled))
	r := <-l.end
	want(t, r, job.StatusCancelled, "the run was cancelled by ann")
	if len(r.Started) != 0 {
		t.Errorf("started %+v, want none", r.Started)
	}
}

func TestAProcessMayHave64StartsUnanswered(t *testing.T) {
	t.Parallel()
	p := &process{stdin: newInput()}
	c := &call{id: "7", log: slog.New(slog.DiscardHandler), starts: make(chan *message, maxUnanswered)}
	for range maxUnanswered {
		p.want(c, &message{})
	}
	if len(p.stdin.lines) != 0 {
		t.Fatalf("answered %s", p.stdin.lines)
	}
	p.want(c, &message{Ref: json.RawMessage("1")})
	const refusal = `{"type":"started","id":"7","ref":1,"error":{"kind":"too_many","message":"too many: 64 starts of the run wait for their answers; read those first"}}`
	if got := strings.TrimSpace(string(p.stdin.lines[0])); got != refusal {
		t.Errorf("answered %s, want %s", got, refusal)
	}
}
