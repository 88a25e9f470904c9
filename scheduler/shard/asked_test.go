package shard

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

func TestASuccessorKnowsWhichRunsWereMadeOnCommand(t *testing.T) {
	b := newBench(t)
	v := b.put(0, 3, func(*job.Version) {})
	r := bus.TriggerRequest{RunID: job.NewRunID(noon), Job: "g/a", Cause: job.CauseManual}
	if _, err := b.m.Requests.Submit(r); err != nil {
		t.Fatal(err)
	}
	b.publish(time.Second)

	next := func() *Machine {
		m := New(Config{Tokens: tokens, Shard: simShard, Shards: simShards, Epoch: 9, Planner: &job.Planner{}}, b.trig.cursor, b.trig.cursorSeq)
		if err := m.PutVersion(v, 1); err != nil {
			t.Fatal(err)
		}
		for seq, d := range b.trig.deferred {
			if err := m.PutDeferred(d, seq); err != nil {
				t.Fatal(err)
			}
		}
		return m
	}
	want := Asked{RunID: r.RunID, Version: 3, Status: job.StatusPending}
	if done, err := next().Requests.Submit(r); err != nil || done == nil || *done != want {
		t.Errorf("the successor answers %+v, %v; want %+v", done, err, want)
	}
	b.m = next()
	b.publish(2 * time.Second)
	b.publish(time.Hour) // a clock that was set makes nothing old
	if done, err := b.m.Requests.Submit(r); err != nil || done == nil || *done != want {
		t.Errorf("after a clock was set the successor answers %+v, %v; want %+v", done, err, want)
	}
	for passed := time.Duration(0); passed <= AskedFor; passed += IdleAfter * time.Millisecond {
		b.publish(time.Hour + passed)
	}
	if released := b.trig.cursor.Released; len(released) != 1 {
		t.Errorf("after %s the cursor releases %v", AskedFor, released)
	}
	if done, err := b.m.Requests.Submit(r); err != nil || done != nil {
		t.Errorf("after %s it is still known: %+v, %v", AskedFor, done, err)
	}
}

func TestARetryIsDoneByTheVersionThatItAsksFor(t *testing.T) {
	b := newBench(t)
	old := b.put(0, 1, func(v *job.Version) { v.Task.Handler = "old" })
	b.put(time.Second, 2, func(v *job.Version) { v.Task.Handler = "new" })
	of := job.FireRunID("g/a", noon.Add(-time.Hour).UnixMilli(), job.CauseSchedule)
	again := func(key string, change func(*bus.TriggerRequest)) *bus.Trigger {
		t.Helper()
		r := bus.TriggerRequest{RunID: job.RetryRunID(of, key), Job: "g/a", Cause: job.CauseRerun, RetryOf: of, By: "ada"}
		change(&r)
		if _, err := b.m.Requests.Submit(r); err != nil {
			t.Fatal(err)
		}
		s := b.publish(2 * time.Second)
		if len(s.triggers) != 1 || s.record == nil || s.record.Outcomes[0].ParentRun != of || s.record.Outcomes[0].By != "ada" {
			t.Fatalf("%s: stored %+v", key, s)
		}
		return s.triggers[0]
	}
	newest := again("newest", func(*bus.TriggerRequest) {})
	if newest.Version != 2 || newest.Task.Handler != "new" || newest.ParentRun != of || !newest.FireTime.Equal(noon.Add(-time.Hour)) {
		t.Errorf("the newest version is retried as %+v", newest)
	}
	same := again("same", func(r *bus.TriggerRequest) {
		r.Version, r.Body, r.Params = 1, bodyText(old), []byte(`{"n":2}`)
	})
	if same.Version != 1 || same.Task.Handler != "old" || string(same.Params) != `{"n":2}` {
		t.Errorf("the version of the run is retried as %+v", same)
	}
}

// bodyText returns what a request for a run of that version has as its body.
func bodyText(v *job.Version) json.RawMessage {
	of := journal.BodyOf(v)
	text, err := of.Encode()
	if err != nil {
		panic(err)
	}
	return json.RawMessage(text)
}

func TestARetryOfFailedPiecesCountsTheOthersAsDone(t *testing.T) {
	b := newBench(t)
	b.put(0, 1, func(v *job.Version) {
		v.Map = &job.Map{Split: true}
		v.Overlap = job.Overlap{Policy: job.OverlapQueue, Limit: 1, Queue: 5}
	})
	of := job.FireRunID("g/a", noon.Add(-time.Hour).UnixMilli(), job.CauseSchedule)
	r := bus.TriggerRequest{
		RunID: job.RetryRunID(of, "1"), Job: "g/a", Cause: job.CauseRerun, RetryOf: of,
		Pieces: &bus.Pieces{States: "swsw", Items: []json.RawMessage{[]byte(`10`), []byte(`11`), []byte(`12`), []byte(`13`)}},
	}
	blocker := r
	blocker.RunID, blocker.Pieces = job.RetryRunID(of, "0"), &bus.Pieces{States: "w"}
	for _, r := range []bus.TriggerRequest{blocker, r} { // the second waits in the queue
		if _, err := b.m.Requests.Submit(r); err != nil {
			t.Fatal(err)
		}
	}
	seq := uint64(0)
	first := b.publish(time.Second)
	b.ends(&seq, 2*time.Second, job.StatusSucceeded, first.pieces...)
	var told []string
	for _, p := range b.publish(3 * time.Second).pieces {
		told = append(told, string(p.Item))
		if p.RunID != r.RunID || p.Total != 4 {
			t.Errorf("piece %+v", p)
		}
		b.ends(&seq, 4*time.Second, job.StatusSucceeded, p)
	}
	if got := strings.Join(told, " "); got != "11 13" {
		t.Errorf("the pieces are about %q", got)
	}
	end := b.publish(5 * time.Second).record.Outcomes[0]
	if end.Status != job.StatusSucceeded || end.RunIDs[0] != r.RunID || end.Total != 4 {
		t.Errorf("the run ends as %+v", end)
	}
}
