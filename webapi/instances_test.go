package webapi

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

func TestInstancesAreToldWhatToDo(t *testing.T) {
	w := newWorld(t)
	e, err := executor.New(w.conn.Conn, executor.Config{Group: "billing", Instance: "b1", Slots: 4})
	w.check(err)
	w.check(w.conn.Groups().Setup(w.Context(), cluster.Group{Group: "billing", HasRouted: true}))
	ctx, stop := context.WithCancel(w.Context())
	defer stop()
	over := make(chan error, 1)
	go func() { over <- e.Run(ctx) }()
	const path = "/api/v1/groups/billing/instances/b1/"
	beats, err := w.conn.Instances().Watch(w.Context())
	w.check(err)
	for e := range beats.Updates() {
		if e != nil { // by then it listens
			break
		}
	}
	w.check(beats.Stop())
	tell := func(verb string, body any, expected fleet.InstanceReply) {
		t.Helper()
		expected.Instance, expected.Answer = "b1", fleet.AnswerAccepted
		got, _ := want[InstanceReply](w, http.StatusOK, "POST", path+verb, body)
		if diff := cmp.Diff(expected, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", verb, diff)
		}
	}
	tell("cordon", nil, fleet.InstanceReply{State: fleet.InstanceCordoned, Slots: 4})
	tell("uncordon", nil, fleet.InstanceReply{State: fleet.InstanceOnline, Slots: 4})
	tell("settings", `{"slots":7,"labels":{"zone":"eu"}}`, fleet.InstanceReply{State: fleet.InstanceOnline, Slots: 7})
	tell("settings", `{"labels":{}}`, fleet.InstanceReply{State: fleet.InstanceOnline, Slots: 7})
	w.problem(400, "invalid", "POST", path+"settings", `{"labels":{"Zone":"eu"}}`, "labels")
	w.problem(400, "invalid", "POST", path+"settings", `{"slots":-1}`, `"reason":{"text":"must be at least 1"`)
	w.problem(400, "invalid", "POST", path+"settings", `{"labels":null}`, `"reason":{"text":"must not be null"`)
	w.problem(404, "not_found", "POST", "/api/v1/groups/billing/instances/b2/drain", nil, "no live instance b2")
	w.problem(400, "invalid", "POST", "/api/v1/groups/billing/instances/B.2/drain", nil, "instance")
	w.problem(400, "invalid", "POST", path+"drain", `{"within":"8d"}`, `"field":"within"`, "at most 7d")
	w.problem(400, "invalid", "POST", path+"drain", `{"within":"soon"}`, "within")
	tell("drain", nil, fleet.InstanceReply{State: fleet.InstanceDraining, Slots: 7})
	w.check(<-over)
}

func TestNothingThatTheAPITellsHasTheSecretOfAnInstance(t *testing.T) {
	w := newWorld(t)
	w.check(w.conn.Groups().Setup(w.Context(), cluster.Group{Group: "billing", HasRouted: true}))
	beat := bus.Heartbeat{ControlSecret: bus.NewControlSecret(), Instance: fleet.Instance{
		Group: "billing", Instance: "b1", State: fleet.InstanceOnline, Kinds: []string{"shell"}, Slots: 4, Protocol: fleet.Protocol, StartedAt: noon, At: noon,
	}}
	data, err := json.Marshal(beat)
	w.check(err)
	_, err = w.conn.JS.Publish(w.Context(), bus.SubjectHeartbeat("billing", "b1"), data)
	w.check(err)
	silent := func(name, text string) {
		t.Helper()
		if strings.Contains(text, beat.ControlSecret) {
			t.Errorf("%s: %s", name, text)
		}
	}
	for _, path := range []string{"groups", "nodes", "overview"} {
		a := w.send("GET", "/api/v1/"+path, nil)
		if a.status != http.StatusOK {
			t.Errorf("%s: %d %s", path, a.status, a.text)
		}
		silent(path, a.text)
	}
	silent("metrics", w.send("GET", "/metrics", nil).text)
	a := w.send("POST", "/api/v1/diagnostics", nil)
	for name, text := range unzip(t, a.text) {
		silent(name, text)
	}
	silent("an instance that is gone", w.send("POST", "/api/v1/groups/billing/instances/b1/drain", nil).text)
	sub, err := w.conn.NC.Subscribe(beat.Address().Subject("*"), func(m *nats.Msg) { _ = bus.Respond(m, nil, job.ErrConflict) })
	w.check(err)
	silent("a request that is refused", w.send("POST", "/api/v1/groups/billing/instances/b1/cordon", nil).text)
	w.check(sub.Unsubscribe())
}
