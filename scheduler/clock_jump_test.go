package scheduler

import (
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/scheduler/shard"
)

// To a program, a machine that comes back from a suspend looks as if its clock had jumped; and so
// does one whose clock is put right together with that of NATS. Either way the clock is in line.
func TestAClockThatJumpsAndIsInLineExplainsWhatIsLate(t *testing.T) {
	at := time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)
	for said, jump := range map[string]time.Duration{"ahead by 1h": time.Hour, "back by 1m30s": -90 * time.Second} {
		var skew time.Duration
		c := &clock{node: "a", skew: func() time.Duration { return skew }}
		c.apply(at, 0, nil)
		if got := c.standstills(); got != nil {
			t.Fatalf("%v", got)
		}
		skew = jump
		c.apply(at.Add(time.Second), 0, nil)
		want := shard.Standstill{From: at.UnixMilli(), To: at.Add(time.Second + jump + 3*time.Second).UnixMilli(), Reason: "the clock of node a jumped " + said}
		if got := c.standstills(); len(got) != 1 || got[0] != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

func TestANodeThatStartsWithAWrongClockExplainsWhatIsLateSinceItsStart(t *testing.T) {
	at := time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)
	c := &clock{node: "a"}
	for s := range 10 {
		c.apply(at.Add(time.Duration(s)*time.Minute), -time.Hour, nil)
	}
	c.apply(at.Add(10*time.Minute), 0, nil)
	want := shard.Standstill{From: at.UnixMilli(), To: at.Add(10*time.Minute + 3*time.Second).UnixMilli(), Reason: "the clock of node a was 1h behind NATS' clock"}
	if got := c.standstills(); len(got) != 1 || got[0] != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	for n := range 2 * maxStood {
		c.skew = func() time.Duration { return time.Duration(n) * time.Hour } // it jumps each time
		c.apply(at.Add(time.Duration(n)*time.Hour), 0, nil)
	}
	if n := len(c.standstills()); n != maxStood {
		t.Errorf("%d are remembered", n)
	}
}
