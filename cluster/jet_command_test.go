package cluster_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

func TestErrorsKeepTheirKindAcrossTheBus(t *testing.T) {
	inCluster(t, func(w *world) {
		var answer error
		sub, err := w.conn.NC.Subscribe("ask", func(m *nats.Msg) {
			if err := bus.Respond(m, bus.CancelReply{RunID: "x"}, answer); err != nil {
				w.t.Error(err)
			}
		})
		if err != nil {
			w.t.Fatal(err)
		}
		if err := w.conn.NC.Flush(); err != nil { // else the question may be there first
			w.t.Fatal(err)
		}
		asker := w.connect("asker")
		ask := func() (reply bus.CancelReply, err error) {
			err = asker.Ask(w.t.Context(), "ask", bus.CancelRequest{}, &reply, time.Second)
			return reply, err
		}
		if reply, err := ask(); err != nil || reply.RunID != "x" {
			w.t.Errorf("%+v, %v", reply, err)
		}
		for _, kind := range []error{job.ErrInvalid, job.ErrNotFound, job.ErrConflict, job.ErrStale, job.ErrUnavailable} {
			answer = fmt.Errorf("look up g/a: %w", kind)
			if _, err := ask(); !errors.Is(err, kind) || err.Error() != answer.Error() {
				w.t.Errorf("sent %q, got %q", answer, err)
			}
		}
		answer = errors.New("something else")
		if _, err := ask(); !errors.Is(err, job.ErrUnavailable) || err.Error() != "something else" {
			w.t.Errorf("an error of no kind: %v", err)
		}
		problems := []*job.InvalidError{{Field: "job", Reason: "must be a slug"}, {Field: "cause", Reason: "is missing"}}
		answer = errors.Join(problems[0], problems[1])
		if _, err := ask(); !errors.Is(err, job.ErrInvalid) || !cmp.Equal(job.Problems(err), problems) {
			w.t.Errorf("problems: %v", err)
		}
		if err := sub.Unsubscribe(); err != nil {
			w.t.Fatal(err)
		}
		if err := w.conn.NC.Flush(); err != nil {
			w.t.Fatal(err)
		}
		asked := time.Now()
		if _, err := ask(); !errors.Is(err, job.ErrUnavailable) || time.Since(asked) > 0 {
			w.t.Errorf("nobody there: %v after %v", err, time.Since(asked))
		}
	})
}

func TestAnInstancesReplyArrivesAsItWasSent(t *testing.T) {
	inCluster(t, func(w *world) {
		conn, t := w.conn, w.t
		replies := []fleet.InstanceReply{
			{Instance: "a", Answer: fleet.AnswerAccepted, State: fleet.InstanceOnline, Running: 1, Slots: 8},
			{Instance: "a", Answer: fleet.AnswerUnknownHandler, State: fleet.InstanceOnline, Detail: "no handler \"x\"\n"},
			{Instance: "a", Answer: fleet.AnswerAccepted, State: fleet.InstanceOnline, Running: 3, Slots: 8, Pieces: []int{0, 12}},
		}
		next := 0
		sub, err := conn.NC.Subscribe(bus.NewAddress("g", "a", "s").Subject("*"), func(m *nats.Msg) {
			if next < len(replies) {
				_ = bus.RespondInstance(m, &replies[next])
			} else {
				_ = bus.Respond(m, nil, &job.InvalidError{Field: "slots", Reason: "are too many"})
			}
			next++
		})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = sub.Unsubscribe() }()
		ask := func() (*fleet.InstanceReply, error) {
			return conn.AskInstance(t.Context(), bus.NewAddress("g", "a", "s"), bus.VerbBeat, nil, nil, time.Second)
		}
		for i := range replies {
			got, err := ask()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&replies[i], got); diff != "" {
				t.Error(diff)
			}
		}
		if _, err := ask(); !errors.Is(err, job.ErrInvalid) || len(job.Problems(err)) != 1 {
			t.Errorf("a refusal arrived as %v", err)
		}
		if _, err := conn.AskInstance(t.Context(), bus.NewAddress("g", "b", "s"), bus.VerbBeat, nil, nil, time.Second); !errors.Is(err, bus.ErrNobodyThere) {
			t.Errorf("who is gone: %v", err)
		}
	})
}
