package cluster_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

func TestAnAskerTellsWhichQuestionWasAnsweredAndHow(t *testing.T) {
	inCluster(t, func(w *world) {
		conn, t := w.conn, w.t
		accepted := fleet.InstanceReply{Instance: "a", Answer: fleet.AnswerAccepted, State: fleet.InstanceOnline, Running: 1, Slots: 8}
		var heard []*nats.Msg
		sub, err := conn.NC.Subscribe(bus.NewAddress("g", "a", "s").Subject(bus.VerbRun), func(m *nats.Msg) { heard = append(heard, m) })
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = sub.Unsubscribe() }()
		asker, err := conn.NewAsker(8)
		if err != nil {
			t.Fatal(err)
		}
		ask := func(instance string) uint64 {
			n, err := asker.Ask(bus.NewAddress("g", instance, "s"), bus.VerbRun, nats.Header{"K": {"v"}}, []byte("body"))
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			return n
		}
		first, second := ask("a"), ask("a")
		if len(heard) != 2 || string(heard[0].Data) != "body" || heard[0].Header.Get("K") != "v" {
			t.Fatalf("the instance heard %v", heard)
		}
		_ = bus.Respond(heard[1], nil, &job.InvalidError{Field: "run_id", Reason: "is none"})
		synctest.Wait()
		_ = bus.RespondInstance(heard[0], &accepted)
		gone := ask("b")

		answer := func(want uint64) (*fleet.InstanceReply, error) {
			t.Helper()
			question, reply, err := asker.Answer(<-asker.Inbox())
			if question != want {
				t.Errorf("question %d was answered, want %d", question, want)
			}
			return reply, err
		}
		if _, err := answer(second); !errors.Is(err, job.ErrInvalid) {
			t.Errorf("a refusal arrived as %v", err)
		}
		if reply, err := answer(first); err != nil || !cmp.Equal(reply, &accepted) {
			t.Errorf("an acceptance arrived as %+v, %v", reply, err)
		}
		if _, err := answer(gone); !errors.Is(err, bus.ErrNobodyThere) {
			t.Errorf("who is gone: %v", err)
		}
		if _, _, err := asker.Answer(&nats.Msg{Subject: "somewhere"}); !errors.Is(err, job.ErrInvalid) {
			t.Errorf("what answers no question: %v", err)
		}
		asker.Close()
		_ = bus.RespondInstance(heard[0], &accepted)
		synctest.Wait()
		if len(asker.Inbox()) != 0 {
			t.Error("an answer came after the end")
		}
	})
}
