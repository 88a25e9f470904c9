package shard

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

func TestSubmitRefusesWhatCannotRun(t *testing.T) {
	b := newBench(t)
	b.put(0, 3, func(*job.Version) {})
	b.put(0, 1, func(v *job.Version) { v.Job.Job = "g/gone" })
	b.put(time.Minute, 2, func(v *job.Version) { v.Job.Job, v.Deleted = "g/gone", true })
	id := job.NewRunID(noon)
	refused := func(r bus.TriggerRequest, kind error, text string) {
		t.Helper()
		_, err := b.m.Requests.Submit(r)
		if !errors.Is(err, kind) || !strings.Contains(err.Error(), text) {
			t.Errorf("%+v: %v, want %q", r, err, text)
		}
	}
	refused(bus.TriggerRequest{RunID: "x", Job: "g/a", Cause: job.CauseAPI}, job.ErrInvalid, "run_id")
	refused(bus.TriggerRequest{RunID: id, Job: "g/a", Cause: job.CauseSchedule}, job.ErrInvalid, "cause")
	refused(bus.TriggerRequest{RunID: id, Job: "g/none", Cause: job.CauseAPI}, job.ErrNotFound, "g/none")
	refused(bus.TriggerRequest{RunID: id, Job: "g/gone", Cause: job.CauseAPI}, job.ErrNotFound, "g/gone")
	refused(bus.TriggerRequest{RunID: id, Job: "g/a", Cause: job.CauseAPI, Params: json.RawMessage("{")}, job.ErrInvalid, "params")
	refused(bus.TriggerRequest{RunID: id, Job: "g/a", Cause: job.CauseAPI, Labels: job.Labels{"": "x"}}, job.ErrInvalid, "labels")
	of := job.NewRunID(noon.Add(-time.Hour))
	retry := bus.TriggerRequest{RunID: job.RetryRunID(of, "1"), Job: "g/a", Cause: job.CauseRerun, RetryOf: of}
	bad := func(field string, change func(*bus.TriggerRequest)) {
		t.Helper()
		r := retry
		change(&r)
		refused(r, job.ErrInvalid, field)
	}
	bad("retry_of", func(r *bus.TriggerRequest) { r.RetryOf = "" })
	bad("retry_of", func(r *bus.TriggerRequest) { r.Cause = job.CauseAPI })
	bad("run_id", func(r *bus.TriggerRequest) { r.RunID = id })
	bad("version", func(r *bus.TriggerRequest) { r.Version = 1 })
	bad("version", func(r *bus.TriggerRequest) { r.Body = json.RawMessage(`{}`) })
	bad("pieces", func(r *bus.TriggerRequest) { r.Pieces = &bus.Pieces{States: "w"} }) // it is not done in any
	bad("pieces.states", func(r *bus.TriggerRequest) { r.Pieces = &bus.Pieces{States: "ss"} })
	bad("pieces.states", func(r *bus.TriggerRequest) { r.Pieces = &bus.Pieces{States: "wt"} })
	bad("pieces.items", func(r *bus.TriggerRequest) {
		r.Pieces = &bus.Pieces{States: "ww", Items: []json.RawMessage{[]byte("1")}}
	})
	long := json.RawMessage(`"` + strings.Repeat("x", job.MaxParams) + `"`)
	refused(bus.TriggerRequest{RunID: id, Job: "g/a", Cause: job.CauseAPI, Params: long}, job.ErrInvalid, "params")
}

func TestARequestThatComesAgainMakesNoSecondRun(t *testing.T) {
	b := newBench(t)
	b.put(0, 3, func(*job.Version) {})
	r := bus.TriggerRequest{RunID: job.NewRunID(noon), Job: "g/a", Cause: job.CauseManual, Params: json.RawMessage(`{"n":1}`), By: "ada"}
	for range 2 {
		if done, err := b.m.Requests.Submit(r); done != nil || err != nil {
			t.Errorf("before the commit: done %v, %v", done, err)
		}
	}
	if at, ok := b.m.NextAt(noon.UnixMilli()); !ok || at > noon.UnixMilli() {
		t.Errorf("next at %s", instant(at))
	}
	batch := b.m.Step(noon.UnixMilli(), bus.MaxBatch)
	if batch.Triggers != 1 || len(batch.Asked) != 1 || batch.Asked[0].RunID != r.RunID {
		t.Errorf("batch %+v", batch)
	}
	trigger, err := bus.DecodeTrigger(nil, batch.Messages[1].Data)
	if err != nil || string(trigger.Params) != `{"n":1}` || trigger.Task.Handler != "h" {
		t.Errorf("trigger %+v, %v", trigger, err)
	}
	if done, _ := b.m.Requests.Submit(r); done != nil {
		t.Error("done before the batch is stored")
	}
	b.m.Committed(1)
	want := &Asked{RunID: r.RunID, Version: 3, Status: job.StatusPending}
	if done, err := b.m.Requests.Submit(r); err != nil || done == nil || *done != *want {
		t.Errorf("after the commit: done %v, %v", done, err)
	}
}
