package scheduler_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// consumersMade returns how many consumers of a stream are asked for from now on.
func (w *world) consumersMade(stream string) func() int {
	w.t.Helper()
	sub, err := w.conn.NC.SubscribeSync("$JS.API.CONSUMER.CREATE." + stream + ".>")
	if err != nil {
		w.t.Fatal(err)
	}
	if err := sub.SetPendingLimits(-1, -1); err != nil {
		w.t.Fatal(err)
	}
	return func() int {
		w.t.Helper()
		if err := w.conn.NC.FlushTimeout(time.Second); err != nil {
			w.t.Fatal(err)
		}
		made, _, err := sub.Pending()
		if err != nil {
			w.t.Fatal(err)
		}
		for range made {
			if _, err := sub.NextMsg(time.Second); err != nil {
				w.t.Fatal(err)
			}
		}
		return made
	}
}

// Servers of a cluster agree on each consumer, so that a takeover must not need one a shard.
func TestAtLengthANodeHasOneConsumerOfJobsAndOneOfEventsWhateverTheNumberOfShards(t *testing.T) {
	const shards = 64
	const kvJobs = "KV_" + bus.BucketJobs
	runAt(t, start, shards, func(w *world) {
		for i := range 2 * shards { // watched jobs, so that each shard's owner reads events
			w.put(job.Name(fmt.Sprintf("g/job-%d", i)), job.Schedule{FixedRate: job.Duration(5 * time.Second)}, func(j *job.Job) { j.Overlap.Policy = job.OverlapSkip })
		}
		others := w.state(bus.StreamEvt).Consumers // of ingest
		jobs, events := w.consumersMade(kvJobs), w.consumersMade(bus.StreamEvt)
		want := func(what string, nodes int) {
			w.t.Helper()
			onJobs, onEvents := w.state(kvJobs).Consumers, w.state(bus.StreamEvt).Consumers-others
			madeJobs, madeEvents := jobs(), events()
			t.Logf("%s: JOBS has %d consumers, %d were made; EVT has %d, %d were made", what, onJobs, madeJobs, onEvents, madeEvents)
			if onJobs > nodes || onEvents > nodes {
				t.Errorf("%s: JOBS has %d consumers and EVT %d, with %d nodes", what, onJobs, onEvents, nodes)
			}
			if madeJobs > 1 || madeEvents > 4*nodes {
				t.Errorf("%s: %d consumers were made on JOBS and %d on EVT, with %d nodes", what, madeJobs, madeEvents, nodes)
			}
			sum := 0
			for _, n := range w.owned() {
				sum += n
			}
			if sum != shards {
				t.Errorf("%s: %d shards are owned: %v", what, sum, w.owned())
			}
		}
		for n := range 3 {
			w.startNode(string(rune('a' + n)))
			time.Sleep(10 * time.Second)
			want(fmt.Sprintf("10 s after %d of 3 nodes started", n+1), n+1)
		}
		w.killNode("c")
		time.Sleep(10 * time.Second)
		want("10 s after a node died", 3) // NATS keeps those of the dead for a minute
		time.Sleep(time.Minute)
		want("a minute later", 2)
		w.stopNode("b")
		time.Sleep(2 * time.Second)
		want("2 s after a node stopped", 1)
	})
}
