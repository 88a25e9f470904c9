package cluster_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/job"
)

var noon = time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)

// nightly is the trigger of a run.
func nightly() *bus.Trigger {
	const name job.Name = "billing/nightly"
	return &bus.Trigger{
		RunID: job.FireRunID(name, noon.UnixMilli(), job.CauseSchedule), Job: name, Version: 3, Shard: name.Shard(shards), Attempt: 1,
		Cause: job.CauseSchedule, FireTime: noon, CommittedAt: noon.Add(7 * time.Millisecond),
	}
}

// nightlyEnd is its end, as its executor reports it.
func nightlyEnd() *bus.Event {
	e := bus.EventOf(nightly(), bus.EventFinished, noon.Add(2*time.Second))
	e.Instance, e.Delivery, e.Status = "worker-1", 1, job.StatusSucceeded
	e.DeliveredAt, e.StartedAt, e.FinishedAt = noon.Add(990*time.Millisecond), noon.Add(time.Second), e.At
	return e
}

func TestTheKeysOfTokensAreThoseOfTheCluster(t *testing.T) {
	inCluster(t, func(w *world) {
		other := w.connect("other")
		e := nightlyEnd()
		m, err := bustest.Event(w.conn.Tokens(), e)
		if err != nil {
			w.t.Fatal(err)
		}
		if _, err := other.Tokens().DecodeEvent(m.Subject, m.Header, m.Data, noon, shards); err != nil {
			w.t.Errorf("another server: %v", err)
		}
		if err := w.conn.Setup(w.t.Context(), cluster.Assets{Shards: shards}); err != nil { // as at the next start
			w.t.Fatal(err)
		}
		if _, err := w.conn.Tokens().DecodeEvent(m.Subject, m.Header, m.Data, noon, shards); err != nil {
			w.t.Errorf("the same server, started again: %v", err)
		}
	})
}

func TestAKeyThatIsAddedChecksAtOnceAndSignsOnceAllServersHaveIt(t *testing.T) {
	inCluster(t, func(w *world) {
		kv, err := w.conn.JS.KeyValue(w.t.Context(), bus.BucketCluster)
		if err != nil {
			w.t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(w.t.Context())
		ended := make(chan error, 1)
		go func() { ended <- w.conn.FollowTokens(ctx, slog.New(slog.DiscardHandler)) }()
		defer func() {
			cancel()
			if err := <-ended; err != nil {
				w.t.Error(err)
			}
		}()
		before := w.conn.Tokens().Trigger(nightly(), false, time.Now())
		first, err := kv.Get(w.t.Context(), "token-keys")
		if err != nil {
			w.t.Fatal(err)
		}
		time.Sleep(time.Hour)
		secret := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32)))
		second := fmt.Sprintf(`{"id":"0123abcd","created_at":%q,"secret":%q}`, time.Now().UTC().Format(time.RFC3339), secret)
		both := strings.Replace(string(first.Value()), `}]}`, `},`+second+`]}`, 1)
		if _, err := kv.Put(w.t.Context(), "token-keys", []byte(both)); err != nil {
			w.t.Fatal(err)
		}
		time.Sleep(time.Second)
		if got := w.conn.Tokens().Trigger(nightly(), false, time.Now()); got != before {
			w.t.Errorf("the new key signs at once: %s", got)
		}
		time.Sleep(time.Minute)
		after := w.conn.Tokens().Trigger(nightly(), false, time.Now())
		if !strings.HasPrefix(after, "0123abcd.") {
			w.t.Errorf("the new key does not sign: %s", after)
		}
		for _, token := range []string{before, after} {
			e := nightlyEnd()
			m, err := e.Msg(token)
			if err == nil {
				_, err = w.conn.Tokens().DecodeEvent(m.Subject, m.Header, m.Data, noon, shards)
			}
			if err != nil {
				w.t.Errorf("with %s: %v", token, err)
			}
		}
		// What cannot be read changes nothing.
		for _, damaged := range []string{"", "{}", `{"keys":[{"id":"x"}]}`} {
			if _, err := kv.Put(w.t.Context(), "token-keys", []byte(damaged)); err != nil {
				w.t.Fatal(err)
			}
			time.Sleep(time.Second)
			if got := w.conn.Tokens().Trigger(nightly(), false, time.Now()); got != after {
				w.t.Errorf("with %q the token is %s", damaged, got)
			}
		}
	})
}

func TestADeadLetterHasNoTokenAndIsReplayedAsTheWordOfAServer(t *testing.T) {
	inCluster(t, func(w *world) {
		e := nightlyEnd()
		m, err := bustest.Event(w.conn.Tokens(), e)
		if err != nil {
			w.t.Fatal(err)
		}
		token := m.Header.Get(bus.HeaderToken)
		if err := w.conn.DeadLetters().Bury(w.t.Context(), bus.StreamEvt, 1, 0, m, errors.New("for a test")); err != nil {
			w.t.Fatal(err)
		}
		letters := 0
		err = w.conn.Scan(w.t.Context(), bus.StreamDead, "dead.*", func(s *jet.Stored) bool {
			letters++
			if text := fmt.Sprint(s.Header) + string(s.Data); strings.Contains(text, token) {
				w.t.Errorf("the dead letter has the token: %s", text)
			}
			return true
		})
		if err != nil || letters != 1 {
			w.t.Fatalf("%d dead letters, %v", letters, err)
		}
		page, err := w.conn.DeadLetters().Page(w.t.Context(), 0, 1)
		if err != nil {
			w.t.Fatal(err)
		}
		if err := w.conn.DeadLetters().Replay(w.t.Context(), &page[0]); err != nil {
			w.t.Fatal(err)
		}
		again, err := w.conn.Last(w.t.Context(), bus.StreamEvt, m.Subject)
		if err != nil {
			w.t.Fatal(err)
		}
		if _, err := w.conn.Tokens().DecodeEvent(again.Subject, again.Header, again.Data, noon, shards); err != nil || again.Header.Get(bus.HeaderToken) == token {
			w.t.Errorf("replayed with headers %v: %v", again.Header, err)
		}
	})
}
