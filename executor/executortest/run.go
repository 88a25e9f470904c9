package executortest

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/job"
)

// group and name are the job's, unless a [Run] names one.
const (
	group = "test"
	name  = job.Name(group + "/job")
)

// Run is the run that a handler is to do. The zero value is the first attempt of one without
// parameters, whose fire is due now.
type Run struct {
	Job      job.Name // defaults to test/job
	Attempt  int      // defaults to 1
	FireTime time.Time
	Cause    job.Cause     // defaults to schedule, and to step with a Step
	Step     string        // the step of a workflow that it does
	Timeout  time.Duration // defaults to none
	Params   any           // encoded as JSON; nil is none

	// Which piece it is, and of how many; Item is encoded as JSON. Split asks for the list of pieces.
	Index, Total int
	Item         any
	Split        bool

	// Secrets has the values of the task's secrets by variable. Their values are masked in
	// everything that the handler says.
	Secrets map[string]string
}

// End is how a run ended, and what it said.
type End struct{ executor.Rehearsed }

// Log returns the lines of the run's log.
func (e End) Log() []string {
	texts := make([]string, len(e.Lines))
	for i, line := range e.Lines {
		texts[i] = line.Text
	}
	return texts
}

// Logged reports whether a line of the log has text in it.
func (e End) Logged(text string) bool {
	for _, line := range e.Lines {
		if strings.Contains(line.Text, text) {
			return true
		}
	}
	return false
}

// Call does a run with f, and returns its result, decoded from the JSON that the run would have;
// the zero R if it has none. It stops the test if the run's values cannot be encoded.
func Call[P, R any](t testing.TB, f executor.Func[P, R], params P, run Run) (R, End) {
	t.Helper()
	run.Params = params
	end := Do(t, "handler", run, func(e *executor.Executor) { executor.Register(e, "handler", f) })
	var result R
	if len(end.Result) > 0 {
		if err := json.Unmarshal(end.Result, &result); err != nil {
			t.Fatalf("decode result %s: %v", end.Result, err)
		}
	}
	return result, end
}

// Do does a run with the handler of that name, which register registers as the program does. It
// stops the test if a registration is wrong, or the run's values cannot be encoded.
func Do(t testing.TB, handler string, run Run, register func(e *executor.Executor), options ...func(*executor.Config)) End {
	t.Helper()
	if run.Job == "" {
		run.Job = name
	}
	cfg := executor.Config{Group: run.Job.Group(), Instance: "test"}
	for _, option := range options {
		option(&cfg)
	}
	e, err := executor.Detached(cfg)
	if err != nil {
		t.Fatal(err)
	}
	register(e)
	end, err := e.Rehearse(t.Context(), run.trigger(t, handler), run.Secrets)
	if err != nil {
		t.Fatal(err)
	}
	return End{end}
}

func (r Run) trigger(t testing.TB, handler string) *bus.Trigger {
	t.Helper()
	now := time.Now().UTC().Truncate(time.Millisecond)
	tr := &bus.Trigger{
		Job: r.Job, Version: 1, Attempt: max(r.Attempt, 1), Cause: r.Cause, FireTime: r.FireTime, CommittedAt: now,
		Piece:       bus.Piece{Index: r.Index, Total: r.Total},
		TriggerBody: bus.TriggerBody{Task: job.Task{Handler: handler}, Timeout: job.Duration(r.Timeout), Params: encode(t, "params", r.Params)},
	}
	tr.Item, tr.Split, tr.Step = encode(t, "item", r.Item), r.Split, r.Step
	switch {
	case tr.Cause != "":
	case r.Step != "":
		tr.Cause = job.CauseStep
	default:
		tr.Cause = job.CauseSchedule
	}
	if tr.FireTime.IsZero() {
		tr.FireTime = now
	}
	tr.RunID = job.FireRunID(tr.Job, tr.FireTime.UnixMilli(), tr.Cause)
	if len(r.Secrets) > 0 {
		tr.Task.Secrets = map[string]string{}
		for variable := range r.Secrets {
			tr.Task.Secrets[variable] = strings.ToLower(variable)
		}
	}
	return tr
}

func encode(t testing.TB, what string, value any) json.RawMessage {
	t.Helper()
	if value == nil {
		return nil
	}
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatalf("encode %s of the run: %v", what, err)
	}
	return data
}
