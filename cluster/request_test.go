package cluster_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

func TestErrorsOfRequestsDoNotTellTheSecret(t *testing.T) {
	inCluster(t, func(w *world) {
		secret := bus.NewControlSecret()
		to := bus.NewAddress("g", "a", secret)
		ask := func(want error) {
			w.t.Helper()
			_, err := w.conn.AskInstance(w.t.Context(), to, bus.VerbBeat, nil, nil, time.Second)
			if !errors.Is(err, want) || strings.Contains(err.Error(), secret) || !strings.Contains(err.Error(), "g/a") {
				w.t.Errorf("%v, want %v of g/a", err, want)
			}
		}
		ask(bus.ErrNobodyThere)
		sub, err := w.conn.NC.Subscribe(to.Subject("*"), func(m *nats.Msg) { _ = bus.Respond(m, nil, &job.InvalidError{Field: "verb", Reason: "is none"}) })
		if err != nil {
			w.t.Fatal(err)
		}
		ask(job.ErrInvalid)
		if err := sub.Unsubscribe(); err != nil {
			w.t.Fatal(err)
		}
		if _, err := w.conn.NC.Subscribe(to.Subject("*"), func(*nats.Msg) {}); err != nil {
			w.t.Fatal(err)
		}
		ask(job.ErrUnavailable)
	})
}

func TestAGroupIsAskedAllAtOnceAndNoLongerThanItTakes(t *testing.T) {
	inCluster(t, func(w *world) {
		t, conn := w.t, w.conn
		here := func(group, instance string, answer fleet.Answer) bus.Address {
			t.Helper()
			beat := bus.Heartbeat{ControlSecret: bus.NewControlSecret(), Instance: fleet.Instance{Group: group, Instance: instance, Protocol: fleet.Protocol}}
			data, err := json.Marshal(beat)
			if err == nil {
				_, err = conn.JS.Publish(t.Context(), bus.SubjectHeartbeat(group, instance), data)
			}
			if err == nil && answer != "" {
				_, err = conn.NC.Subscribe(beat.Address().Subject("*"), func(m *nats.Msg) {
					if bus.CheckRequest(m) != nil || string(m.Data) != "body" {
						t.Errorf("heard %v %q", m.Header, m.Data)
					}
					_ = bus.RespondInstance(m, &fleet.InstanceReply{Instance: instance, Answer: answer})
				})
			}
			if err != nil {
				t.Fatal(err)
			}
			return beat.Address()
		}
		ask := func(group string) (answers []string, took time.Duration) {
			t.Helper()
			asked := time.Now()
			err := conn.Instances().Ask(t.Context(), group, bus.VerbKill, []byte("body"), time.Second, func(r *fleet.InstanceReply) bool {
				answers = append(answers, r.Instance+" "+string(r.Answer))
				return true
			})
			if err != nil {
				t.Error(err)
			}
			slices.Sort(answers)
			return answers, time.Since(asked)
		}
		want := func(group string, within time.Duration, want ...string) {
			t.Helper()
			if got, took := ask(group); !slices.Equal(got, want) || took != within {
				t.Errorf("answers %q after %v, want %q after %v", got, took, want, within)
			}
		}
		want("g", 0)
		here("g", "a", fleet.AnswerAccepted)
		here("g", "b", fleet.AnswerGone)
		here("g", "died", "")
		here("other", "c", fleet.AnswerAccepted)
		want("g", 0, "a accepted", "b gone")
		time.Sleep(fleet.InstanceTTL + time.Minute) // its heartbeats do not arrive, and it is there
		want("g", 0, "a accepted", "b gone")
		frozen := here("g", "frozen", "")
		if _, err := conn.NC.Subscribe(frozen.Subject("*"), func(*nats.Msg) {}); err != nil {
			t.Fatal(err)
		}
		want("g", time.Second, "a accepted", "b gone")
		left := &nats.Msg{Subject: bus.SubjectHeartbeat("g", "a"), Header: nats.Header{"KV-Operation": {"DEL"}}}
		if _, err := conn.JS.PublishMsg(t.Context(), left); err != nil {
			t.Fatal(err)
		}
		want("g", time.Second, "b gone")
	})
}
