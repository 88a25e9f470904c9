package scheduler_test

import (
	"testing"
	"testing/synctest"
	"time"
)

// before is a moment in which what is due at the next minute has been decided and
// staged, and nothing of it is stored.
const before = 5 * time.Millisecond

// toMinute sleeps until shortly before 00:01:00.
func toMinute() { time.Sleep(time.Until(start.Add(30*time.Second - before))) }

func TestABatchIsStagedBeforeItsInstantAndStoredAtIt(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("a")
		w.put("g/a", cron("* * * * *"))
		triggers := w.overhear("trig.>")
		toMinute()
		if n := triggers(); n != 1 {
			t.Errorf("before the instant the server was sent %d triggers, want 1", n)
		}
		w.wantDecided()
		time.Sleep(2 * before)
		if n := triggers(); n != 1 {
			t.Errorf("at the instant the server had been sent %d triggers, want still 1", n)
		}
		w.wantDecided("g/a 00:01:00 pending schedule")
		if late := longest(w.fires("g/a", time.Minute)); late != 0 {
			t.Errorf("decided as of %v after the instant", late)
		}
	})
}

func TestANodeThatDiesWithABatchStagedHasStoredNoneOfIt(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("a")
		w.put("g/a", cron("* * * * *"))
		w.put("g/b", cron("* * * * *"))
		toMinute()
		w.killNode("a")
		time.Sleep(time.Second)
		w.wantDecided()
		w.startNode("b")
		time.Sleep(20 * time.Second)
		w.wantDecided("g/a 00:01:00 pending schedule", "g/b 00:01:00 pending schedule")
	})
}

func TestWhatIsSavedWhileABatchIsStagedComesAfterIt(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("a")
		w.put("g/paused", cron("* * * * *"))
		w.put("g/edited", cron("* * * * *"))
		toMinute()
		w.put("g/new", cron("* * * * *"))
		w.put("g/paused", cron("* * * * *"), paused)
		w.put("g/edited", cron("*/30 * * * * ?"))
		time.Sleep(40 * time.Second)
		w.wantDecided(
			"g/new 00:01:00 pending schedule",
			"g/paused 00:01:00 pending schedule",
			"g/edited 00:01:00 pending schedule",
			"g/edited 00:01:30 pending schedule",
		)
	})
}

// overhear returns a count of the messages that are sent on a subject from now on.
func (w *world) overhear(subject string) func() int {
	w.t.Helper()
	sub, err := w.conn.NC.SubscribeSync(subject)
	if err != nil {
		w.t.Fatal(err)
	}
	return func() int {
		synctest.Wait()
		n, _, _ := sub.Pending()
		return n
	}
}
