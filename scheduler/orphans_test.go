package scheduler_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// discard takes a trigger of group g off the bus as a faulty executor does: answered, and
// its end reported to nobody.
func (w *world) discard(answer func(jetstream.Msg) error) *bus.Trigger {
	w.t.Helper()
	if err := w.conn.Groups().Setup(w.t.Context(), cluster.Group{Group: "g", HasRouted: true}); err != nil {
		w.t.Fatal(err)
	}
	c, err := w.conn.JS.Consumer(w.t.Context(), bus.StreamTrig, bus.ConsumerAny("g"))
	if err != nil {
		w.t.Fatal(err)
	}
	m, err := c.Next(jetstream.FetchMaxWait(time.Minute))
	if err != nil {
		w.t.Fatal(err)
	}
	tr, err := bus.DecodeTrigger(m.Headers(), m.Data())
	if err != nil {
		w.t.Fatal(err)
	}
	if err := answer(m); err != nil {
		w.t.Fatal(err)
	}
	return tr
}

// skipping is a job that fires every minute and has one run at a time.
func (w *world) skipping(change ...func(*job.Job)) {
	w.t.Helper()
	w.put("g/a", cron("* * * * *"), append([]func(*job.Job){func(j *job.Job) {
		j.Overlap = job.Overlap{Policy: job.OverlapSkip}
	}}, change...)...)
}

// wantLost checks that the run was ended as lost within a minute of an instant, once.
func (w *world) wantLost(id job.RunID, since time.Time) {
	w.t.Helper()
	var ends []*bus.Event
	for _, e := range w.events() {
		if e.RunID == id && e.Kind == bus.EventFinished {
			ends = append(ends, e)
		}
	}
	if len(ends) != 1 || ends[0].Status != job.StatusLost || !strings.Contains(ends[0].Message, "no end of it was reported") {
		w.t.Fatalf("run %s: ends %+v, want one that says lost", id, ends)
	}
	if took := ends[0].At.Sub(since); took > time.Minute {
		w.t.Errorf("run %s was ended %v after its trigger had gone", id, took)
	}
}

func TestARunWhoseTriggerIsGoneWithoutAnEndIsLostWithinAMinute(t *testing.T) {
	for name, answer := range map[string]func(jetstream.Msg) error{
		"acknowledged": jetstream.Msg.Ack,
		"terminated":   jetstream.Msg.Term,
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(w *world) {
				w.startNode("a")
				w.skipping()
				lost, gone := w.discard(answer), time.Now()
				w.execute(time.Second)
				time.Sleep(200 * time.Second)
				w.wantLost(lost.RunID, gone)
				if got, want := w.ends(), []string{"1 lost", "1 succeeded", "1 succeeded"}; !slices.Equal(got[:min(len(got), 3)], want) {
					t.Errorf("ends %q, want %q", got, want)
				}
			})
		})
	}
}

func TestARunWhoseTriggerMayBeOfALaterVersionIsNotLost(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("a")
		w.skipping()
		tr := w.discard(func(m jetstream.Msg) error {
			_, err := w.conn.JS.PublishMsg(w.t.Context(), bus.NewMessage(m.Subject(), "trigger.v2", []byte(`{"v2":true}`)))
			return errors.Join(err, m.Ack())
		})
		time.Sleep(3 * time.Minute)
		for _, e := range w.events() {
			if e.RunID == tr.RunID && e.Kind == bus.EventFinished {
				t.Errorf("it ended: %+v", e)
			}
		}
	})
}

// TestAWaitingRunIsNotLostThoughAllReadsFindNothingForAMoment reads, at one look for orphans, what a NATS
// server has that was cut off: neither the trigger nor an instance that could have it.
func TestAWaitingRunIsNotLostThoughAllReadsFindNothingForAMoment(t *testing.T) {
	for _, after := range []time.Duration{15, 20, 25, 30, 35} {
		run(t, func(w *world) {
			if err := w.conn.Groups().Setup(w.t.Context(), cluster.Group{Group: "g", HasRouted: true}); err != nil {
				t.Fatal(err)
			}
			w.startNode("a")
			w.skipping()
			for len(w.triggers()) == 0 {
				time.Sleep(time.Second)
			}
			time.Sleep(after * time.Second)
			w.broker.Outdate("a")
			time.Sleep(8 * time.Second)
			w.broker.Heal("a")
			time.Sleep(time.Minute)
			w.execute(time.Second)
			time.Sleep(10 * time.Second)
			if got := w.ends(); len(got) == 0 || slices.Contains(got, "1 lost") {
				t.Errorf("%d s after its trigger was stored: ends %q, want it to succeed", after, got)
			}
		})
	}
}

func TestALostRunIsTriedAgainWhenItsJobSaysSo(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("a")
		w.put("g/a", cron("* * * * *"), func(j *job.Job) {
			j.Retry = job.Retry{Limit: 1, Backoff: job.BackoffConstant, Delay: job.Duration(time.Second)}
		})
		lost := w.discard(jetstream.Msg.Term)
		w.execute(time.Second)
		time.Sleep(90 * time.Second)
		var last *bus.Event
		for _, e := range w.events() {
			if e.RunID == lost.RunID && e.Kind == bus.EventFinished {
				last = e
			}
		}
		if last == nil || last.Attempt != 2 || last.Status != job.StatusSucceeded {
			t.Errorf("last end of the run is %+v, want attempt 2 to have succeeded", last)
		}
	})
}

func TestAFixedDelayGoesOnAfterARunWhoseTriggerIsGone(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("a")
		w.put("g/a", job.Schedule{FixedDelay: job.Duration(10 * time.Second)})
		lost, gone := w.discard(jetstream.Msg.Term), time.Now()
		w.execute(time.Second)
		time.Sleep(2 * time.Minute)
		w.wantLost(lost.RunID, gone)
		if n := len(w.ends()); n < 5 {
			t.Errorf("%d runs have ended, want the job to have gone on", n)
		}
	})
}

func TestAtLengthARunThatItsExecutorStillHasIsNotTakenForLost(t *testing.T) {
	keepsRuns(t, "*/4 * * * *", 3*time.Minute, 12*time.Minute)
}

func TestNightlyARunThatItsExecutorHasForAnHourIsNotTakenForLost(t *testing.T) {
	keepsRuns(t, "0 * * * *", 50*time.Minute, 3*time.Hour)
}

// keepsRuns checks that runs succeed which are much longer than what it takes to be lost.
func keepsRuns(t *testing.T, cron string, each, all time.Duration) {
	t.Helper()
	run(t, func(w *world) {
		w.startNode("a")
		w.skipping(func(j *job.Job) { j.Schedule.Cron = cron })
		w.execute(each) // it says that it lives by no sign of life; JetStream delivers to nobody else
		time.Sleep(all)
		if got := w.ends(); len(got) < 2 || slices.Contains(got, "1 lost") {
			t.Errorf("ends %q", got)
		}
	})
}

func TestWatchedJobsGoOnAfterTheEventStreamWasMadeAnew(t *testing.T) {
	run(t, func(w *world) {
		w.execute(time.Second)
		w.startNode("a")
		w.put("g/a", job.Schedule{Cron: "* * * * * ?"}, func(j *job.Job) { j.Overlap = job.Overlap{Policy: job.OverlapSkip} })
		time.Sleep(time.Minute)
		if err := w.conn.JS.DeleteStream(w.t.Context(), bus.StreamEvt); err != nil {
			t.Fatal(err)
		}
		w.setup()
		time.Sleep(2 * time.Minute)
		before := len(w.ends())
		time.Sleep(time.Minute)
		if runs := len(w.ends()) - before; runs < 20 {
			t.Errorf("%d runs in a minute, long after the stream was made anew", runs)
		}
		w.stopNode("a")
		w.startNode("b")
		before = len(w.ends())
		time.Sleep(time.Minute)
		if runs := len(w.ends()) - before; runs < 20 {
			t.Errorf("%d runs in a minute under a new owner", runs)
		}
	})
}

func TestAtLengthARunWhoseEndHasAgedOutOfTheEventStreamIsLost(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("a")
		w.skipping()
		time.Sleep(90 * time.Second)
		w.killNode("a")
		lost := w.discard(jetstream.Msg.Ack) // its end was stored, and aged out while nobody owned the shard
		w.startNode("b")
		w.execute(time.Second)
		time.Sleep(5 * time.Minute)
		w.wantLost(lost.RunID, time.Now())
		if got := w.ends(); len(got) < 3 {
			t.Errorf("ends %q, want the job to go on", got)
		}
	})
}

func TestARunIsCancelledWhereverItsTriggerHasGone(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("a")
		w.skipping()
		gone := w.discard(jetstream.Msg.Term)
		time.Sleep(time.Second)
		if _, err := w.cancel(gone.RunID); err != nil {
			t.Fatal(err)
		}
		w.execute(time.Second)
		time.Sleep(100 * time.Second)
		if got := w.ends(); len(got) < 2 || got[0] != "1 cancelled" || got[1] != "1 succeeded" {
			t.Errorf("ends %q, want one cancelled and then others", got)
		}
	})
}

func TestAtLengthARunThatAnInstanceHoldsIsItsOwnThoughTheTriggerIsGone(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("a")
		w.skipping()
		has := w.discard(jetstream.Msg.Ack)
		stop := w.holds(has)
		time.Sleep(5 * time.Minute)
		if got := w.ends(); len(got) != 0 {
			t.Errorf("ends %q, and an instance has the run", got)
		}
		stop()
		gone := time.Now()
		time.Sleep(2 * time.Minute)
		w.wantLost(has.RunID, gone)
	})
}

// holds answers for an instance that has an attempt, until stop is called.
func (w *world) holds(tr *bus.Trigger) (stop func()) {
	w.t.Helper()
	conn := w.connect("holder")
	address := w.known(conn, "g", "holder")
	_, err := conn.NC.Subscribe(address.Subject(bus.VerbAttempts), func(m *nats.Msg) {
		var asked bus.AttemptsRequest
		if err := json.Unmarshal(m.Data, &asked); err != nil {
			w.t.Error(err)
		}
		reply := fleet.InstanceReply{Instance: "holder", Answer: fleet.AnswerAccepted}
		for _, r := range asked.Attempts {
			custody := fleet.CustodyNone
			if r == tr.Ref() {
				custody = fleet.CustodyHeld
			}
			reply.Attempts = append(reply.Attempts, custody)
		}
		if err := bus.RespondInstance(m, &reply); err != nil {
			w.t.Error(err)
		}
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return conn.NC.Close
}
