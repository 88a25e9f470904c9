package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
)

// What a server says of a conditional write while replicas have yet to confirm another one, and
// afterwards. The client library wraps the first when a key is to be created.
var (
	errInFlight  = fmt.Errorf("publish: %w", &jetstream.APIError{Code: 400, ErrorCode: 10164, Description: "wrong last sequence"})
	errWrongLast = fmt.Errorf("publish: %w", &jetstream.APIError{Code: 400, ErrorCode: 10071, Description: "wrong last sequence: 7"})
	errNotMade   = fmt.Errorf("%w: %w", errInFlight, jetstream.ErrKeyExists)
)

func TestAWriteIsRepeatedWhileAnotherIsInFlight(t *testing.T) {
	for name, c := range map[string]struct {
		answers []error // the last one again and again
		tries   int     // 0: any number
		want    error
	}{
		"stored at once":         {[]error{nil}, 1, nil},
		"stored after the other": {[]error{errInFlight, errInFlight, nil}, 3, nil},
		"the other has won":      {[]error{errInFlight, errWrongLast}, 2, errWrongLast},
		"a key to be created":    {[]error{errNotMade, nil}, 2, nil},
		"no quorum":              {[]error{errNotMade}, 0, job.ErrUnavailable},
	} {
		inCluster(t, func(w *world) {
			tries := 0
			err := jet.AfterOthers(w.t.Context(), func(context.Context) error {
				tries++
				return c.answers[min(tries, len(c.answers))-1]
			})
			if !errors.Is(err, c.want) || c.tries != 0 && tries != c.tries || tries > 100 || errors.Is(err, jetstream.ErrKeyExists) != errors.Is(c.want, jetstream.ErrKeyExists) {
				w.t.Errorf("%s: %d tries, %v, want %d and %v", name, tries, err, c.tries, c.want)
			}
		})
	}
}

func TestAClaimIsTriedAgainWhileAnotherIsInFlight(t *testing.T) {
	for name, c := range map[string]struct {
		answers []error // of tries that are not stored
		other   bool    // another instance's claim is stored
		mine    bool
	}{
		"the other gets lost":            {[]error{errInFlight, errInFlight}, false, true},
		"the other gets stored":          {[]error{errInFlight}, true, false},
		"an answer gets lost in between": {[]error{errInFlight, nats.ErrTimeout, errInFlight}, true, false},
	} {
		inCluster(t, func(w *world) {
			trigger := &bus.Trigger{Job: "billing/report", RunID: job.NewRunID(time.Now()), Attempt: 1}
			store := func(ctx context.Context, m *nats.Msg) error {
				_, err := w.conn.JS.PublishMsg(ctx, m)
				return err
			}
			if c.other {
				if mine, err := w.conn.Claim(w.t.Context(), trigger, &bus.Claim{Instance: "b", Delivery: 1, Try: "b"}, store); err != nil || !mine {
					w.t.Fatal(mine, err)
				}
			}
			tries := 0
			mine, err := w.conn.Claim(w.t.Context(), trigger, &bus.Claim{Instance: "a", Delivery: 1, Try: "a"}, func(ctx context.Context, m *nats.Msg) error {
				if tries++; tries <= len(c.answers) {
					return c.answers[tries-1]
				}
				return store(ctx, m)
			})
			if err != nil || mine != c.mine || tries != len(c.answers)+1 {
				w.t.Errorf("%s: mine %v after %d tries, %v", name, mine, tries, err)
			}
		})
	}
}
