package bus_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"carillon/bus"
	"carillon/job"
)

func TestErrorsKeepTheirKindAcrossTheBus(t *testing.T) {
	inCluster(t, func(w *world) {
		var answer error
		sub, err := w.conn.NC.Subscribe("ask", func(m *nats.Msg) {
			if err := bus.Respond(m, bus.KillReply{Instance: "x"}, answer); err != nil {
				w.t.Error(err)
			}
		})
		if err != nil {
			w.t.Fatal(err)
		}
		asker := w.connect("asker")
		ask := func() (reply bus.KillReply, err error) {
			err = asker.Ask(w.t.Context(), "ask", bus.KillRequest{}, &reply, time.Second)
			return reply, err
		}
		if reply, err := ask(); err != nil || reply.Instance != "x" {
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
