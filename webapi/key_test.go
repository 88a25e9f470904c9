package webapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
)

const runPath = "/api/v1/jobs/billing/x/run"

func TestARunIsAskedForWithTheKeyOfTheBodyOrTheHeader(t *testing.T) {
	w := newWorld(t)
	w.put("billing/x", "@daily")
	asked := pendingOwner(w)
	first, _ := want[RunAccepted](w, http.StatusAccepted, "POST", runPath, map[string]any{"key": "order 42", "params": map[string]int{"n": 1}})
	want[RunAccepted](w, http.StatusAccepted, "POST", runPath, nil, header{"Idempotency-Key", "order 42"})
	want[RunAccepted](w, http.StatusAccepted, "POST", runPath, map[string]any{"key": "order 42", "reset": true}, header{"Idempotency-Key", "order 42"})
	for i, q := range *asked {
		if q.Key != "order 42" || q.Reset != (i == 2) || q.OwnKey {
			t.Errorf("asked for %+v", q)
		}
	}
	detail, _ := want[RunDetail](w, http.StatusOK, "GET", "/api/v1/runs/"+string(first.RunID), nil)
	if string(detail.Params) != `{"n":1}` {
		t.Errorf("the run has params %s", detail.Params)
	}
	w.problemWith([]header{{"Idempotency-Key", "order 42"}}, 400, "invalid", "POST", runPath, map[string]any{"key": "order 43"}, "contradicts key")
	w.problem(400, "invalid", "POST", runPath, map[string]any{"reset": true}, `"field":"reset"`)
	w.problem(400, "invalid", "POST", runPath, map[string]any{"key": ""}, "key must not be empty")
	w.problem(400, "invalid", "POST", runPath, map[string]any{"key": strings.Repeat("ü", 129)}, `"field":"key"`)
	w.problem(400, "invalid", "POST", runPath, map[string]any{"key": "k", "cause": "test"}, `"field":"key"`)
	if len(*asked) != 3 {
		t.Errorf("the owner was asked for %+v", (*asked)[3:])
	}
}

func TestARunOfAKeyThatWasThereIsAnsweredWithItsStatus(t *testing.T) {
	w := newWorld(t)
	w.put("billing/x", "@daily")
	at := time.Now().Add(-time.Hour).UTC().Truncate(time.Millisecond)
	past := begun("billing/x", at)
	w.history(past, finished(past, job.StatusSucceeded, 0, past.At.Add(time.Second)))
	forgotten, waiting := job.NewRunID(at), job.NewRunID(at.Add(2*time.Hour))
	owner(w, "trigger", func(q bus.TriggerRequest) (bus.TriggerReply, error) {
		return map[string]bus.TriggerReply{
			"past":      {RunID: past.RunID, Version: 1, Existed: true},
			"forgotten": {RunID: forgotten, Version: 1, Existed: true},
			"waiting":   {RunID: waiting, Version: 1, Status: job.StatusQueued, Existed: true},
		}[q.Key], nil
	})
	for key, is := range map[string]struct {
		id     job.RunID
		status job.Status
	}{"past": {past.RunID, job.StatusSucceeded}, "forgotten": {forgotten, "ended"}, "waiting": {waiting, job.StatusQueued}} {
		a, _ := want[RunAccepted](w, http.StatusOK, "POST", runPath, map[string]any{"key": key})
		if a.RunID != is.id || a.Status != is.status || !a.Existed || !a.Due.Equal(is.id.Time()) {
			t.Errorf("%s: %+v", key, a)
		}
	}
}

func TestTheRunOfAKeyIsCancelled(t *testing.T) {
	w := newWorld(t)
	id := job.NewRunID(time.Now())
	owner(w, bus.VerbKey, func(q bus.KeyRequest) (bus.KeyReply, error) {
		if q.Key != "order 42" {
			return bus.KeyReply{}, fmt.Errorf("%w: %s", job.ErrNotFound, refusal.NoRunOfKey.With(q.Job))
		}
		return bus.KeyReply{RunID: id}, nil
	})
	var asked bus.CancelRequest
	owner(w, "cancel", func(q bus.CancelRequest) (bus.CancelReply, error) {
		asked = q
		return bus.CancelReply{RunID: q.RunID, Found: job.StatusQueued}, nil
	})
	const path = "/api/v1/jobs/billing/x/cancel"
	a, _ := want[CancelAccepted](w, http.StatusAccepted, "POST", path, map[string]any{"key": "order 42", "reason": "typo"})
	if a.RunID != id || a.Found != job.StatusQueued || asked.RunID != id || asked.Job != "billing/x" || asked.Reason != "typo" {
		t.Errorf("asked for %+v, answered %+v", asked, a)
	}
	w.problem(404, "not_found", "POST", path, map[string]any{"key": "order 43"}, `"code":"no_run_of_key"`)
	w.problem(400, "invalid", "POST", path, map[string]any{}, `"field":"key"`)
}

func TestARequestThatCannotHaveItsKeyIsToldWhy(t *testing.T) {
	w := newWorld(t)
	w.put("billing/x", "@daily")
	id := job.NewRunID(time.Now())
	owner(w, "trigger", func(q bus.TriggerRequest) (bus.TriggerReply, error) {
		switch q.Key {
		case "used":
			return bus.TriggerReply{RunID: id, Version: 1, Existed: true, Differs: "params, labels"}, nil
		case "alive":
			return bus.TriggerReply{}, fmt.Errorf("%w: %s", job.ErrConflict, refusal.KeyRunAlive.With(id))
		case "another":
			return bus.TriggerReply{}, fmt.Errorf("%w: %s", job.ErrConflict, refusal.KeyOfAnother.With(id))
		case "many":
			return bus.TriggerReply{}, fmt.Errorf("%w: the jobs of group billing remember 5 keys", job.ErrTooMany)
		}
		return bus.TriggerReply{}, fmt.Errorf("%w: %s", job.ErrUnavailable, refusal.NoRoomForKeys.String())
	})
	body := func(key string) map[string]any {
		return map[string]any{"key": key, "params": map[string]string{"secret": "s3cret"}}
	}
	w.problem(409, "key_in_use", "POST", runPath, body("used"), fmt.Sprintf(`"run_id":%q`, id), "params, labels")
	w.problem(409, "key_in_use", "POST", runPath, body("alive"), fmt.Sprintf(`"run_id":%q`, id), `"code":"key_run_alive"`)
	w.problem(409, "key_in_use", "POST", runPath, body("another"), fmt.Sprintf(`"run_id":%q`, id), `"code":"key_of_another"`)
	w.problem(429, "too_many", "POST", runPath, body("many"), "5 keys")
	w.problem(503, "unavailable", "POST", runPath, body("full"), `"code":"no_room_for_keys"`)
}
