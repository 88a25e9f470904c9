package bustest_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/cluster/bustest"
)

var began = time.Date(2026, time.March, 28, 12, 0, 0, 0, time.UTC)

func jetStream(t *testing.T, nc *nats.Conn) jetstream.JetStream {
	t.Helper()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

func createStream(t *testing.T, js jetstream.JetStream) jetstream.Stream {
	t.Helper()
	s, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "RUNS", Subjects: []string{"run.>"}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// publish publishes one message and waits for its acknowledgement for a second.
func publish(t *testing.T, js jetstream.JetStream) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := js.Publish(ctx, "run.a", nil)
	return err
}

func messages(t *testing.T, s jetstream.Stream) uint64 {
	t.Helper()
	info, err := s.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return info.State.Msgs
}

func TestABubbleBeginsAtItsStartAndWaitsExactly(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		b := bustest.NewBroker(t)
		js := jetStream(t, b.Connect("client"))
		s := createStream(t, js)
		if now := time.Now(); !now.Equal(began) {
			t.Errorf("the bubble's clock reads %v, want %v", now, began)
		}
		c, err := s.CreateConsumer(t.Context(), jetstream.ConsumerConfig{Durable: "c", AckWait: 15 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if err := publish(t, js); err != nil {
			t.Fatal(err)
		}
		next := func() time.Time {
			t.Helper()
			if _, err := c.Next(jetstream.FetchMaxWait(time.Minute)); err != nil {
				t.Fatal(err)
			}
			return time.Now()
		}
		first := next()
		// The server sets its timer a millisecond late, to be on the safe side.
		if again := next().Sub(first); again != 15*time.Second+time.Millisecond {
			t.Errorf("redelivered after %v, want the AckWait of 15s and 1ms", again)
		}
	})
}

func TestABrokerWorksOutsideOfABubble(t *testing.T) {
	b := bustest.NewBroker(t)
	js := jetStream(t, b.Connect("client"))
	s := createStream(t, js)
	if err := publish(t, js); err != nil {
		t.Fatal(err)
	}
	if n := messages(t, s); n != 1 {
		t.Errorf("messages: %d, want 1", n)
	}
}

func TestAStreamSurvivesARestartOfTheBroker(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		b := bustest.NewBroker(t)
		js := jetStream(t, b.Connect("client"))
		createStream(t, js)
		if err := publish(t, js); err != nil {
			t.Fatal(err)
		}
		b.Stop()
		synctest.Wait() // until the client has noticed
		if err := publish(t, js); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("publish to a stopped broker: %v, want a deadline error", err)
		}
		b.Start()
		time.Sleep(5 * time.Second) // the client reconnects, and sends what it held back
		s, err := js.Stream(t.Context(), "RUNS")
		if err != nil {
			t.Fatal(err)
		}
		if n := messages(t, s); n != 2 {
			t.Errorf("messages after the restart: %d, want the one before and the one held back", n)
		}
	})
}

// The server looks how old messages are when a stream is updated, too.
func TestMessagesAreRemovedWhenTheyAreTooOldByTheBubblesClock(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		js := jetStream(t, bustest.NewBroker(t).Connect("client"))
		s := createStream(t, js)
		cfg := s.CachedInfo().Config
		for range 3 {
			cfg.MaxAge += time.Hour
			if _, err := js.UpdateStream(t.Context(), cfg); err != nil {
				t.Fatal(err)
			}
			if err := publish(t, js); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
		}
		if n := messages(t, s); n != 3 {
			t.Errorf("%d messages after 3 minutes, want 3", n)
		}
		time.Sleep(3*time.Hour - 150*time.Second)
		if n := messages(t, s); n != 2 {
			t.Errorf("%d messages when only the first is older than 3 hours, want 2", n)
		}
		time.Sleep(2 * time.Minute)
		if n := messages(t, s); n != 0 {
			t.Errorf("%d messages when all are older than 3 hours, want none", n)
		}
	})
}

func TestAPartitionLosesWhatIsSentAndHealingReconnects(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		b := bustest.NewBroker(t)
		js, witness := jetStream(t, b.Connect("a")), jetStream(t, b.Connect("b"))
		createStream(t, js)
		s, err := witness.Stream(t.Context(), "RUNS")
		if err != nil {
			t.Fatal(err)
		}
		b.Partition("a")
		if err := publish(t, js); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("publish from a partitioned client: %v, want a deadline error", err)
		}
		if err := publish(t, witness); err != nil {
			t.Errorf("publish from another client: %v", err)
		}
		b.Heal("a")
		time.Sleep(5 * time.Second)
		if n := js.Conn().Stats().Reconnects; n != 1 {
			t.Errorf("reconnects after healing: %d, want 1, as bytes are missing", n)
		}
		if err := publish(t, js); err != nil {
			t.Errorf("publish after healing: %v", err)
		}
		if n := messages(t, s); n != 2 {
			t.Errorf("messages: %d, want the witness's and the one after healing", n)
		}
	})
}

func TestADeafClientsRequestsHaveTheirEffect(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		b := bustest.NewBroker(t)
		js, witness := jetStream(t, b.Connect("a")), jetStream(t, b.Connect("b"))
		createStream(t, js)
		s, err := witness.Stream(t.Context(), "RUNS")
		if err != nil {
			t.Fatal(err)
		}
		b.Deafen("a")
		if err := publish(t, js); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("publish from a deaf client: %v, want a deadline error", err)
		}
		if n := messages(t, s); n != 1 {
			t.Errorf("messages: %d, want the one whose acknowledgement was lost", n)
		}
		b.Heal("a")
		time.Sleep(5 * time.Second)
		if err := publish(t, js); err != nil {
			t.Errorf("publish after healing: %v", err)
		}
	})
}

func TestTheBrokerNoticesASilentClientWithinTwentySeconds(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		b := bustest.NewBroker(t)
		executor, caller := b.Connect("executor"), b.Connect("caller")
		if _, err := executor.Subscribe("exec", func(m *nats.Msg) { _ = m.Respond(nil) }); err != nil {
			t.Fatal(err)
		}
		if err := executor.Flush(); err != nil {
			t.Fatal(err)
		}
		b.Partition("executor")
		time.Sleep(20 * time.Second)
		if _, err := caller.Request("exec", nil, time.Second); !errors.Is(err, nats.ErrNoResponders) {
			t.Errorf("request to a client that is cut off: %v, want %v", err, nats.ErrNoResponders)
		}
	})
}

// A server's tickers keep a bubble's clock going, so a test that waits in vain would take all memory.
func TestABubbleWhoseTestWaitsInVainEndsWithAllStacks(t *testing.T) {
	if os.Getenv("WAIT_IN_VAIN") != "" {
		bustest.SetLongest(time.Hour)
		bustest.Run(t, began, func(t *testing.T) {
			bustest.NewBroker(t).Connect("client")
			waitInVain(t.Context())
		})
	}
	self := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^"+t.Name()+"$")
	self.Env = append(os.Environ(), "WAIT_IN_VAIN=1", "TMPDIR="+t.TempDir()) // it leaves its files behind
	out, err := self.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "waits in vain") || !strings.Contains(string(out), "bustest_test.waitInVain(") {
		t.Errorf("%v\n%s", err, out)
	}
}

func waitInVain(ctx context.Context) { <-ctx.Done() }

func TestParallelBubblesTakeTurns(t *testing.T) {
	var inside atomic.Int32
	for _, name := range []string{"a", "b"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bustest.Run(t, began, func(t *testing.T) {
				if inside.Add(1) > 1 {
					t.Error("two bubbles at once")
				}
				defer inside.Add(-1)
				js := jetStream(t, bustest.NewBroker(t).Connect(name))
				createStream(t, js)
				time.Sleep(time.Hour)
				synctest.Wait()
				if err := publish(t, js); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestASilentStreamAnswersNobody(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		b := bustest.NewBroker(t)
		js := jetStream(t, b.Connect("client"))
		createStream(t, js)
		if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "RUNS1"}); err != nil {
			t.Fatal(err)
		}
		// ask returns how long the streams take to answer, in seconds.
		ask := func(nc *nats.Conn) (took [2]int) {
			for i, name := range []string{"RUNS", "RUNS1"} {
				ctx, cancel := context.WithTimeout(t.Context(), 9*time.Second)
				asked := time.Now()
				if _, err := jetStream(t, nc).Stream(ctx, name); (err != nil) != (ctx.Err() != nil) {
					t.Errorf("%s: %v", name, err)
				}
				took[i] = int(time.Since(asked).Seconds())
				cancel()
			}
			return took
		}
		old := b.Connect("old")
		b.Silence("RUNS1")
		if got, late := ask(old), ask(b.Connect("late")); got != [2]int{0, 9} || late != got {
			t.Errorf("%v and %v", got, late)
		}
		b.Silence("RUNS")
		if got := ask(old); got != [2]int{9, 0} {
			t.Errorf("%v", got)
		}
		b.Silence("")
		if got := ask(old); got != [2]int{0, 0} {
			t.Errorf("%v", got)
		}
	})
}
