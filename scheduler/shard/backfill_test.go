package shard

import (
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

func TestABackfillYieldsToWhatIsDueInItsGroup(t *testing.T) {
	b := newBench(t)
	b.put(0, 1, func(v *job.Version) {
		every(time.Minute, job.FireAll)(v)
		v.Priority, v.Retry = job.PriorityHigh, job.Retry{Limit: 1, Backoff: job.BackoffConstant, Delay: job.Duration(time.Second)}
	})
	b.m.Cluster.PutGroup("g", true)
	r := journal.BackfillRequest{ID: "again", Job: "g/a", Fires: []int64{noon.Add(-time.Hour).UnixMilli()}, AtOnce: 1}
	if _, err := b.m.Backfills.Ask(r); err != nil {
		t.Fatal(err)
	}
	var seq uint64
	// sent returns the triggers of a step, each by its cause, with its place in the group.
	sent := func(after time.Duration) (lines []string, last *bus.Trigger) {
		t.Helper()
		batch := b.m.Step(noon.Add(after).UnixMilli(), bus.MaxBatch)
		if batch == nil {
			t.Fatalf("nothing is decided after %s", after)
		}
		for _, m := range batch.Messages {
			if !strings.HasPrefix(m.Subject, "trig.") {
				continue
			}
			var err error
			if last, err = bus.DecodeTrigger(m.Header, m.Data); err != nil {
				t.Fatal(err)
			}
			if want := bus.SubjectPriority(simShard, last.Priority, "g"); m.Subject != want {
				t.Errorf("a trigger of priority %s goes to %s, not %s", last.Priority, m.Subject, want)
			}
			lines = append(lines, string(last.Cause)+" "+last.Priority.String())
		}
		s := b.trig.publish(batch.Messages)
		if s == nil {
			t.Fatal("refused")
		}
		b.m.Committed(s.first)
		return lines, last
	}
	want := func(got []string, expected ...string) {
		t.Helper()
		if strings.Join(got, ", ") != strings.Join(expected, ", ") {
			t.Errorf("triggered: %v; want %v", got, expected)
		}
	}
	got, fill := sent(time.Second)
	want(got, "backfill low")
	b.ends(&seq, 2*time.Second, job.StatusFailed, fill)
	got, _ = sent(2 * time.Second)
	want(got)
	got, _ = sent(4 * time.Second)
	want(got, "backfill low")
	got, _ = sent(time.Minute)
	want(got, "schedule high")
}
